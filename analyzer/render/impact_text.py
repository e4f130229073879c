"""One server under two releases, for people."""

from __future__ import annotations

from analyzer.domain.evaluation import Value
from analyzer.domain.impact import ImpactReport, Outcome
from analyzer.render.blocks import number, revision_title, share, write_notes
from analyzer.render.document import Document
from analyzer.render.page import Page


def write_impact(document: Document, report: ImpactReport, page: Page) -> None:
    """Write the whole report."""
    names = f"{revision_title(report.base)} and {revision_title(report.head)}"
    document.say(f"One server under {names}", "title", hanging=4)
    document.say(verdict(report), "attention" if report.differs or report.errors else "good")
    if report.outcomes:
        document.heading("Before and after")
        document.table([("", "before", "after", ""), *(row(outcome, page) for outcome in report.outcomes)])
    if report.movements:
        document.heading("What moved it")
        document.table([(item.term, f"{item.tokens:+,} tokens", f"{item.gib:+.4f} GiB") for item in report.movements])
    if report.assumed:
        document.heading("Assumed")
        document.table([(name, f"{number(report.inputs[name])}: {why}") for name, why in report.assumed.items()])
    write_notes(document, report.notes)


def verdict(report: ImpactReport) -> str:
    """Whether this server notices the change."""
    if report.missing:
        return f"Not enough is known of this server: {', '.join(report.missing)} missing."
    if report.errors:
        raised = " and ".join(f"{side} raises {error}" for side, error in report.errors.items())
        return f"With these inputs {raised}."
    tokens = next((item for item in report.outcomes if item.quantity == "max_total_num_tokens"), None)
    if tokens is None or not report.differs:
        return "This server gets the same numbers from both."
    return (
        f"{change(tokens)} for this server." if tokens.before != tokens.after else "The count of tokens stays the same."
    )


def change(outcome: Outcome) -> str:
    """The tokens before and after."""
    before, after = outcome.before, outcome.after
    relative = ""
    if isinstance(before, int | float) and isinstance(after, int | float) and before:
        relative = f" ({share((after - before) / before)})"
    return f"{shown(before)} tokens become {shown(after)}{relative}"


def row(outcome: Outcome, page: Page) -> tuple[str, str, str, str]:
    """A quantity in a table."""
    title = page.quantity_titles.get(outcome.quantity) or outcome.quantity.replace("kv_cache", "KV cache")
    unit = "" if outcome.unit == "1" else outcome.unit
    return f"{title}{f' [{unit}]' if unit else ''}", shown(outcome.before), shown(outcome.after), _mark(outcome)


def shown(value: Value) -> str:
    """A value, or that there is none."""
    return "-" if value is None else number(value)


def _mark(outcome: Outcome) -> str:
    before, after = outcome.before, outcome.after
    if before == after:
        return ""
    numbers = isinstance(before, int | float) and isinstance(after, int | float)
    return share((after - before) / before) if numbers and before else "changed"  # type: ignore[operator]  # both are numbers
