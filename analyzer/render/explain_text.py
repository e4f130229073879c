"""A reconciled start for people: the verdict, where the memory went, the formula with its numbers, what to move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.domain.explanation import (
    EXPLAINED,
    INCONSISTENT,
    INSUFFICIENT,
    REPRODUCES,
    Difference,
    ExplainReport,
    Lever,
    Step,
)
from analyzer.render.blocks import number, plural, revision_title, write_notes
from analyzer.render.document import Document, Piece
from analyzer.render.page import Page

SENTENCES: Final[Mapping[str, str]] = {
    REPRODUCES: "The formula gives what came out.",
    EXPLAINED: "What came out is explained.",
    INCONSISTENT: "The inputs are inconsistent: the readings and what came out contradict each other.",
    INSUFFICIENT: "There is not enough in this log.",
}
_STYLES: Final[Mapping[str, str]] = {
    REPRODUCES: "good",
    EXPLAINED: "good",
    INCONSISTENT: "bad",
    INSUFFICIENT: "attention",
}


def title(report: ExplainReport) -> str:
    """Which release, which start."""
    start = report.start
    if start.is_empty:
        return "No start of a server"
    release = revision_title(report.revision) if report.revision is not None else "an unknown release"
    which = f", start {start.position} of {start.count}" if start.count > 1 else ""
    return f"Start of a server of {release}{which}"


def write_explain(document: Document, report: ExplainReport, page: Page) -> None:
    """Write the whole report."""
    document.say(title(report), "title", hanging=4)
    document.write((Piece(f"{report.verdict}: ", _STYLES[report.verdict]), Piece(SENTENCES[report.verdict])))
    for reason in report.reasons:
        document.say(reason, indent=1, hanging=2)
    _write_comparison(document, report, page)
    _write_window(document, report)
    _write_ledger(document, report)
    _write_readings(document, report)
    _write_steps(document, report)
    _write_levers(document, report)
    if report.assumed:
        document.heading("Assumed")
        document.table([(name, f"{number(report.inputs[name])}: {why}") for name, why in report.assumed.items()])
    write_notes(document, report.notes)


def _write_comparison(document: Document, report: ExplainReport, page: Page) -> None:
    names = [name for name in report.start.observed if name in report.predicted]
    difference = report.difference
    if not names:
        return
    document.heading("Predicted and observed")
    rows = [
        (page.quantity_titles.get(name, name), number(report.predicted[name]), number(report.start.observed[name]))
        for name in names
    ]
    document.table([("", "predicted", "observed"), *rows])
    if difference is not None:
        document.say(difference_sentence(difference), indent=1, hanging=2)


def difference_sentence(difference: Difference) -> str:
    """How far prediction and log are apart, and how far they may be."""
    allowed = difference.tolerance
    return (
        f"difference {difference.tokens:+,} tokens, {difference.gib:+.4f} GiB; tolerance {allowed.limit:.4f} GiB: "
        f"{allowed.rounding:.4f} for the decimals of the log, at most {allowed.era:g} since {allowed.why}"
    )


def window_lines(report: ExplainReport) -> list[str]:
    """Between which fractions the server can work, in sentences."""
    window = report.window
    if window is None:
        return []
    current = f" (it was {window.current:g})" if window.current is not None else ""
    if not window.possible:
        return [f"no --mem-fraction-static can work{current}", *window.reasons]
    lines = []
    if window.smallest is not None:
        count = f": {number(window.tokens)} tokens" if window.tokens is not None else ""
        lines.append(f"the smallest --mem-fraction-static that gives a KV cache is {window.smallest:g}{count}{current}")
    if window.context_len is not None:
        fits = "no fraction below 1" if window.whole_context is None else f"it is {window.whole_context:g}"
        lines.append(f"for one sequence of {number(window.context_len)} tokens, the whole context, {fits}")
    if window.largest is not None:
        words = (
            "it must be at most {:g}, if that is low enough"
            if window.largest_is_bound
            else "the largest that leaves what was taken after the pool is {:g}"
        )
        lines.append(words.format(window.largest))
    return [*lines, *window.reasons]


def _write_window(document: Document, report: ExplainReport) -> None:
    lines = window_lines(report)
    if lines:
        document.heading("Which fraction works")
    for line in lines:
        document.say(line, indent=1, hanging=2)


def _write_ledger(document: Document, report: ExplainReport) -> None:
    if not report.ledger:
        return
    document.heading("Where the memory went (GiB)")
    document.table([(item.item, f"{item.gib:10.2f}") for item in report.ledger])


def _write_readings(document: Document, report: ExplainReport) -> None:
    if not report.readings:
        return
    document.heading(f"Readings ({plural(len(report.start.ranks), 'rank')})")
    rows = [
        (name, f"{reading.value:.2f} GiB", reading.rank or "-", reading.line)
        for name, reading in report.readings.items()
    ]
    document.table(rows)


def _write_steps(document: Document, report: ExplainReport) -> None:
    if not report.steps:
        return
    document.heading("The formula, with the numbers put in")
    for step in report.steps:
        document.say(f"{step.quantity} = {step.formula}", indent=1, hanging=4)
        if step.numbers != value(step):
            document.say(f"= {step.numbers}", indent=2, hanging=4)
        document.say(f"= {value(step)}", "title", indent=2)


def value(step: Step) -> str:
    """The value of a step with its unit."""
    return number(step.value) if step.unit == "1" else f"{number(step.value)} {step.unit}"


def _write_levers(document: Document, report: ExplainReport) -> None:
    if not report.levers:
        return
    document.heading("What moves it")
    document.table(
        [(lever.flag, move(lever), f"{lever.change:+,} tokens: {lever.tokens:,}") for lever in report.levers]
    )


def move(lever: Lever) -> str:
    """From which value to which."""
    return f"{number(lever.before)} -> {'unset' if lever.after is None else number(lever.after)}"
