"""The use case of `diff --blame`: each change with the commits that introduced it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.domain.report import Change, CommitReference, DiffReport, Kind, LogEntry


def blame(report: DiffReport, entries: Sequence[LogEntry]) -> DiffReport:
    """`report` with the commits of each change, oldest first; `entries` are those between its sides, newest first.

    What both lines have, and what was taken back, made no difference.
    """
    left = [entry for entry in reversed(entries) if not (entry.twin or entry.undone_by or entry.undoes)]
    return replace(report, changes=tuple(replace(change, commits=_commits(change, left)) for change in report.changes))


def _commits(change: Change, entries: Sequence[LogEntry]) -> tuple[CommitReference, ...]:
    """The commits that made the same change, else all that changed the quantity where it changed."""
    if change.kind is Kind.MOVED:
        return ()
    exact = [entry for entry in entries if any(found.fingerprint == change.fingerprint for found in entry.changes)]
    near = exact or [entry for entry in entries if any(_concerns(found, change) for found in entry.changes)]
    return tuple(entry.commit for entry in near)


def _concerns(found: Change, change: Change) -> bool:
    """Whether a commit's change is about the quantity of `change`, in one of its scenarios, and as strong or real."""
    if found.quantity != change.quantity:
        return False
    is_real = change.kind >= Kind.UNIT
    if (found.kind >= Kind.UNIT) != is_real:
        return False
    return not change.scenarios or not found.scenarios or bool(set(change.scenarios) & set(found.scenarios))
