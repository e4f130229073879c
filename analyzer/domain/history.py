"""The commits between two revisions, and what an extraction needed of the files it looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileChange:
    """A Python file that a commit touched, from ``sglang/`` on; a blob is None where there is no such file."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit and what it changed from its first parent; `date` is the committer's, in ISO 8601.

    `merged` are its other parents.
    """

    sha: str
    date: str
    subject: str
    merged: tuple[str, ...]
    changes: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Commits in a row, oldest first: each changes what the one before it left; the first one, what `start` has.

    Commits that touch no Python file of the package are counted in `total` and left out of `commits`.
    """

    start: str
    commits: tuple[Commit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ClassNeeds:
    """What was asked of one class: its members called `names`, or `every_method`, or `every_field`.

    Of fields that were only listed, the values of `computed` were needed.
    """

    names: frozenset[str]
    every_method: bool
    every_field: bool
    computed: frozenset[str]


@dataclass(frozen=True, slots=True)
class ModuleNeeds:
    """What an extraction asked of one module; a change of anything else cannot change what it found.

    `names` were looked up at the top level; those that are `idle` are there and led to nothing. `every` says that
    all definitions were listed. `bodies` are the qualified names of what was lowered, `touches` of what only the
    names it touches were asked of. `calls`: the registry calls at the top level were made.
    """

    names: frozenset[str]
    idle: frozenset[str]
    every: bool
    classes: Mapping[str, ClassNeeds]
    bodies: frozenset[str]
    touches: frozenset[str]
    calls: bool


@dataclass(frozen=True, slots=True)
class Needs:
    """What an extraction needed to know of its tree.

    `files` maps every path that was asked for to what was asked of it, None where there was no such file.
    `searched` are the paths whose text was searched for `needles`. Of what was not lowered only the writes of
    `relevant` attributes and the calls of `effectful` or `raising` names could matter; None where the extraction
    failed before they were known. `by_name`: naming an attribute writes it, and what raises does not count.
    """

    files: Mapping[str, ModuleNeeds | None]
    searched: frozenset[str]
    needles: frozenset[str]
    relevant: frozenset[str] | None
    effectful: frozenset[str]
    raising: frozenset[str]
    by_name: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What one commit's formula is: `content` is the stored extraction, empty where it failed with `error`.

    `identity` is the same for two commits with the same formula, `needs` what it depends on.
    """

    identity: str
    content: bytes
    error: str
    needs: Needs


@dataclass(frozen=True, slots=True)
class Point:
    """A commit from which on the formula is another one; the first point of a chain is its start."""

    sha: str
    identity: str
    content: bytes
    error: str
