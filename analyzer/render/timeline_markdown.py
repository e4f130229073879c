"""One quantity over releases, as a comment."""

from __future__ import annotations

from analyzer.domain.timeline import TimelineReport
from analyzer.render.markup import prose, table
from analyzer.render.page import Page
from analyzer.render.timeline_text import change, headline, is_worse, reason, releases, runs, value, verdict


def write_timeline(report: TimelineReport, page: Page) -> list[str]:
    """The lines of the comment."""
    lines = [f"## {prose(headline(report, page))}", "", prose(verdict(report)), ""]
    rows = []
    for run in runs(report):
        first = run[0]
        changed = prose(change(first))
        emphasised = f"**{changed}**" if changed and is_worse(first, report) else changed
        rows.append((prose(releases(run)), value(first), emphasised, prose(reason(first, report))))
    lines += table(("releases", report.unit if report.unit != "1" else "value", "change", ""), rows)
    lines += ["", *(f"- assumed {prose(name)}: {prose(why)}" for name, why in report.assumed.items())]
    return [*lines, *(f"- {prose(note)}" for note in report.notes)]
