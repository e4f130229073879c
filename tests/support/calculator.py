"""What the calculator of the documentation is given and what it should show, for releases whose snapshots ship."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analyzer.adapters.rules import load_rules
from analyzer.adapters.snapshot_source import SnapshotSource
from analyzer.application.docs.calculator import build_program
from analyzer.application.docs.reference import reference_servers
from analyzer.application.docs.release import document_release
from analyzer.application.evaluate import evaluate_cases
from analyzer.domain.evaluation import Case, Result
from analyzer.render.site import program_text


@dataclass(frozen=True, slots=True)
class Calculation:
    """One evaluation, and what `eval` makes of every quantity."""

    scenario: str
    inputs: dict[str, Any]
    expected: dict[str, str]


def program_and_calculations(release: str) -> tuple[str, list[Calculation]]:
    """The data of a release for the calculator as JSON, and every reference server, also without its fraction."""
    extraction, rules = SnapshotSource().load(release).extraction, load_rules()
    servers = reference_servers()
    scenarios = tuple(dict.fromkeys(server.scenario for server in servers))
    page = document_release(SnapshotSource().load(release), rules, scenarios, (), servers)
    text = program_text(build_program(extraction, rules, page.formulas, servers))
    cases = [Case(inputs, server.scenario) for server in servers for inputs in _variants(dict(server.inputs))]
    results = evaluate_cases(extraction, rules, cases, tuple(extraction.quantities))
    return text, [
        Calculation(case.scenario, dict(case.inputs), {name: _shown(item) for name, item in result.quantities.items()})
        for case, result in zip(cases, results, strict=True)
    ]


def _variants(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The server as it is, and with one of its inputs left out at a time."""
    yield inputs
    for left_out in inputs:
        yield {name: value for name, value in inputs.items() if name != left_out}


def _shown(result: Result) -> str:
    """A result in a form that the calculator's can be given too."""
    if result.error is not None:
        return f"raises {result.error}"
    if result.value is None:
        return "absent" if result.absent else "missing"
    return str(result.value)
