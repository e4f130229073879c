"""Whether a comparison passes the gate of a project, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzer.domain.report import DiffReport, Kind


def judge_gate(report: DiffReport, threshold: Kind, origin: str) -> DiffReport:
    """`report` with the reasons why it fails: a kind of change from `threshold` on, which `origin` sets, or a limit."""
    return replace(report, failures=tuple(_failures(report, threshold, origin)))


def _failures(report: DiffReport, threshold: Kind, origin: str) -> Iterator[str]:
    if report.verdict >= threshold:
        yield f"the verdict is {report.verdict.label}, and {origin} fails from {threshold.label} on"
    for effect in report.effects:
        if effect.broken:
            yield f"{effect.server.name}: {' and '.join(effect.broken)}"
