"""The commits that changed a formula, for people: one block a commit, the newest first."""

from __future__ import annotations

from typing import Final

from analyzer.domain.report import Kind, LogEntry, LogReport
from analyzer.render.blocks import write_notes
from analyzer.render.document import Document, Piece
from analyzer.render.log_entries import quantity_lines, remarks, summary, title, verdict
from analyzer.render.page import Page
from analyzer.render.upstream import pull_link

_SUMMARY: Final = 220
_SHORT_SHA: Final = 10
_DAY: Final = 10


def write_log(document: Document, report: LogReport, page: Page) -> None:
    """Write the whole report."""
    document.say(title(report), "title", hanging=4)
    document.say(verdict(report), "attention" if report.entries else "good")
    for entry in report.entries:
        document.blank()
        _write_entry(document, entry, page)
    write_notes(document, report.notes)


def _write_entry(document: Document, entry: LogEntry, page: Page) -> None:
    commit = entry.commit
    document.write(
        (
            Piece(f"{commit.sha[:_SHORT_SHA]} ", "place"),
            Piece(f"{commit.date[:_DAY]} "),
            Piece(f"{entry.kind.label} ", "bad" if entry.kind >= Kind.SEMANTIC else "attention"),
            Piece(commit.subject, "title"),
        ),
        hanging=4,
    )
    if commit.pr is not None:
        document.say(pull_link(page.upstream, commit.pr), "quiet", indent=1)
    for remark in remarks(entry):
        document.say(remark, "attention", indent=1)
    for line in quantity_lines(entry):
        under = f" [{', '.join(line.scenarios)}]" if line.scenarios else ""
        name = Piece(line.change.quantity, "title")
        document.write((name, Piece(f": {summary(line, _SUMMARY)}"), Piece(under, "quiet")), indent=1, hanging=2)
