"""The typed Python API: what every command does, as functions.

    from analyzer.api import Case, Options, evaluate

    report = evaluate("v0.5.9", [Case({"num_layers": 61})], options=Options(repo=Path("sglang")))

Every failure that a caller can cause is an `AnalyzerError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.api.workspace import Options, Workspace
from analyzer.application.scope import Scope
from analyzer.application.selection import check_scope, select_quantities, select_roots, select_scenarios
from analyzer.application.snapshot import WrittenSnapshot
from analyzer.domain.coverage import CoverageReport
from analyzer.domain.effect import Effect, Limit, Server, ServerEffect, parse_limit
from analyzer.domain.errors import AnalyzerError, ExtractionError, SnapshotError, UsageError
from analyzer.domain.evaluation import DEFAULT_SCENARIO, Case, CaseResult, EvaluationReport, Inputs, Value
from analyzer.domain.explanation import ExplainReport
from analyzer.domain.impact import ImpactReport
from analyzer.domain.judgement import CheckReport
from analyzer.domain.pin import Pin
from analyzer.domain.report import DiffReport, Kind, LogEntry, LogReport
from analyzer.domain.rules import QUANTITY_ROOTS, ROOTS, RUNNER, RuleSet
from analyzer.domain.settings import Settings
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.solution import SolveReport
from analyzer.domain.terms import Scalar
from analyzer.domain.timeline import TimelineReport
from analyzer.domain.views import CacheReport, DocsReport, GraphReport, RulesReport, ShowReport, TraceReport

if TYPE_CHECKING:
    from analyzer.application.model import Model

# Use cases are imported when they run, so that `import analyzer.api` stays cheap.
# ruff: noqa: PLC0415

__all__ = [
    "AnalyzerError",
    "CacheReport",
    "Case",
    "CaseResult",
    "CheckReport",
    "CoverageReport",
    "DiffReport",
    "DocsReport",
    "Effect",
    "EvaluationReport",
    "ExplainReport",
    "GraphReport",
    "ImpactReport",
    "Kind",
    "Limit",
    "LogEntry",
    "LogReport",
    "Options",
    "Pin",
    "RulesReport",
    "Server",
    "ServerEffect",
    "Settings",
    "ShowReport",
    "Snapshot",
    "SolveReport",
    "TimelineReport",
    "TraceReport",
    "Workspace",
    "WrittenSnapshot",
    "accept",
    "add_effects",
    "analyse",
    "blame",
    "cache",
    "check",
    "clear_cache",
    "coverage",
    "diff",
    "docs",
    "evaluate",
    "explain",
    "graph",
    "impact",
    "log",
    "parse_limit",
    "read_model",
    "read_pin",
    "rules",
    "show",
    "snapshot",
    "solve",
    "timeline",
    "trace",
]

_DEFAULTS = Options()


def _workspace(options: Options | Workspace) -> AbstractContextManager[Workspace]:
    """A workspace that is given stays open for its owner."""
    return nullcontext(options) if isinstance(options, Workspace) else Workspace(options)


def analyse(ref: str, *, options: Options | Workspace = _DEFAULTS) -> Snapshot:
    """The formulas of one ref as terms, with the value path, the inputs and the gaps."""
    with _workspace(options) as workspace:
        return workspace.snapshot(ref)


def diff(
    base: str,
    head: str,
    *,
    scenarios: Sequence[str] = (),
    quantities: Sequence[str] = (),
    options: Options | Workspace = _DEFAULTS,
) -> DiffReport:
    """Compare the formulas of two refs by meaning.

    `scenarios` (such as ``mla`` or ``mla+eagle``) and `quantities` restrict the comparison; empty means all.
    """
    scope = Scope.of(scenarios, quantities)
    with _workspace(options) as workspace:
        check_scope(scope, workspace.rules)
        before, after = workspace.sides(base, head)
        return workspace.comparisons.report(before, after, scope)


def read_pin(spec: str) -> Pin:
    """The version of SGLang that a file pins; `spec` is its path, or ``REVISION:PATH`` of the repository around."""
    from analyzer.adapters import pins

    return pins.read_pin(spec)


def accept(report: DiffReport, settings: Settings, baseline: Path | None = None) -> DiffReport:
    """`report` without what `settings` or the earlier report in `baseline` accept; its verdict is that of the rest."""
    from analyzer.adapters.baseline import read_baseline
    from analyzer.adapters.versions import is_below
    from analyzer.application import acceptance

    known = read_baseline(baseline) if baseline is not None else frozenset[str]()
    return acceptance.accept(report, settings, known, is_below)


def add_effects(
    report: DiffReport,
    servers: Sequence[Server],
    limits: Sequence[Limit] = (),
    *,
    options: Options | Workspace = _DEFAULTS,
) -> DiffReport:
    """`report` with the effect of the change on each of `servers`, and the `limits` that it breaks.

    A newer side whose formula is lost has no effect that could be computed.
    """
    from analyzer.application import effects

    with _workspace(options) as workspace:
        effects.check_limits(limits, servers, workspace.rules)
        if report.verdict is Kind.LOST or not servers:
            return report
        sides = workspace.snapshot(report.base.spec), workspace.snapshot(report.head.spec)
        return effects.add_effects(report, sides, workspace.rules, servers, limits)


def check(  # noqa: PLR0913 - each is an option of the command
    ref: str,
    *,
    scenarios: Sequence[str] = (),
    quantities: Sequence[str] = (),
    against: Path | None = None,
    update: bool = False,
    servers: Sequence[Server] = (),
    limits: Sequence[Limit] = (),
    options: Options | Workspace = _DEFAULTS,
) -> CheckReport:
    """Judge one ref by the invariant rules, and compare it with what was accepted in the folder `against`.

    Findings and changes that the settings of the project accept are marked as such. With `update` the formulas of
    the ref are accepted: its snapshot is written into the folder. The comparison has the effect on each of
    `servers`, and the `limits` that it breaks.
    """
    from analyzer.adapters.snapshot_source import write_snapshot
    from analyzer.adapters.versions import is_below
    from analyzer.application import acceptance, effects
    from analyzer.application import check as use_case

    scope = Scope.of(scenarios, quantities)
    with _workspace(options) as workspace:
        check_scope(scope, workspace.rules)
        effects.check_limits(limits, servers, workspace.rules)
        found = workspace.snapshot(ref, ROOTS if against else QUANTITY_ROOTS)
        accepted = _accepted(found, against, workspace.rules, update=update) if against else None
        compared = None
        if accepted is not None:
            compared = _compare_with_accepted(accepted, found, workspace.rules, scope)
            if compared.verdict is not Kind.LOST:
                compared = effects.add_effects(compared, (accepted, found), workspace.rules, servers, limits)
        report = use_case.check(found, workspace.rules, select_scenarios(scenarios, workspace.rules), compared)
        report = acceptance.accept_findings(report, workspace.settings, is_below)
        if update and against:
            report = replace(report, notes=(*report.notes, f"accepted in {write_snapshot(found, against)}"))
        return report


def _accepted(found: Snapshot, folder: Path, rules: RuleSet, *, update: bool) -> Snapshot | None:
    """The snapshot that was accepted; None where `update` accepts what has nothing to be compared with."""
    from analyzer.adapters.snapshot_source import accepted_snapshot

    try:
        accepted = accepted_snapshot(folder, found.revision)
        if accepted is not None:
            _refuse_unknown_quantities(accepted, rules, folder)
    except SnapshotError:
        if update:
            return None
        raise
    if accepted is None and not update:
        hint = f"accept it with: analyzer check {found.revision.spec} --against {folder} --update"
        raise UsageError("nothing has been accepted yet", where=str(folder), hint=hint)
    return accepted


def _refuse_unknown_quantities(accepted: Snapshot, rules: RuleSet, folder: Path) -> None:
    """Raise SnapshotError for a quantity that the rules which made `accepted` do not have."""
    unknown = accepted.extraction.quantities.keys() - rules.quantities.keys()
    if unknown and accepted.rules_digest == rules.digest:
        what = f"the snapshot is damaged: no rule has the quantity {min(unknown)!r}"
        hint = "accept it anew with --update"
        raise SnapshotError(what, where=f"{accepted.revision.resolved} in {folder}", hint=hint)


def _compare_with_accepted(accepted: Snapshot, found: Snapshot, rules: RuleSet, scope: Scope) -> DiffReport:
    """What differs from the accepted snapshot."""
    from analyzer.application import diff as use_case

    report = use_case.diff(accepted, found.revision, lambda: found, rules, scope)
    return replace(report, notes=(*report.notes, *use_case.age_notes(accepted, found)))


def show(
    ref: str,
    *,
    scenarios: Sequence[str] = (),
    quantities: Sequence[str] = (),
    as_functions: bool = False,
    options: Options | Workspace = _DEFAULTS,
) -> ShowReport:
    """The formulas of one ref, written down under each scenario and with every guard.

    `as_functions` adds each formula as a Python function, of one scenario.
    """
    from analyzer.application import show as use_case

    with _workspace(options) as workspace:
        chosen = select_scenarios(scenarios, workspace.rules)
        found = workspace.snapshot(ref, select_roots(quantities, workspace.rules))
        names = select_quantities(quantities, tuple(found.extraction.quantities), found.extraction.definitions)
        report = use_case.show(found, workspace.rules, chosen, names)
        if not as_functions:
            return report
        from analyzer.application.export import export_function

        wanted = names if quantities else ("max_total_num_tokens",)
        scenario = scenarios[0] if scenarios else DEFAULT_SCENARIO
        made = tuple(export_function(found.extraction, workspace.rules, name, scenario) for name in wanted)
        return replace(report, functions=made)


def trace(ref: str, *, options: Options | Workspace = _DEFAULTS) -> TraceReport:
    """The value path of one ref, hop by hop."""
    from analyzer.application import trace as use_case

    with _workspace(options) as workspace:
        return use_case.trace(workspace.snapshot(ref, (RUNNER,)))


def graph(ref: str, *, options: Options | Workspace = _DEFAULTS) -> GraphReport:
    """The calls that the analysis of one ref went into."""
    from analyzer.application import graph as use_case

    return use_case.graph(analyse(ref, options=options))


def rules(names: Sequence[str] = (), *, options: Options | Workspace = _DEFAULTS) -> RulesReport:
    """The rules and quantities called `names`, all when empty."""
    from analyzer.application.catalogue import catalogue

    with _workspace(options) as workspace:
        return catalogue(workspace.rules, names)


def evaluate(
    ref: str,
    cases: Sequence[Case],
    *,
    quantities: Sequence[str] = (),
    options: Options | Workspace = _DEFAULTS,
) -> EvaluationReport:
    """Put numbers into the formulas of one ref: one result per case, in order."""
    from analyzer.application.evaluate import all_quantities, evaluate_cases, roots_to_evaluate

    with _workspace(options) as workspace:
        roots = roots_to_evaluate(cases, quantities, workspace.rules)
        found = workspace.snapshot(ref, roots)
        known = all_quantities(found.extraction, cases)
        extra = found.extraction.definitions.keys() | workspace.rules.quantities.keys()
        names = select_quantities(quantities, known, extra)
        results = evaluate_cases(found.extraction, workspace.rules, cases, names)
        return EvaluationReport(found.revision, tuple(results))


def read_model(
    ref: str,
    config: Path | None,
    arguments: Mapping[str, Scalar] | None = None,
    *,
    options: Options | Workspace = _DEFAULTS,
) -> Model:
    """What a Hugging Face ``config.json`` and the arguments of a server mean to one ref."""
    from analyzer.adapters.model_config import read_model_config
    from analyzer.application import model as use_case
    from analyzer.application.explain.inputs import check_arguments

    check_arguments(arguments or {})
    with _workspace(options) as workspace:
        read = read_model_config(config) if config is not None else {}
        return use_case.read_model(read, arguments or {}, workspace.snapshot(ref).extraction, workspace.rules)


def impact(  # noqa: PLR0913 - each is an option of the command
    base: str,
    head: str,
    *,
    model: Path | None = None,
    arguments: Mapping[str, Scalar] | None = None,
    given: Mapping[str, Value] | None = None,
    scenario: str | None = None,
    options: Options | Workspace = _DEFAULTS,
) -> ImpactReport:
    """What two refs compute for one server, and which term makes the difference.

    `given` sets inputs, such as ``pre_model_load_memory`` and ``available_gpu_memory``, for both.
    """
    from analyzer.application.explain.formula import FormulaOf
    from analyzer.application.impact import measure_impact

    with _workspace(options) as workspace:
        sides = []
        for ref in (base, head):
            meant = read_model(ref, model, arguments, options=workspace)
            chosen = scenario or meant.scenario
            select_scenarios([chosen], workspace.rules)
            found = workspace.snapshot(ref)
            inputs = replace(meant.inputs, values={**meant.inputs.values, **(given or {})})
            sides.append((FormulaOf(found.revision, found.extraction, workspace.rules, chosen), inputs))
        (old, before), (new, after) = sides
        return measure_impact(old, new, before, after)


def explain(  # noqa: PLR0913 - each is an option of the command
    logs: Sequence[str],
    *,
    ref: str | None = None,
    scenario: str | None = None,
    given: Mapping[str, Value] | None = None,
    start: int | None = None,
    tolerance: float | None = None,
    model: Path | None = None,
    arguments: Mapping[str, Scalar] | None = None,
    options: Options | Workspace = _DEFAULTS,
) -> ExplainReport:
    """Reconcile the start-up log of a server with the formula of its release.

    `logs` are files of one server, ``-`` for stdin; `ref` is the release when the log does not tell it. `start`
    picks one of several starts, the last by default; `given` sets inputs; `tolerance` is in GiB. `model` is a
    ``config.json``, and `arguments` are server arguments that the log lacks.
    """
    from analyzer.adapters.log_files import read_logs
    from analyzer.adapters.model_config import read_model_config
    from analyzer.adapters.versions import is_below
    from analyzer.application import explain as use_case
    from analyzer.application.explain.inputs import check_arguments
    from analyzer.application.start_log.events import MARKERS
    from analyzer.application.start_log.reading import read_start

    config = read_model_config(model) if model is not None else None
    found = read_start(read_logs(logs, MARKERS), start)
    if start is not None and start > found.count:
        raise UsageError(f"there is no start {start}", hint=f"the log has {found.count}")
    check_arguments(arguments or {})
    found = replace(found, arguments={**found.arguments, **(arguments or {})})
    with _workspace(options) as workspace:
        if scenario is not None:
            select_scenarios([scenario], workspace.rules)
        snapshot_of_log = workspace.snapshot(ref) if ref is not None else workspace.release(found.version)
        known = Inputs()
        if config is not None and snapshot_of_log is not None:
            from analyzer.application.model import read_model as read

            meant = read(config, found.arguments, snapshot_of_log.extraction, workspace.rules)
            known, scenario = meant.inputs, scenario or meant.scenario
        request = use_case.Request(
            start=found,
            snapshot=snapshot_of_log,
            scenario=scenario,
            given=dict(given or {}),
            model=known,
            neighbours=lambda: workspace.neighbours(snapshot_of_log),
            is_below=is_below,
            tolerance=tolerance,
        )
        return use_case.explain(request, workspace.rules)


def solve(  # noqa: PLR0913 - each is an option of the command
    ref: str,
    target: int,
    *,
    unknowns: Sequence[str] = ("fraction",),
    given: Mapping[str, Value] | None = None,
    scenario: str | None = None,
    model: Path | None = None,
    arguments: Mapping[str, Scalar] | None = None,
    options: Options | Workspace = _DEFAULTS,
) -> SolveReport:
    """What makes the count of one ref reach `target` tokens; `unknowns` are fraction, weights and cap."""
    from analyzer.application import solve as use_case
    from analyzer.application.explain.formula import FormulaOf

    with _workspace(options) as workspace:
        meant = read_model(ref, model, arguments, options=workspace)
        select_scenarios([scenario or meant.scenario], workspace.rules)
        found = workspace.snapshot(ref)
        formula = FormulaOf(found.revision, found.extraction, workspace.rules, scenario or meant.scenario)
        inputs = replace(meant.inputs, values={**meant.inputs.values, **(given or {})})
        return use_case.solve(formula, inputs, target, unknowns)


def timeline(  # noqa: PLR0913 - each is an option of the command
    quantity: str = "max_total_num_tokens",
    *,
    first: str | None = None,
    last: str | None = None,
    given: Mapping[str, Value] | None = None,
    scenario: str | None = None,
    model: Path | None = None,
    arguments: Mapping[str, Scalar] | None = None,
    options: Options | Workspace = _DEFAULTS,
) -> TimelineReport:
    """What every release from `first` to `last` computes for one quantity of one server.

    `last` may also be a ref that is no release, such as a branch: it then follows the releases.
    """
    from analyzer.adapters.model_config import read_model_config
    from analyzer.application import timeline as use_case
    from analyzer.application.evaluate import roots_to_evaluate
    from analyzer.application.explain.inputs import check_arguments

    check_arguments(arguments or {})
    with _workspace(options) as workspace:
        check_scope(Scope((scenario,) if scenario is not None else (), (quantity,)), workspace.rules)
        config = read_model_config(model) if model is not None else {}
        subject = use_case.Subject(quantity, scenario, config, arguments or {}, dict(given or {}))
        roots = roots_to_evaluate([Case({**(arguments or {}), **subject.given})], [quantity], workspace.rules)
        names = workspace.releases(first, last)
        return use_case.follow(
            subject,
            workspace.track(names, "release"),
            lambda release: workspace.snapshot(release, roots),
            workspace.rules,
        )


def coverage(
    *, first: str | None = None, last: str | None = None, options: Options | Workspace = _DEFAULTS
) -> CoverageReport:
    """How much of every release from `first` to `last` was followed: guards decided, gaps, calls not looked into."""
    from analyzer.application.coverage import measure_coverage

    with _workspace(options) as workspace:
        releases = workspace.track(workspace.releases(first, last), "release")
        return measure_coverage(releases, workspace.snapshot, workspace.rules)


def log(  # noqa: PLR0913 - each is an option of the command
    base: str,
    head: str,
    *,
    scenarios: Sequence[str] = (),
    quantities: Sequence[str] = (),
    kinds: Sequence[Kind] = (),
    all_commits: bool = False,
    options: Options = _DEFAULTS,
) -> LogReport:
    """Every commit between two refs of a clone that changed a formula, newest first, and what it changed.

    `kinds` restricts the report to changes of these kinds; empty means those that change a result or a unit. With
    `all_commits`, the branches behind a merge that changed a formula are followed too.
    The work is spread over processes: a script that calls this keeps its own start under ``if __name__ == "__main__"``.
    """
    from analyzer.api.history import find_commits
    from analyzer.application.history.log import selected

    scope = Scope.of(scenarios, quantities)
    with Workspace(options) as workspace:
        report = find_commits(workspace, options, base, head, scope, all_commits=all_commits)
        return selected(report, kinds)


def blame(
    report: DiffReport,
    *,
    scenarios: Sequence[str] = (),
    quantities: Sequence[str] = (),
    options: Options = _DEFAULTS,
) -> DiffReport:
    """`report` with the commits that introduced each change, as far as its sides are commits of a clone.

    `scenarios` and `quantities` are those that the report was made for. Work is spread over processes as by `log`.
    """
    from analyzer.api.history import find_commits
    from analyzer.application.history import blame as use_case

    scope = Scope.of(scenarios, quantities)
    with Workspace(options) as workspace:
        found = find_commits(workspace, options, report.base.spec, report.head.spec, scope)
    return use_case.blame(report, found.entries)


def cache() -> CacheReport:
    """Where the cache is, and what it holds."""
    from analyzer.adapters.store import cache_report, cache_root

    return cache_report(cache_root())


def clear_cache() -> int:
    """Delete what the cache holds, and nothing elsewhere; the number of bytes that were freed."""
    from analyzer.adapters import store

    return store.clear_cache(store.cache_root())


def docs(  # noqa: PLR0913 - each is an option of the command
    folder: Path,
    *,
    first: str | None = None,
    last: str | None = None,
    scenarios: Sequence[str] = (),
    quantities: Sequence[str] = (),
    file_format: str = "html",
    check: bool = False,
    options: Options | Workspace = _DEFAULTS,
) -> DocsReport:
    """Write the documentation of the releases from `first` to `last` into `folder`, every release when not given.

    `file_format` is ``html`` (a site) or ``markdown``; `last` may also be a ref that is no release. With `check`
    nothing is written: the report names the files that are not what would be written now.
    """
    from analyzer.adapters.site_folder import stale_files, write_site
    from analyzer.api.documentation import build

    scope = Scope.of(scenarios, quantities)
    with _workspace(options) as workspace:
        check_scope(scope, workspace.rules)
        files = build(workspace, first, last, scope, file_format)
    if check:
        return DocsReport(folder, len(files), stale_files(folder, files))
    write_site(folder, files)
    return DocsReport(folder, len(files))


def snapshot(
    refs: Iterable[str] | None, folder: Path, *, compare: bool = False, options: Options | Workspace = _DEFAULTS
) -> Iterator[WrittenSnapshot]:
    """Write the formulas of `refs` into `folder`, one file each; a ref that fails does not stop the others.

    None means every release; they are spread over processes as by `log`. With `compare` it is also written what
    differs between neighbours in the folder, where what is there is not by this program from these snapshots and rules.
    """
    from analyzer.api.workers import WorkerPool

    with _workspace(options) as workspace:
        if refs is None:
            # What is wrong with that release is said when its turn comes.
            with suppress(ExtractionError):
                workspace.write_relevance(folder)
            yield from WorkerPool(workspace, workspace.options, Scope()).write(workspace.releases(), folder)
        else:
            yield from workspace.write_snapshots(refs, folder)
        if compare:
            from analyzer.api.shipping import write_differences

            yield from write_differences(folder, workspace.rules)
