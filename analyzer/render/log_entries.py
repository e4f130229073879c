"""What the reports of `log` say of a commit, in whatever format."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.domain.report import Change, LogEntry, LogReport
from analyzer.render.blocks import plural, revision_title

_SHORT_SHA = 10


@dataclass(frozen=True, slots=True)
class QuantityLine:
    """What a commit did to one quantity: its strongest change, and how many more there are."""

    change: Change
    scenarios: tuple[str, ...]
    more: int


def quantity_lines(entry: LogEntry) -> list[QuantityLine]:
    """The changes of a commit, one line for each quantity, strongest first."""
    by_quantity: dict[str, list[Change]] = {}
    for change in sorted(entry.changes, key=lambda change: -change.kind):
        by_quantity.setdefault(change.quantity, []).append(change)
    return [
        QuantityLine(changes[0], tuple(dict.fromkeys(name for c in changes for name in c.scenarios)), len(changes) - 1)
        for changes in by_quantity.values()
    ]


def remarks(entry: LogEntry) -> list[str]:
    """What else there is to know about a commit: that it was taken back, or is on both sides."""
    found = []
    if entry.undone_by is not None:
        found.append(f"taken back by {entry.undone_by[:_SHORT_SHA]}")
    if entry.undoes is not None:
        found.append(f"takes back {entry.undoes[:_SHORT_SHA]}")
    if entry.side == "base":
        found.append("only on the line of the base")
    if entry.twin is not None:
        found.append(f"the same change as {entry.twin[:_SHORT_SHA]} on the other line")
    return found


def title(report: LogReport) -> str:
    """The two ends."""
    return f"{revision_title(report.base)} .. {revision_title(report.head)}"


def verdict(report: LogReport) -> str:
    """How many commits were looked at, and how many of them changed a formula."""
    changed = len(report.entries)
    shown = plural(changed, "commit") if changed else "No commit"
    return f"{shown} of {report.commits:,} changed a formula; {plural(report.extracted, 'formula')} extracted."


def summary(line: QuantityLine, limit: int) -> str:
    """One sentence about what happened to a quantity."""
    text = line.change.summary.removeprefix(f"{line.change.quantity}: ")
    cut = text if len(text) <= limit else f"{text[: limit - 3]}..."
    return f"{cut} (and {plural(line.more, 'more change')})" if line.more else cut
