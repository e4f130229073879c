"""Cuts a line of commits into stretches that can be followed at the same time, and puts the results together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from analyzer.domain.history import Commit, Line, Point

# One commit in so many begins a stretch; which ones is read off their ids, the same for every range.
_STRETCH: Final = 128


@dataclass(frozen=True, slots=True)
class Stretch:
    """Commits in a row, after the commit `start`."""

    start: str
    commits: tuple[Commit, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """What was found along one stretch, and how many formulas had to be extracted for it."""

    points: tuple[Point, ...]
    extracted: int


def cut(line: Line) -> tuple[Stretch, ...]:
    """The stretches of `line`, oldest first; the last one has no commits, so that what is at the end is looked at."""
    found: list[Stretch] = []
    start, commits = line.start, list[Commit]()
    for commit in line.commits:
        commits.append(commit)
        if int(commit.sha[:8], 16) % _STRETCH == 0:
            found.append(Stretch(start, tuple(commits)))
            start, commits = commit.sha, []
    if commits:
        found.append(Stretch(start, tuple(commits)))
    end = line.commits[-1].sha if line.commits else line.start
    return (*found, Stretch(end, ()))


def broken(followed: Sequence[Followed]) -> Iterator[int]:
    """The stretches at whose end another formula was found than the next one begins with: they missed a change."""
    for number, (one, following) in enumerate(pairwise(followed)):
        if one.points[-1].identity != following.points[0].identity:
            yield number


def together(followed: Sequence[Followed]) -> tuple[Point, ...]:
    """The points of the whole line: its start, then every commit that changed the formula.

    Where stretches do not fit even so, the change is put down to the commit at which the later one begins.
    """
    points = [followed[0].points[0]]
    for point in chain.from_iterable(stretch.points for stretch in followed):
        if point.identity != points[-1].identity:
            points.append(point)
    return tuple(points)
