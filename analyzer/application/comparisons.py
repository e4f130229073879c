"""Comparing two commits once: neither of them can ever change."""

from __future__ import annotations

import hashlib
from typing import Final, Protocol

from analyzer.application.analysis import is_immutable
from analyzer.application.diff import KnownDifferences, diff
from analyzer.application.scope import Scope
from analyzer.application.selection import select_roots_to_compare
from analyzer.application.side import Side
from analyzer.domain.report import DiffReport
from analyzer.domain.rules import RuleSet
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

    def __init__(
        self, rules: RuleSet, store: BlobStore, codec: ReportCodec, known: KnownDifferences, *, build: str
    ) -> None:
        self._rules = rules
        self._store = store
        self._codec = codec
        self._known = known
        self._prefix = (build, rules.digest)

    def report(self, base: Side, head: Side, scope: Scope) -> DiffReport:
        """What changed from `base` to `head`, from memory when both are commits seen before."""
        old, new = base.revision, head.revision
        if not (is_immutable(old) and is_immutable(new)):
            return self._compare(base, head, scope)
        # The whole revisions, since a report also says how they were written and understood.
        parts = (*self._prefix, repr(old), repr(new), repr(scope))
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        stored = self._store.get(_DIFFS, key)
        found = self._codec.decode(stored) if stored is not None else None
        if found is None:
            found = self._compare(base, head, scope)
            self._store.put(_DIFFS, key, self._codec.encode(found))
        return found

    def _compare(self, base: Side, head: Side, scope: Scope) -> DiffReport:
        roots = select_roots_to_compare(scope.quantities, self._rules)
        return diff(base.load(roots), head.revision, lambda: head.load(roots), self._rules, scope, self._known)
