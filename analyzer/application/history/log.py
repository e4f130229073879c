"""The use case of `log`: which commits between two revisions changed a formula, and how."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Protocol

from analyzer.application.history.line import Followed, Stretch, broken, cut, together
from analyzer.domain.history import Commit, Line, Point
from analyzer.domain.report import Change, CommitReference, Kind, LogEntry, LogReport
from analyzer.domain.rules import ROOTS

_PULL_REQUEST: Final = re.compile(r"\(#(\d{1,9})\)")


@dataclass(frozen=True, slots=True)
class Task:
    """One stretch to follow from one root; a `cautious` follower looks at every commit that touches a file read."""

    root: str
    stretch: Stretch
    cautious: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One commit, with the formulas before and after it by root.

    Before a commit with which a lost formula comes back stands what was there before it was lost; `restores` says so.
    """

    commit: Commit
    before: Mapping[str, Point]
    after: Mapping[str, Point]
    restores: bool = False


class Workers(Protocol):
    """Who does the work; results come in the order of the tasks."""

    def follow(self, tasks: Sequence[Task]) -> list[Followed]:
        """What is found along stretches."""
        ...

    def compare(self, steps: Sequence[Step]) -> list[tuple[Change, ...]]:
        """What the steps changed."""
        ...


@dataclass(frozen=True, slots=True)
class History:
    """The commits of one line that changed a formula, newest first, and how much was extracted for it.

    `doubtful` are commits to which a change was put down that may have come with an earlier one.
    """

    entries: tuple[LogEntry, ...]
    extracted: int
    doubtful: tuple[str, ...] = ()


def trace_line(line: Line, workers: Workers, roots: Sequence[str] = ROOTS) -> History:
    """The commits of `line` that changed a formula from one of `roots`."""
    if not line.commits:
        return History((), 0)
    stretches = cut(line)
    tasks = [Task(root, stretch) for stretch in stretches for root in roots]
    results = workers.follow(tasks)
    followed = {root: results[number :: len(roots)] for number, root in enumerate(roots)}
    again = [
        (root, number, Task(root, stretches[number], cautious=True))
        for root in roots
        for number in broken(followed[root])
    ]
    for (root, number, _), result in zip(again, workers.follow([task for *_, task in again]), strict=True):
        followed[root][number] = result
    steps = list(_steps(line, {root: together(followed[root]) for root in roots}))
    changes = workers.compare(steps)
    entries = list(_entries(zip(steps, changes, strict=True)))
    extracted = sum(result.extracted for results in followed.values() for result in results)
    doubtful = {stretches[number + 1].start for root in roots for number in broken(followed[root])}
    pairs = _taken_back(entries, steps, workers)
    return History(tuple(_mark_undone(entries, pairs)), extracted, tuple(sorted(doubtful)))


def with_branches(found: History, line: Line, trace_branch: Callable[[str, str], History]) -> History:
    """`found` with the commits that changed a formula on the branches behind the merges that changed one.

    `trace_branch` follows the commits that a merged commit has and a merge's first parent has not.
    """
    merged = {commit.sha: commit.merged for commit in line.commits if commit.merged}
    entries: list[LogEntry] = []
    extracted, doubtful = found.extracted, list(found.doubtful)
    for entry in found.entries:
        entries.append(entry)
        for tip in merged.get(entry.commit.sha, ()):
            branch = trace_branch(entry.commit.sha, tip)
            entries += branch.entries
            extracted += branch.extracted
            doubtful += branch.doubtful
    return History(tuple(entries), extracted, tuple(doubtful))


def _steps(line: Line, points: Mapping[str, Sequence[Point]]) -> Iterator[Step]:
    """The commits at which the formula from some root becomes another one, oldest first.

    While there is none from the first root, the others are compared on their own, in a step of the same commit.
    """
    at = {(root, point.sha): point for root, found in points.items() for point in found}
    current = {root: found[0] for root, found in points.items()}
    sound, first = dict(current), next(iter(points))
    for commit in line.commits:
        following = {root: at.get((root, commit.sha), point) for root, point in current.items()}
        changed = [root for root, point in following.items() if point != current[root]]
        is_lost = bool(following[first].error)
        for roots in ([first], [root for root in changed if root != first]) if is_lost else [list(following)]:
            if not set(roots).isdisjoint(changed):
                restores = any(current[root].error and not following[root].error for root in roots)
                after = {root: following[root] for root in roots}
                yield Step(commit, {root: sound[root] for root in roots}, after, restores)
        current = following
        sound |= {root: point for root, point in following.items() if not point.error}


def _entries(compared: Iterable[tuple[Step, tuple[Change, ...]]]) -> Iterator[LogEntry]:
    """One entry for each commit that changed something."""
    for _, steps in groupby(compared, lambda pair: pair[0].commit.sha):
        found = list(steps)
        changes = tuple(change for _, more in found for change in more)
        if changes:
            yield LogEntry(reference(found[0][0].commit), max(change.kind for change in changes), changes)


def reference(commit: Commit) -> CommitReference:
    """`commit` as reports name it, with the pull request that its subject ends with."""
    requests = _PULL_REQUEST.findall(commit.subject)
    return CommitReference(commit.sha, commit.date, commit.subject, int(requests[-1]) if requests else None)


Key = frozenset[tuple[str, str, str, str]]


def _key(entry: LogEntry) -> Key:
    """What an entry changed, and where in the formulas, as text."""
    return frozenset((change.quantity, change.guard, *_sides(change)) for change in entry.changes if _is_real(change))


def _sides(change: Change) -> tuple[str, str]:
    return (change.before.text if change.before else "", change.after.text if change.after else "")


def _is_real(change: Change) -> bool:
    return change.kind >= Kind.UNIT


def _taken_back(entries: Sequence[LogEntry], steps: Sequence[Step], workers: Workers) -> list[tuple[int, int]]:
    """The pairs of entries, oldest first, whose second leaves nothing of what the first one changed.

    What reads like a change the other way round is one only when the formulas before the first and after the second
    differ in nothing but what others changed in between.
    """
    pairs, spans = list[tuple[int, int]](), list[Step]()
    for older, newer in _reversed(entries):
        before = _points(steps, entries[older], lambda step: step.before)
        after = _points(steps, entries[newer], lambda step: step.after)
        common = [root for root in before if root in after]
        commit = next(step.commit for step in steps if step.commit.sha == entries[newer].commit.sha)
        if common:
            pairs.append((older, newer))
            spans.append(Step(commit, {root: before[root] for root in common}, {root: after[root] for root in common}))
    left = workers.compare(spans)
    return [pair for pair, changes in zip(pairs, left, strict=True) if _is_explained(entries, pair, changes)]


def _points(steps: Sequence[Step], entry: LogEntry, side: Callable[[Step], Mapping[str, Point]]) -> dict[str, Point]:
    """What one side of the steps of an entry is, by root."""
    return {root: point for step in steps if step.commit.sha == entry.commit.sha for root, point in side(step).items()}


def _is_explained(entries: Sequence[LogEntry], pair: tuple[int, int], left: Sequence[Change]) -> bool:
    """Whether what a pair leaves of its quantities is what the entries between its own changed."""
    quantities = {change.quantity for change in entries[pair[0]].changes if _is_real(change)}
    between = {(c.quantity, *_sides(c)) for entry in entries[pair[0] + 1 : pair[1]] for c in entry.changes}
    found = {(c.quantity, *_sides(c)) for c in left if _is_real(c) and c.quantity in quantities}
    return found <= between


def _reversed(entries: Sequence[LogEntry]) -> Iterator[tuple[int, int]]:
    """The pairs of entries, oldest first, whose second reads like the first one the other way round."""
    open_changes: dict[frozenset[tuple[str, str, str]], int] = {}
    for number, entry in enumerate(entries):
        sides = [(change.quantity, *_sides(change)) for change in entry.changes if _is_real(change)]
        taken_back = open_changes.pop(frozenset((name, new, old) for name, old, new in sides), None) if sides else None
        if taken_back is None:
            open_changes[frozenset(sides)] = number
        else:
            yield taken_back, number


def _mark_undone(entries: Sequence[LogEntry], pairs: Sequence[tuple[int, int]]) -> Iterator[LogEntry]:
    """`entries`, oldest first, come out newest first, a change and the one that took it back marked as a pair."""
    found = list(entries)
    for one, other in pairs:
        found[other] = replace(found[other], undoes=entries[one].commit.sha)
        found[one] = replace(found[one], undone_by=entries[other].commit.sha)
    yield from reversed(found)


def mark_twins(head: Sequence[LogEntry], base: Sequence[LogEntry]) -> tuple[LogEntry, ...]:
    """The entries of both sides, newest first; those that made the same change on both name each other."""
    known = {_key(entry): entry.commit.sha for entry in base}
    ours = {_key(entry): entry.commit.sha for entry in head}
    marked = [replace(entry, twin=known.get(_key(entry))) for entry in head]
    marked += [replace(entry, side="base", twin=ours.get(_key(entry))) for entry in base]
    # A side keeps its own order: dates of commits go back and forth.
    return tuple(_merged(marked[: len(head)], marked[len(head) :]))


def _merged(one: list[LogEntry], other: list[LogEntry]) -> Iterator[LogEntry]:
    while one and other:
        newer = one if one[0].commit.date >= other[0].commit.date else other
        yield newer.pop(0)
    yield from (*one, *other)


def selected(report: LogReport, kinds: Sequence[Kind]) -> LogReport:
    """`report` with the changes of the `kinds` asked for; left out, with those that can change a result or a unit."""
    wanted = set(kinds) or {kind for kind in Kind if kind >= Kind.UNIT}
    entries = tuple(
        replace(entry, changes=tuple(change for change in entry.changes if change.kind in wanted))
        for entry in report.entries
        if any(change.kind in wanted for change in entry.changes)
    )
    hidden = len(report.entries) - len(entries)
    if kinds or not hidden:
        return replace(report, entries=entries)
    many = f"{hidden} commits only wrote" if hidden > 1 else "1 commit only wrote"
    note = f"{many} a formula differently, proven to give the same result; --kind refactor lists them"
    return replace(report, entries=entries, notes=(*report.notes, note))
