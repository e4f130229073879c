"""A reconciled start as a JSON object, key by key as the published schema says."""

from __future__ import annotations

from typing import Final

from analyzer.domain.explanation import Difference, ExplainReport, Lever, Step, Window
from analyzer.domain.report import SCHEMA_VERSION
from analyzer.domain.startup import RankReadings, Reading
from analyzer.render.json_object import Object

_WINDOW: Final = (
    "current",
    "smallest",
    "largest",
    "largest_is_bound",
    "possible",
    "tokens",
    "context_len",
    "whole_context",
)


def explain_object(report: ExplainReport) -> Object:
    """The object of `explain`."""
    start, revision = report.start, report.revision
    return {
        "schema_version": SCHEMA_VERSION,
        "version": start.version if start.version is not None else revision and revision.version,
        "ref": revision and revision.spec,
        "resolved": revision and revision.resolved,
        "commit": revision and revision.commit,
        "formula_ref": report.formula_ref,
        "scenario": report.scenario,
        "start": {"position": start.position, "count": start.count},
        "ranks": [_rank(rank) for rank in start.ranks],
        "readings": {name: _reading(reading) for name, reading in report.readings.items()},
        "inputs": dict(report.inputs),
        "assumed": dict(report.assumed),
        "ledger": [{"item": item.item, "gib": item.gib} for item in report.ledger],
        "steps": [_step(step) for step in report.steps],
        "predicted": dict(report.predicted),
        "observed": dict(start.observed),
        "difference": _difference(report.difference),
        "verdict": report.verdict,
        "reasons": list(report.reasons),
        "missing": list(report.missing),
        "failure": None if start.failure is None else {"kind": start.failure.kind, "line": start.failure.line},
        "window": _window(report.window),
        "levers": [_lever(lever) for lever in report.levers],
        "notes": list(report.notes),
    }


def _rank(rank: RankReadings) -> Object:
    return {"rank": rank.rank, "readings": {name: reading.value for name, reading in rank.readings.items()}}


def _reading(reading: Reading) -> Object:
    return {"value": reading.value, "line": reading.line, "rank": reading.rank, "derived": reading.derived}


def _step(step: Step) -> Object:
    return {name: getattr(step, name) for name in ("quantity", "formula", "numbers", "value", "unit")}


def _difference(difference: Difference | None) -> Object | None:
    if difference is None:
        return None
    return {
        "tokens": difference.tokens,
        "gib": difference.gib,
        "tolerance_gib": difference.tolerance.limit,
        "rounding_gib": difference.tolerance.rounding,
        "era_gib": difference.tolerance.era,
        "era": difference.tolerance.why,
    }


def _window(window: Window | None) -> Object | None:
    if window is None:
        return None
    return {name: getattr(window, name) for name in _WINDOW} | {"reasons": list(window.reasons)}


def _lever(lever: Lever) -> Object:
    return {name: getattr(lever, name) for name in ("flag", "symbol", "before", "after", "tokens", "change")}
