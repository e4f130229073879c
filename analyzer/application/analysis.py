"""Extracting a ref's formulas once: a ref whose files are the same has the same formulas."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final, Protocol

from analyzer import __version__
from analyzer.domain.errors import AnalyzerError, ExtractionError, SnapshotError
from analyzer.domain.extraction import Extraction, Gap, joined, with_settings
from analyzer.domain.rules import ROOTS, SETTINGS, RuleSet
from analyzer.domain.snapshot import SCHEMA_VERSION, Snapshot
from analyzer.domain.source import Revision
from analyzer.ports import BlobStore, SourceTree

# What one exploration of a tree finds; the last argument is its root.
Extract = Callable[[SourceTree, RuleSet, str], Extraction]
# The results of independent tasks, in their order.
RunAll = Callable[[Sequence[Callable[[], bytes | AnalyzerError]]], Sequence[bytes | AnalyzerError]]

_SNAPSHOTS: Final = "snapshot"
_COMMITS: Final = "commit"
_MANIFESTS: Final = "manifests"
# Enough for every release and the branches between them.
_MAX_MANIFESTS: Final = 400


class SnapshotCodec(Protocol):
    """How a snapshot becomes bytes."""

    def encode(self, snapshot: Snapshot) -> bytes:
        """The bytes of `snapshot`."""
        ...

    def decode(self, content: bytes) -> Snapshot:
        """The snapshot in `content`. Raises SnapshotError."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A revision whose formulas are wanted; its tree is opened only when its commit is new here."""

    revision: Revision
    open_tree: Callable[[], SourceTree]


class Analysis:
    """Extracts refs under one set of rules, and remembers what it extracted.

    The explorations from different roots are extracted, and remembered, apart from each other.
    """

    def __init__(  # noqa: PLR0913 - what is extracted, how, and where it is remembered
        self,
        rules: RuleSet,
        store: BlobStore,
        codec: SnapshotCodec,
        extract: Extract,
        run_all: RunAll,
        *,
        build: str,
    ) -> None:
        """`build` identifies the program: what another one extracted is not trusted."""
        self._rules = rules
        self._run_all = run_all
        self._parts = {
            root: _Part(rules, store, codec, extract, (build, str(SCHEMA_VERSION), rules.digest, root))
            for root in ROOTS
        }

    def prepare(self, requests: Iterable[Request], roots: Collection[str]) -> None:
        """Extract at the same time what `snapshot` will be asked for and nobody knows yet."""
        opened = [replace(request, open_tree=cache(request.open_tree)) for request in requests]
        parts = [self._parts[root] for root in roots]
        wanted = [(part, request) for request in opened for part in parts if not part.knows(request)]
        tasks = [partial(part.encoded, request.open_tree) for part, request in wanted]
        results = self._run_all(tasks) if len(tasks) > 1 else [task() for task in tasks]
        for (part, request), result in zip(wanted, results, strict=True):
            part.take(request, result)

    def snapshot(self, request: Request, roots: Collection[str] = ROOTS) -> Snapshot:
        """The formulas that are found from `roots`.

        The first of them must be there; one that cannot be extracted after it is a gap.
        """
        self.prepare((request,), roots)
        first, *others = roots
        found = self._parts[first].prepared(request.revision)
        for root in others:
            try:
                more = self._parts[root].prepared(request.revision)
            except ExtractionError as error:
                found = without(found, root, str(error), self._rules)
            else:
                found = together(found, more, root)
        return found


def together(found: Snapshot, more: Snapshot, root: str) -> Snapshot:
    """`found` and what an exploration of the ref from `root` found too; the first one names the entry and the path."""
    join = with_settings if root == SETTINGS else joined
    extraction = join(found.extraction, more.extraction)
    return replace(found, extraction=extraction, units={**more.units, **found.units})


def without(found: Snapshot, root: str, error: str, rules: RuleSet) -> Snapshot:
    """`found` where the exploration from `root` failed: what it would have found is a gap."""
    names = tuple(rule.name for rule in rules.quantities.values() if rule.root == root)
    gap, extraction = Gap("", 0, f"from the {root}", error, names), found.extraction
    if root == SETTINGS:
        return replace(found, extraction=replace(extraction, setting_gaps=(*extraction.setting_gaps, gap)))
    return replace(found, extraction=replace(extraction, gaps=(*extraction.gaps, gap)))


def units_of(extraction: Extraction, rules: RuleSet) -> dict[str, str]:
    """The unit of every input and sub-quantity that the rules know."""
    names = extraction.inputs.keys() | extraction.definitions.keys()
    return {name: rules.symbols[name].unit for name in names if name in rules.symbols}


class _Part:
    """The extractions from one root, each done once."""

    def __init__(
        self, rules: RuleSet, store: BlobStore, codec: SnapshotCodec, extract: Extract, identity: tuple[str, ...]
    ) -> None:
        """The last entry of `identity` is the root."""
        self._rules = rules
        self._store = store
        self._codec = codec
        self._extract = extract
        self._root = identity[-1]
        self._prefix = _digest(*identity)
        self._prepared: dict[Revision, Snapshot | AnalyzerError] = {}

    def knows(self, request: Request) -> bool:
        """Whether nothing has to be extracted for `request`."""
        if request.revision not in self._prepared:
            known = self._recall(request)
            if known is None:
                return False
            self._prepared[request.revision] = known
        return True

    def prepared(self, revision: Revision) -> Snapshot:
        """What was found in a revision, given once. Raises ExtractionError."""
        found = self._prepared.pop(revision)
        if isinstance(found, AnalyzerError):
            raise found
        return found

    def encoded(self, open_tree: Callable[[], SourceTree]) -> bytes | AnalyzerError:
        """The snapshot of a tree, or why there is none, as it goes from one process to another."""
        tree = open_tree()
        try:
            extraction = self._extract(tree, self._rules, self._root)
        except AnalyzerError as error:
            return error
        units = units_of(extraction, self._rules)
        return self._codec.encode(Snapshot(tree.revision, extraction, __version__, self._rules.digest, units))

    def take(self, request: Request, result: bytes | AnalyzerError) -> None:
        """Keep what was extracted for `request`."""
        if isinstance(result, AnalyzerError):
            self._prepared[request.revision] = result
            return
        tree = request.open_tree()
        found = replace(self._codec.decode(result), revision=request.revision)
        key = self._snapshot_key(tree, found)
        self._store.put(_SNAPSHOTS, key, result)
        manifest = found.extraction.manifest
        manifests = {_manifest_key(manifest): dict(manifest), **self._manifests()}
        self._store.put(_MANIFESTS, self._prefix, json.dumps(dict(list(manifests.items())[:_MAX_MANIFESTS])).encode())
        self._remember_commit(request.revision, key)
        self._prepared[request.revision] = found

    def _recall(self, request: Request) -> Snapshot | None:
        """What was extracted before from the commit, or from another one with the same files."""
        known = self._recall_commit(request.revision)
        if known is None:
            tree = request.open_tree()
            known = self._recall_manifest(tree)
            if known is not None:
                known = replace(known, revision=request.revision)
                self._remember_commit(request.revision, self._snapshot_key(tree, known))
        return known

    def _remember_commit(self, revision: Revision, key: str) -> None:
        if is_immutable(revision):
            self._store.put(_COMMITS, self._commit_key(revision), key.encode())

    def _recall_commit(self, revision: Revision) -> Snapshot | None:
        if not is_immutable(revision):
            return None
        key = self._store.get(_COMMITS, self._commit_key(revision))
        return None if key is None else self._load(key.decode(), revision)

    def _recall_manifest(self, tree: SourceTree) -> Snapshot | None:
        """The snapshot of another tree that has the same files wherever the extraction looked."""
        for key, manifest in self._manifests().items():
            if all(tree.blob(path) == blob for path, blob in manifest.items()):
                loaded = self._load(self._tree_key(tree, key), tree.revision)
                if loaded is not None:
                    return loaded
        return None

    def _load(self, key: str, revision: Revision) -> Snapshot | None:
        content = self._store.get(_SNAPSHOTS, key)
        if content is None:
            return None
        try:
            return replace(self._codec.decode(content), revision=revision)
        except SnapshotError:
            # The cache may be from another build of the same version; extracting anew repairs it.
            return None

    def _manifests(self) -> Mapping[str, Mapping[str, str | None]]:
        content = self._store.get(_MANIFESTS, self._prefix)
        return json.loads(content) if content is not None else {}

    def _commit_key(self, revision: Revision) -> str:
        return f"{self._prefix}:{revision.commit}"

    def _snapshot_key(self, tree: SourceTree, snapshot: Snapshot) -> str:
        return self._tree_key(tree, _manifest_key(snapshot.extraction.manifest))

    def _tree_key(self, tree: SourceTree, manifest_key: str) -> str:
        # Locations are display paths, which the same files have differently in a wheel and in a clone.
        return f"{self._prefix}:{tree.display_path('sglang/')}:{manifest_key}"


def is_immutable(revision: Revision) -> bool:
    """Whether the revision's label is a git object id, whose content can never change."""
    return len(revision.commit) >= 40 and all(char in "0123456789abcdef" for char in revision.commit)  # noqa: PLR2004 - a SHA-1


def _manifest_key(manifest: Mapping[str, str | None]) -> str:
    return _digest(*(f"{path}={blob}" for path, blob in sorted(manifest.items())))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
