"""What reaches a target, for people."""

from __future__ import annotations

from typing import Final

from analyzer.domain.solution import Solution, SolveReport
from analyzer.render.blocks import number, revision_title, write_notes
from analyzer.render.document import Document
from analyzer.render.page import Page

_WORDS: Final = {
    "fraction": ("the smallest --mem-fraction-static", "no --mem-fraction-static"),
    "weights": ("the largest weights, all that is loaded before sizing,", "no weight size"),
    "cap": ("the smallest --max-total-tokens of whole pages", "no --max-total-tokens"),
}


def write_solve(document: Document, report: SolveReport, page: Page) -> None:
    """Write the whole report."""
    document.say(f"Reaching {report.target:,} tokens with {revision_title(report.revision)}", "title", hanging=4)
    title = page.scenario_titles.get(report.scenario, "")
    document.say(f"{report.scenario}{f': {title}' if title else ''}", indent=1)
    document.blank()
    for solution in report.solutions:
        document.say(sentence(solution, report.target), "" if solution.value is not None else "attention", 1, 2)
        if not solution.is_monotone:
            document.say(
                "beyond it are values that do not reach the target: try what you choose with eval", "bad", 2, 2
            )
    if report.assumed:
        document.heading("Assumed")
        document.table([(name, f"{number(report.inputs[name])}: {why}") for name, why in report.assumed.items()])
    write_notes(document, report.notes)


def sentence(solution: Solution, target: int) -> str:
    """What one unknown must be."""
    some, none = _WORDS[solution.unknown]
    if solution.missing:
        return f"{some} cannot be computed without {', '.join(solution.missing)}"
    if solution.value is None:
        most = f"; the most is {solution.tokens:,}" if solution.tokens is not None else ""
        return f"{none} gives {target:,} tokens{most}"
    unit = "" if solution.unit == "1" else f" {solution.unit}"
    return f"{some} is {number(solution.value)}{unit}: {solution.tokens:,} tokens"
