"""Comparing two commits once: neither of them can ever change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, Protocol

from analyzer.application.analysis import is_immutable
from analyzer.application.scope import Scope
from analyzer.domain.report import DiffReport
from analyzer.domain.rules import RuleSet
from analyzer.domain.source import Revision
from analyzer.ports import BlobStore

_DIFFS: Final = "diff"


class ReportCodec(Protocol):
    """How a comparison becomes bytes."""

    def encode(self, report: DiffReport) -> bytes:
        """The bytes of `report`."""
        ...

    def decode(self, content: bytes) -> DiffReport | None:
        """The report in `content`, or None when it is damaged."""
        ...


class Comparisons:
    """Remembers comparisons made under one set of rules by one build of the program."""

    def __init__(self, rules: RuleSet, store: BlobStore, codec: ReportCodec, *, build: str) -> None:
        self._store = store
        self._codec = codec
        self._prefix = (build, rules.digest)

    def report(self, base: Revision, head: Revision, scope: Scope, compare: Callable[[], DiffReport]) -> DiffReport:
        """What `compare` says of two revisions, from memory when both are commits seen before."""
        if not (is_immutable(base) and is_immutable(head)):
            return compare()
        # The whole revisions, since a report also says how they were written and understood.
        parts = (*self._prefix, repr(base), repr(head), repr(scope))
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        stored = self._store.get(_DIFFS, key)
        found = self._codec.decode(stored) if stored is not None else None
        if found is None:
            found = compare()
            self._store.put(_DIFFS, key, self._codec.encode(found))
        return found
