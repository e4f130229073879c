"""One server under two releases, for people."""

from __future__ import annotations

from analyzer.domain.effect import Effect
from analyzer.domain.evaluation import Result, Value
from analyzer.domain.impact import ImpactReport
from analyzer.render.blocks import number, revision_title, share, write_missing, write_notes
from analyzer.render.document import Document
from analyzer.render.page import Page


def write_impact(document: Document, report: ImpactReport, page: Page) -> None:
    """Write the whole report."""
    names = f"{revision_title(report.base)} and {revision_title(report.head)}"
    document.say(f"One server under {names}", "title", hanging=4)
    document.say(verdict(report), "attention" if report.differs or report.errors else "good")
    document.heading("Before and after")
    document.table([("", "before", "after", ""), *(row(effect, page) for effect in report.effects)])
    for sentence in default_sentences(report):
        document.say(sentence, indent=1, hanging=2)
    if report.movements:
        document.heading("What moved it")
        document.table([(item.term, f"{item.tokens:+,} tokens", f"{item.gib:+.4f} GiB") for item in report.movements])
    write_missing(document, report.missing, page)
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
    tokens = report.tokens
    if not report.differs:
        return "This server gets the same numbers from both."
    return f"{change(tokens)} for this server." if tokens.delta else "The count of tokens stays the same."


def default_sentences(report: ImpactReport) -> list[str]:
    """What the releases pick for inputs that nobody gives."""
    return [
        f"{name} is not given: {number(after)}, the default of these versions, is used"
        if before == after
        else f"{name} is not given: the default of these versions is used, {_shown(before)} and {_shown(after)}"
        for name, (before, after) in report.defaults.items()
    ]


def change(effect: Effect) -> str:
    """The tokens before and after."""
    relative = f" ({share(effect.relative)})" if effect.relative is not None else ""
    return f"{shown(effect.before)} tokens become {shown(effect.after)}{relative}"


def row(effect: Effect, page: Page) -> tuple[str, str, str, str]:
    """A quantity in a table."""
    title = page.quantity_titles.get(effect.quantity) or effect.quantity.replace("kv_cache", "KV cache")
    unit = f" [{effect.unit}]" if effect.unit not in ("", "1") else ""
    return f"{title}{unit}", shown(effect.before), shown(effect.after), _mark(effect)


def shown(result: Result) -> str:
    """A value, or why there is none."""
    return result.error if result.error is not None else _shown(result.value)


def _shown(value: Value) -> str:
    return "-" if value is None else number(value)


def _mark(effect: Effect) -> str:
    if effect.before == effect.after:
        return ""
    return share(effect.relative) if effect.relative is not None else "changed"
