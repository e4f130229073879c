"""Protocols through which the application reaches the outside world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from analyzer.domain.source import Revision, SourceFile


class SourceTree(Protocol):
    """The files of one revision, read without a checkout."""

    @property
    def revision(self) -> Revision:
        """What this tree is the content of."""
        ...

    def paths(self) -> Sequence[str]:
        """Every ``*.py`` path of the tree, relative to the folder that holds ``sglang/``, sorted.

        Paths begin with ``sglang/`` whatever the layout of the repository (``python/sglang``).
        """
        ...

    def blob(self, path: str) -> str | None:
        """The content id of `path` (git blob id), or None when the tree has no such file."""
        ...

    def read(self, path: str) -> SourceFile | None:
        """The file at `path`, or None when there is none.

        Raises MissingBlobError when a partial clone lacks the content.
        """
        ...

    def display_path(self, path: str) -> str:
        """`path` as a person finds it in the repository (``python/sglang/...``)."""
        ...


class VersionSource(Protocol):
    """Somewhere that revisions come from: a clone, a package index, an installed package."""

    def resolve(self, spec: str) -> Revision:
        """The revision that `spec` names. Raises UnknownRefError with suggestions."""
        ...

    def tree(self, revision: Revision) -> SourceTree:
        """The files of `revision`."""
        ...

    def releases(self) -> Sequence[str]:
        """Every release this source knows, oldest first, as refs."""
        ...


class BlobStore(Protocol):
    """A content-addressed store on disk that survives crashes and concurrent runs."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The bytes stored under `kind` and `key`; None when absent or damaged."""
        ...

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Store `value` atomically; failing to store is never an error."""
        ...


class Progress(Protocol):
    """Where long work reports how far it is (stderr, never stdout)."""

    def note(self, message: str) -> None:
        """Say one line."""
        ...

    def track(self, items: Iterable[str], total: int, label: str) -> Iterable[str]:
        """Yield `items`, showing progress."""
        ...
