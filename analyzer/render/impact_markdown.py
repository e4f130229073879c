"""One server under two releases, as a comment."""

from __future__ import annotations

from analyzer.domain.impact import ImpactReport
from analyzer.render.blocks import revision_title
from analyzer.render.impact_text import default_sentences, row, verdict
from analyzer.render.markup import prose, table
from analyzer.render.page import Page


def write_impact(report: ImpactReport, page: Page) -> list[str]:
    """The lines of the comment."""
    names = f"{revision_title(report.base)} and {revision_title(report.head)}"
    lines = [f"## One server under {prose(names)}", "", prose(verdict(report))]
    rows = [tuple(prose(cell) for cell in row(effect, page)) for effect in report.effects]
    lines += ["", *table(("", "before", "after", ""), rows), "", *map(prose, default_sentences(report))]
    if report.movements:
        moved = [(item.term, f"{item.tokens:+,}", f"{item.gib:+.4f}") for item in report.movements]
        lines += ["", *table(("what moved it", "tokens", "GiB"), moved)]
    lines += ["", *(f"- assumed {prose(name)}: {prose(why)}" for name, why in report.assumed.items())]
    return lines
