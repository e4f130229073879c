"""``analyzer diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.cli.gate import fail_if_option, fail_on_option, judged, servers_for
from analyzer.cli.options import Common, ModelOptions, common_options, model_options, selection_options, set_option
from analyzer.cli.output import emit, note_all
from analyzer.domain.errors import UsageError
from analyzer.render.formats import formats_of

if TYPE_CHECKING:
    from analyzer.api import Workspace
    from analyzer.domain.effect import Limit
    from analyzer.domain.report import Kind

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415


@click.command("diff")
@click.argument("base")
@click.argument("head")
@click.option(
    "--pins",
    is_flag=True,
    help="BASE and HEAD are files that pin sglang, or REVISION:PATH of the repository around: requirements,"
    " constraints, pyproject.toml, a lock file, a Dockerfile.",
)
@fail_on_option
@fail_if_option
@click.option("--blame", is_flag=True, help="Name the commits that introduced each change; needs a clone.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="An earlier report as JSON: what it has is accepted, by fingerprint.",
)
@set_option
@model_options
@selection_options
@common_options("diff")
def command(
    common: Common,
    model: ModelOptions,
    base: str,
    head: str,
    pins: bool,  # noqa: FBT001 - click calls by keyword
    blame: bool,  # noqa: FBT001 - the same
    fail_on: Kind | None,
    limits: tuple[Limit, ...],
    baseline: Path | None,
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
    settings: tuple[str, ...],
) -> int:
    """Compare the formulas of BASE and HEAD by meaning: what changed, for whom, by how much.

    A side is a tag, branch, commit, version, WORKTREE, INSTALLED, a wheel, or a folder with SGLang.

    With --model, or any option that describes a server: what that server gets from BASE and from HEAD, and which
    term makes the difference. Exit code 1 when there is one.
    """
    from analyzer import api
    from analyzer.application.effects import check_limits

    if settings and not model.is_given:
        raise UsageError("--set describes a server", hint="give --model, or --gpu-memory and --weights")
    if blame and model.is_given:
        raise UsageError("--blame is about the formula", hint="leave out what describes a server")
    if limits and model.is_given:
        raise UsageError("--fail-if judges the servers in the settings", hint="describe this one there")
    with api.Workspace(common.for_api()) as workspace:
        configured = workspace.settings
        limits = limits or configured.fail_if
        servers = servers_for(configured, scenarios, limits)
        pin = None
        if pins:
            old, pin = api.read_pin(base), api.read_pin(head)
            base, head = old.ref, pin.ref
            note_all((f"{found.spec}, line {found.line}: sglang {found.ref}" for found in (old, pin)), common)
        if model.is_given:
            return _compare_server(common, base, head, scenarios, model, settings, workspace)
        common = common.with_formats(configured.formats, "diff")
        full = bool(quantities)
        scenarios, quantities = scenarios or configured.scenarios, quantities or configured.quantities
        check_limits(limits, servers, workspace.rules)
        report = api.diff(base, head, scenarios=scenarios, quantities=quantities, options=workspace)
        if blame:
            report = api.blame(report, scenarios=scenarios, quantities=quantities, options=common.for_api())
        report = api.accept(report, configured, baseline)
        report = judged(api.add_effects(report, servers, limits, options=workspace), fail_on, configured, limits)
        emit("diff", report, common, workspace.rules, scenarios, pin=pin, full=full)
    if not common.in_text:
        note_all(report.notes, common)
    return int(bool(report.failures))


def _compare_server(
    common: Common,
    base: str,
    head: str,
    scenarios: tuple[str, ...],
    model: ModelOptions,
    settings: tuple[str, ...],
    workspace: Workspace,
) -> int:
    """Say what one server gets from each side."""
    from analyzer import api
    from analyzer.cli.cases import read_setting

    unfit = [name for name in common.formats if name not in formats_of("impact")]
    if unfit or len(scenarios) > 1:
        problem = f"a server has no {unfit[0]} report" if unfit else "a server has one scenario"
        raise UsageError(problem, hint=f"formats are {', '.join(formats_of('impact'))}")
    given = {**model.memory, **dict(map(read_setting, settings))}
    report = api.impact(
        base,
        head,
        model=model.config,
        arguments=model.arguments,
        given=given,
        scenario=scenarios[0] if scenarios else None,
        options=workspace,
    )
    emit("impact", report, common, workspace.rules, scenarios)
    if not common.in_text:
        note_all(report.notes, common)
    return int(report.differs)
