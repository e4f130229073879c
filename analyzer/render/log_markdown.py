"""The commits that changed a formula, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.domain.report import LogEntry, LogReport
from analyzer.render.log_entries import quantity_lines, remarks, summary, title, verdict
from analyzer.render.markup import code, prose
from analyzer.render.page import Page
from analyzer.render.upstream import pull_link

_SUMMARY: Final = 300
_SHORT_SHA: Final = 10
_DAY: Final = 10


def write_log(report: LogReport, page: Page) -> list[str]:
    """The lines of the report."""
    lines = [f"## {prose(title(report))}", "", verdict(report), ""]
    for entry in report.entries:
        lines += _entry(entry, page)
    return [*lines, "", *(f"- {prose(note)}" for note in report.notes)]


def _entry(entry: LogEntry, page: Page) -> Iterator[str]:
    commit = entry.commit
    pull = f" ([pull request {commit.pr}]({pull_link(page.upstream, commit.pr)}))" if commit.pr is not None else ""
    yield f"- {code(commit.sha[:_SHORT_SHA])} {commit.date[:_DAY]} **{entry.kind.label}** {code(commit.subject)}{pull}"
    for remark in remarks(entry):
        yield f"  - {prose(remark)}"
    for line in quantity_lines(entry):
        under = f" in {code(', '.join(line.scenarios))}" if line.scenarios else ""
        yield f"  - {code(line.change.quantity)}{under}: {prose(summary(line, _SUMMARY))}"
