"""Reports as JSON objects, key by key as the published schemas say."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from analyzer.domain.coverage import CoverageReport
from analyzer.domain.effect import ServerEffect
from analyzer.domain.evaluation import CaseResult, EvaluationReport, Result
from analyzer.domain.explanation import ExplainReport
from analyzer.domain.extraction import Gap, Hop, UnitConversion, UnitFinding
from analyzer.domain.impact import ImpactReport
from analyzer.domain.judgement import CheckReport
from analyzer.domain.judgement import Finding as CheckFinding
from analyzer.domain.report import (
    SCHEMA_VERSION,
    Change,
    CommitReference,
    DiffReport,
    LogEntry,
    LogReport,
    MachineFraction,
    Side,
    Witness,
)
from analyzer.domain.rules import ChangeExample, ChangeRule, InvariantRule, QuantityRule
from analyzer.domain.solution import Solution, SolveReport
from analyzer.domain.source import Revision, Span
from analyzer.domain.timeline import TimelineReport
from analyzer.domain.views import (
    FormulaView,
    GraphReport,
    QuantityView,
    RulesReport,
    ShowReport,
    SymbolView,
    TraceReport,
)
from analyzer.render.coverage_json import coverage_object, coverage_report_object, gap_object
from analyzer.render.explain_json import explain_object
from analyzer.render.json_object import Object
from analyzer.render.page import Page
from analyzer.render.timeline_json import timeline_object
from analyzer.render.upstream import pull_link


def render_diff(report: DiffReport, page: Page) -> str:
    """A comparison."""
    del page
    return write_object(diff_object(report))


def render_log(report: LogReport, page: Page) -> str:
    """The commits that changed a formula."""
    return write_object([_log_entry(entry, page) for entry in report.entries])


def _log_entry(entry: LogEntry, page: Page) -> Object:
    pr = entry.commit.pr
    return {
        **_commit(entry.commit),
        "link": None if pr is None else pull_link(page.upstream, pr),
        "kind": entry.kind.label,
        "changes": [change_object(change) for change in entry.changes],
        "side": entry.side,
        "twin": entry.twin,
        "undone_by": entry.undone_by,
        "undoes": entry.undoes,
    }


def render_check(report: CheckReport, page: Page) -> str:
    """The judgement of one ref."""
    del page
    return write_object(
        {
            "schema_version": SCHEMA_VERSION,
            **_revision(report.revision),
            "findings": [_check_finding(finding) for finding in report.findings],
            "unjudged": list(report.unjudged),
            "diff": None if report.diff is None else diff_object(report.diff),
            "gaps": _gaps(report.gaps),
            "coverage": coverage_object(report.coverage),
            "notes": list(report.notes),
        }
    )


def render_show(report: ShowReport, page: Page) -> str:
    """The formulas of one ref."""
    del page
    return write_object(show_object(report))


def render_trace(report: TraceReport, page: Page) -> str:
    """The value path of one ref."""
    del page
    return write_object(trace_object(report))


def render_graph(report: GraphReport, page: Page) -> str:
    """The explored call graph of one ref."""
    del page
    return write_object(
        {
            "schema_version": SCHEMA_VERSION,
            **_revision(report.revision),
            "entry": report.entry,
            "nodes": [{"name": node.name, "role": node.role} for node in report.nodes],
            "edges": [
                {"caller": edge.caller, "callee": edge.callee, "locations": _locations(edge.locations)}
                for edge in report.edges
            ],
        }
    )


def render_eval(report: EvaluationReport, page: Page) -> str:
    """The results of every case."""
    del page
    cases = [_case(report.revision, result) for result in report.results]
    return write_object([{**case, "assumed": dict(report.assumed)} for case in cases] if report.assumed else cases)


def render_rules(report: RulesReport, page: Page) -> str:
    """The rules and quantities."""
    del page
    return write_object(
        {
            "schema_version": SCHEMA_VERSION,
            "changes": [_change_rule(rule) for rule in report.changes],
            "invariants": [_invariant_rule(rule) for rule in report.invariants],
            "quantities": [_quantity_rule(rule) for rule in report.quantities],
        }
    )


def render_explain(report: ExplainReport, page: Page) -> str:
    """A start reconciled with the formula."""
    del page
    return write_object(explain_object(report))


def render_impact(report: ImpactReport, page: Page) -> str:
    """One server under two releases."""
    del page
    return write_object(
        {
            "schema_version": SCHEMA_VERSION,
            "base": _revision(report.base),
            "head": _revision(report.head),
            "scenario": report.scenario,
            "inputs": dict(report.inputs),
            "assumed": dict(report.assumed),
            "quantities": {
                item.quantity: {"before": item.before.value, "after": item.after.value, "unit": item.unit}
                for item in report.effects
            },
            "movements": [{"term": item.term, "tokens": item.tokens, "gib": item.gib} for item in report.movements],
            "defaults": {name: {"before": before, "after": after} for name, (before, after) in report.defaults.items()},
            "errors": dict(report.errors),
            "missing": list(report.missing),
            "notes": list(report.notes),
        }
    )


def render_solve(report: SolveReport, page: Page) -> str:
    """What reaches a target."""
    del page
    return write_object(
        {
            "schema_version": SCHEMA_VERSION,
            **_revision(report.revision),
            "scenario": report.scenario,
            "target": report.target,
            "inputs": dict(report.inputs),
            "assumed": dict(report.assumed),
            "solutions": [_solution(solution) for solution in report.solutions],
        }
    )


def render_coverage(report: CoverageReport, page: Page) -> str:
    """How much of each release was followed."""
    del page
    return write_object(coverage_report_object(report))


def render_timeline(report: TimelineReport, page: Page) -> str:
    """One quantity over releases."""
    del page
    return write_object(timeline_object(report))


def diff_object(report: DiffReport) -> Object:
    """The object of `diff`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "base": _revision(report.base),
        "head": _revision(report.head),
        "verdict": report.verdict.label,
        "verdicts": {
            quantity: {scenario: kind.label for scenario, kind in kinds.items()}
            for quantity, kinds in report.verdicts.items()
        },
        "changes": [change_object(change) for change in report.changes],
        "accepted": [{**change_object(item.change), "reason": item.reason} for item in report.accepted],
        "effects": [effect_object(effect) for effect in report.effects],
        "failures": list(report.failures),
        "gaps": _gaps(report.gaps),
        "coverage": {side: coverage_object(coverage) for side, coverage in report.coverage.items()},
        "paths": {"base": _hops(report.base_path), "head": _hops(report.head_path)},
        "notes": list(report.notes),
        "default_fractions": [_machine(machine) for machine in report.default_fractions],
    }


def _machine(machine: MachineFraction) -> Object:
    return {
        "gpu": machine.gpu,
        "gpu_mem": machine.gpu_mem,
        "tp_size": machine.tp_size,
        "scenarios": list(machine.scenarios),
        "before": machine.before,
        "after": machine.after,
    }


def change_object(change: Change) -> Object:
    """The object of one change."""
    return {
        "rule": change.rule,
        "kind": change.kind.label,
        "level": change.level,
        "action": change.action,
        "quantity": change.quantity,
        "affects": list(change.affects),
        "scenarios": list(change.scenarios),
        "guard": change.guard,
        "summary": change.summary,
        "before": _side(change.before),
        "after": _side(change.after),
        "witness": witness_object(change.witness),
        "bound": change.bound,
        "commits": [_commit(commit) for commit in change.commits],
        "fingerprint": change.fingerprint,
    }


def effect_object(effect: ServerEffect) -> Object:
    """The object of the effect on one server."""
    return {
        "server": effect.server.name,
        "scenario": effect.server.scenario,
        "inputs": dict(effect.server.inputs),
        "quantity": effect.quantity,
        "unit": effect.unit,
        "before": _outcome(effect.before),
        "after": _outcome(effect.after),
        "delta": effect.delta,
        "relative": effect.relative,
        "broken": list(effect.broken),
        "undecided": effect.undecided,
        "keeping": None if effect.keeping is None else _solution(effect.keeping),
    }


def _outcome(result: Result) -> Object:
    return {"value": result.value, "error": result.error, "missing": list(result.missing)}


def show_object(report: ShowReport) -> Object:
    """The object of `show`."""
    return {
        "schema_version": SCHEMA_VERSION,
        **_revision(report.revision),
        "entry": report.entry,
        "path": _hops(report.path),
        "quantities": {name: _quantity(view) for name, view in report.quantities.items()},
        "unit_conversions": [_conversion(item) for item in report.unit_conversions],
        "unit_findings": [_finding(item) for item in report.unit_findings],
        "symbols": {name: _symbol(view) for name, view in report.symbols.items()},
        "gaps": _gaps(report.gaps),
        "coverage": coverage_object(report.coverage),
    }


def trace_object(report: TraceReport) -> Object:
    """The object of `trace`."""
    return {
        "schema_version": SCHEMA_VERSION,
        **_revision(report.revision),
        "entry": report.entry,
        "path": _hops(report.path),
    }


def write_object(value: object) -> str:
    """`value` as JSON that neither a terminal nor a workflow log takes for a command."""
    text = json.dumps(_finite(value), indent=1, allow_nan=False) + "\n"
    # An old form of workflow commands counts anywhere in a line; in JSON it can only stand in a string.
    return text.replace("##[", "\\u0023#[")


def _finite(value: Any) -> Any:
    """`value` where a number that JSON cannot hold is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _revision(revision: Revision) -> Object:
    return {
        "ref": revision.spec,
        "resolved": revision.resolved,
        "commit": revision.commit,
        "version": revision.version,
    }


def _location(span: Span) -> Object:
    return {"path": span.path, "line": span.line, "end_line": span.end_line}


def _locations(spans: Iterable[Span]) -> list[Object]:
    return [_location(span) for span in spans]


def _hops(hops: Iterable[Hop]) -> list[Object]:
    return [
        {
            "kind": hop.kind,
            "caller": hop.caller,
            "callee": hop.callee,
            "source": hop.source,
            "target": hop.target,
            "path": hop.path,
            "line": hop.line,
        }
        for hop in hops
    ]


def _gaps(gaps: Iterable[Gap]) -> list[Object]:
    return [gap_object(gap) for gap in gaps]


def _side(side: Side | None) -> Object | None:
    if side is None:
        return None
    return {"text": side.text, "latex": side.latex, "unit": side.unit, "locations": _locations(side.locations)}


def witness_object(witness: Witness | None) -> Object | None:
    """The object of a witness, null when there is none."""
    if witness is None:
        return None
    return {
        "inputs": dict(witness.inputs),
        "unset": list(witness.unset),
        "before": witness.before,
        "after": witness.after,
        "delta": witness.delta,
        "relative": witness.relative,
    }


def _commit(commit: CommitReference) -> Object:
    return {"sha": commit.sha, "date": commit.date, "subject": commit.subject, "pr": commit.pr}


def _quantity(view: QuantityView) -> Object:
    return {
        "title": view.title,
        "unit": view.unit,
        "source_unit": view.source_unit,
        "scenarios": {name: _formula(formula) for name, formula in view.scenarios.items()},
        "full": _formula(view.full),
    }


def _formula(view: FormulaView) -> Object:
    return {
        "text": view.text,
        "latex": view.latex,
        "guards": list(view.guards),
        "locations": _locations(view.locations),
        "raises": view.raises,
    }


def _conversion(item: UnitConversion) -> Object:
    return {
        "expression": item.expression,
        "from": item.from_unit,
        "to": item.to_unit,
        "location": _location(item.location),
    }


def _finding(item: UnitFinding) -> Object:
    return {"message": item.message, "location": _location(item.location)}


def _symbol(view: SymbolView) -> Object:
    return {
        "unit": view.unit,
        "description": view.description,
        "source_names": list(view.source_names),
        "locations": _locations(view.locations),
        "default": view.default,
    }


def _solution(solution: Solution) -> Object:
    found = {name: getattr(solution, name) for name in ("unknown", "value", "unit", "tokens", "is_monotone")}
    return {**found, "missing": list(solution.missing)}


def _case(revision: Revision, result: CaseResult) -> Object:
    found: Object = {
        "ref": revision.spec,
        "scenario": result.case.scenario,
        "inputs": dict(result.case.inputs),
        "quantities": {name: _result(item) for name, item in result.quantities.items()},
        "error": result.error,
        "ignored": list(result.ignored),
    }
    if result.defaults:
        found["defaults"] = dict(result.defaults)
    if result.left_open:
        found["left_open"] = {name: list(choices) for name, choices in result.left_open.items()}
    return found if result.problem is None else {**found, "problem": result.problem}


def _result(result: Result) -> Object:
    found: Object = {"value": result.value, "unit": result.unit}
    if result.error_missing:
        found["error_missing"] = list(result.error_missing)
    return found if result.value is not None else {**found, "missing": list(result.missing)}


def _change_rule(rule: ChangeRule) -> Object:
    return {
        "id": rule.id,
        "level": rule.level,
        "title": rule.title,
        "area": rule.area,
        "action": rule.action,
        "kinds": list(rule.kinds),
        "quantities": list(rule.quantities),
        "why": rule.why,
        "what_to_do": rule.what_to_do,
        "example": None if rule.example is None else _example(rule.example),
    }


def _example(example: ChangeExample) -> Object:
    return {
        "seen": example.seen,
        "quantity": example.quantity,
        "before": example.before or None,
        "after": example.after or None,
        "units": list(example.units),
        "places": list(example.places),
        "gaps": list(example.gaps),
        "input": example.input or None,
        "defaults": dict(example.defaults),
    }


def _quantity_rule(rule: QuantityRule) -> Object:
    return {"name": rule.name, "unit": rule.unit, "title": rule.title, "description": rule.description}


def _invariant_rule(rule: InvariantRule) -> Object:
    names = ("id", "level", "title", "check", "why", "what_to_do", "seen", "example")
    return {name: getattr(rule, name) for name in names}


def _check_finding(finding: CheckFinding) -> Object:
    violation = finding.violation
    return {
        "rule": finding.rule,
        "level": finding.level,
        "quantity": violation.quantity or None,
        "scenarios": list(violation.scenarios),
        "summary": finding.summary,
        "detail": violation.detail,
        "inputs": dict(violation.inputs),
        "locations": _locations(violation.locations),
        "fingerprint": finding.fingerprint,
        "accepted": finding.accepted,
    }
