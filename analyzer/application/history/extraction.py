"""The formulas of single commits, each extracted once, with what tells whether two are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from analyzer import __version__
from analyzer.application.analysis import SnapshotCodec, units_of
from analyzer.domain.errors import ExtractionError
from analyzer.domain.extraction import Coverage, Extraction, Formula, Gap
from analyzer.domain.history import Found
from analyzer.domain.relevance import Relevance
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import SCHEMA_VERSION, Snapshot
from analyzer.domain.source import Revision
from analyzer.ports import BlobStore, SourceTree

if TYPE_CHECKING:
    from analyzer.application.history.recording import Index

_KIND = "history"
_NOTHING = Coverage(0, 0, 0, 0, ())
_LOST = "lost"
_NOWHERE = Revision("", "", "")


class FoundCodec(Protocol):
    """How what was found becomes bytes."""

    def encode(self, found: Found) -> bytes:
        """The bytes of `found`."""
        ...

    def decode(self, content: bytes) -> Found | None:
        """What is in `content`, or None when it is damaged."""
        ...


class CommitExtractions:
    """Extracts the formulas of commits, and remembers what it found by commit."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is extracted, from where, and how it is remembered
        self,
        rules: RuleSet,
        open_tree: Callable[[str], SourceTree],
        store: BlobStore,
        codec: SnapshotCodec,
        pack: FoundCodec,
        index: Index,
        build: str,
    ) -> None:
        """`index` reads a file; `build` identifies the program: what another one extracted is not trusted."""
        self._rules = rules
        self._open_tree = open_tree
        self._store = store
        self._codec = codec
        self._pack = pack
        self._index = index
        self._settled: dict[str, tuple[Relevance, ...]] = {}
        self._prefix = f"{build}:{SCHEMA_VERSION}:{rules.digest}"

    def extract(self, root: str, sha: str, *, afresh: bool) -> Found:
        """What is found from `root` at one commit; a failure is an answer too.

        Unless `afresh`, it begins with what was found to matter in the commit before: that saves most of the passes.
        """
        key = f"{self._prefix}:{root}:{sha}:{afresh}"
        stored = self._store.get(_KIND, key)
        found = None if stored is None else self._pack.decode(stored)
        if found is None:
            found = self._extract(root, sha, () if afresh else self._settled.get(root, ()))
            self._store.put(_KIND, key, self._pack.encode(found))
        return found

    def _extract(self, root: str, sha: str, before: tuple[Relevance, ...]) -> Found:
        from analyzer.application.extract import extract_with_needs  # noqa: PLC0415 - a warm run never parses

        tree = self._open_tree(sha)
        found, needs = extract_with_needs(tree, self._rules, root, self._index, before)
        if isinstance(found, ExtractionError):
            return Found(_LOST, b"", str(found), needs)
        extraction = found.extraction
        self._settled[root] = found.settled
        content = self._codec.encode(
            Snapshot(tree.revision, extraction, __version__, self._rules.digest, units_of(extraction, self._rules))
        )
        return Found(self._identity(extraction), content, "", needs)

    def _identity(self, extraction: Extraction) -> str:
        """The same for two extractions whose formulas are the same terms, wherever they are written."""
        formulas = replace(
            extraction,
            entry="",
            quantities=_placeless(extraction.quantities),
            definitions=_placeless(extraction.definitions),
            inputs={name: replace(facts, source_names=(), locations=()) for name, facts in extraction.inputs.items()},
            hops=(),
            gaps=_nowhere(extraction.gaps),
            coverage=_NOTHING,
            unit_conversions=(),
            unit_findings=(),
            manifest={},
            calls=(),
            settings=_placeless(extraction.settings),
            setting_gaps=_nowhere(extraction.setting_gaps),
        )
        return hashlib.sha256(self._codec.encode(Snapshot(_NOWHERE, formulas, "", ""))).hexdigest()


def _nowhere(gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    return tuple(sorted((replace(gap, path="", line=0) for gap in gaps), key=repr))


def _placeless(formulas: Mapping[str, Formula]) -> dict[str, Formula]:
    return {name: replace(formula, source_name="", locations=()) for name, formula in formulas.items()}
