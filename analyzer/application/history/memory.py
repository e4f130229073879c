"""Following the history between two commits once: none of it can ever change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from analyzer.application.scope import Scope
from analyzer.domain.report import LogReport
from analyzer.domain.rules import RuleSet
from analyzer.domain.source import Revision
from analyzer.ports import BlobStore

_KIND: Final = "log"


class LogCodec(Protocol):
    """How a report becomes bytes."""

    def encode(self, report: LogReport) -> bytes:
        """The bytes of `report`."""
        ...

    def decode(self, content: bytes) -> LogReport | None:
        """The report in `content`, or None when it is damaged."""
        ...


class Logs:
    """Remembers reports made under one set of rules by one build of the program."""

    def __init__(self, rules: RuleSet, store: BlobStore, codec: LogCodec, *, build: str) -> None:
        self._store = store
        self._codec = codec
        self._prefix = (build, rules.digest)

    def report(
        self, base: Revision, head: Revision, scope: Scope, line: str, find: Callable[[], LogReport]
    ) -> LogReport:
        """What `find` says of two commits, from memory when they were seen before; `line` says what is between them."""
        # The whole revisions, since a report also says how they were written and understood.
        key = "\0".join((*self._prefix, repr(base), repr(head), repr(scope), line))
        stored = self._store.get(_KIND, key)
        found = None if stored is None else self._codec.decode(stored)
        if found is None:
            found = find()
            self._store.put(_KIND, key, self._codec.encode(found))
        return found
