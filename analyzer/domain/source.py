"""Where code comes from: revisions, files, and places in files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of lines in one file of the analysed repository (1-based, inclusive)."""

    path: str
    line: int
    end_line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Revision:
    """A resolved side of an analysis.

    `commit` is the full object id, or a label such as ``WORKTREE`` when the side is no commit.
    `version` is the PEP 440 release it is known by, if any.
    """

    spec: str
    resolved: str
    commit: str
    version: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The bytes of one file; `blob` identifies the content."""

    path: str
    blob: str
    content: bytes
