"""Picks the adapters that a command needs, and no other."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

from analyzer import __version__
from analyzer.application.side import Side
from analyzer.domain.errors import AnalyzerError, RepositoryError, UnknownRefError, UsageError
from analyzer.domain.extraction import Extraction, without_settings
from analyzer.domain.rules import QUANTITY_ROOTS, ROOTS, RUNNER, SETTINGS, RuleSet
from analyzer.domain.settings import Settings
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from analyzer.ports import BlobStore, Progress, SourceTree, VersionSource

if TYPE_CHECKING:
    from analyzer.adapters.git import GitRepository
    from analyzer.adapters.snapshot_source import SnapshotSource
    from analyzer.application.analysis import Analysis, Request
    from analyzer.application.comparisons import Comparisons
    from analyzer.application.history.comparing import StepComparisons
    from analyzer.application.history.extraction import CommitExtractions
    from analyzer.application.history.memory import Logs
    from analyzer.application.history.recording import Index
    from analyzer.application.scope import Scope
    from analyzer.application.snapshot import WrittenSnapshot

# Adapters are imported where they are chosen: a warm run needs few of them, and each costs start-up time.
# ruff: noqa: PLC0415

T = TypeVar("T")

REPOSITORY_VARIABLE: Final = "SGLANG_REPO"
REMOTE_VARIABLE: Final = "SGLANG_ANALYZER_REMOTE"
DEFAULT_REMOTE: Final = "https://github.com/sgl-project/sglang.git"
SOURCES: Final = ("git", "pypi", "snapshot")
_INSTALLED: Final = "INSTALLED"
_ARCHIVES: Final = (".whl", ".tar.gz")
_PATH_STARTS: Final = ("/", "./", "../", "~")
# A build from a commit says so in its version.
_BUILT_FROM: Final = re.compile(r"\+g([0-9a-f]{7,40})")
_PUBLIC: Final = re.compile(r"v?\d+(?:\.\d+)*(?:(?:rc|a|b|\.post|\.dev)\d+)*")


class Silent:
    """Progress that nobody sees."""

    def note(self, message: str) -> None:
        """Say nothing."""

    def track(self, items: Iterable[str], total: int, label: str) -> Iterable[str]:
        """Yield `items`."""
        del total, label
        return items


@dataclass(frozen=True, slots=True)
class Options:
    """Where code, rules and the cache come from; every field has a default that suits most people.

    `source` is None (the best there is), ``git``, ``pypi`` or ``snapshot``. `project` is the folder whose
    settings hold, None for no settings.
    """

    repo: Path | None = None
    source: str | None = None
    rules: Path | None = None
    use_cache: bool = True
    project: Path | None = None
    progress: Progress = field(default_factory=Silent)


class Workspace:
    """The sources, rules and cache of one command; close it to end what it started."""

    def __init__(self, options: Options) -> None:
        if options.source is not None and options.source not in SOURCES:
            raise UsageError(f"unknown source '{options.source}'", hint=f"known are {', '.join(SOURCES)}")
        self._options = options
        self._exit = ExitStack()
        self._sides: dict[str, Side] = {}
        # What is to be extracted for a revision; None where its snapshot ships.
        self._requests: dict[Revision, Callable[[], Request | None]] = {}
        self._no_clone: RepositoryError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._exit.close()

    @property
    def options(self) -> Options:
        """What it was made with."""
        return self._options

    @cached_property
    def rules(self) -> RuleSet:
        """The rules in use."""
        from analyzer.adapters.rules import load_rules

        return load_rules(self._options.rules)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the project."""
        if self._options.project is None:
            return Settings()
        from analyzer.adapters.settings import load_settings
        from analyzer.render.formats import FORMATS

        return load_settings(self._options.project, self.rules, tuple(FORMATS))

    def side(self, spec: str) -> Side:
        """What `spec` names: a ref, a release, an archive, a folder or the installed package.

        It is resolved once, so that all that a workspace says of it is about the same source.
        """
        if spec not in self._sides:
            side = self._find_side(spec)
            self._sides[spec] = Side(side.revision, _once(side.load))
        return self._sides[spec]

    def sides(self, *specs: str) -> tuple[Side, ...]:
        """What each of `specs` names; loading one of them extracts what the others need at the same time."""
        sides = tuple(map(self.side, specs))

        def prepare(roots: Collection[str]) -> None:
            asked = [self._requests[side.revision]() for side in sides if side.revision in self._requests]
            self._analysis.prepare([request for request in asked if request is not None], roots)

        prepared = _once(prepare)

        def load(side: Side, roots: Collection[str]) -> Snapshot:
            prepared(roots)
            return side.load(roots)

        return tuple(replace(side, load=partial(load, side)) for side in sides)

    def _find_side(self, spec: str) -> Side:
        if self._options.source == "snapshot":
            return self._stored(self.snapshots, spec)
        local = _local_source(spec)
        if local is not None:
            return self._extracted(local, spec)
        if self._options.source == "pypi":
            return self._extracted(self._package_index, spec)
        if self._clone_path is None and self._options.source is None:
            folder = _folder_source(spec)
            return self._extracted(folder, spec) if folder is not None else self._without_clone(spec)
        return self._in_clone(spec)

    def snapshot(self, spec: str, roots: Collection[str] = QUANTITY_ROOTS) -> Snapshot:
        """The formulas of `spec` that are found from `roots`."""
        return self.side(spec).load(roots)

    def release(self, version: str | None) -> Snapshot | None:
        """The formulas of the version that a log names; None when it names none that is known here."""
        if version is None:
            return None
        commit = _BUILT_FROM.search(version)
        try:
            return self.snapshot(commit.group(1) if commit is not None else version)
        except UnknownRefError as error:
            # The rest of it may name what is nobody's business.
            public = _PUBLIC.match(version)
            named = "" if public is None else f", {'' if public[0] == version else 'a build of '}{public[0]},"
            advice = f"; {error.hint}" if error.hint else ""
            self._options.progress.note(f"the version in the log{named} is not known here{advice}")
            return None

    def neighbours(self, found: Snapshot | None) -> Iterator[Snapshot]:
        """The formulas of the releases just after and just before that of `found`."""
        from analyzer.adapters.versions import is_below, sort_releases

        version = found.revision.version if found is not None else None
        if version is None:
            return
        names = sort_releases(self._known_releases())
        newer = [name for name in names if is_below(version, name)][:1]
        older = [name for name in names if is_below(name, version)][-1:]
        for name in (*newer, *older):
            try:
                yield self.snapshot(name)
            except AnalyzerError as error:
                self._options.progress.note(f"{name} could not be compared with: {error}")

    def note(self, message: str) -> None:
        """Say something that no report has a place for."""
        self._options.progress.note(message)

    def releases(self, first: str | None = None, last: str | None = None) -> Sequence[str]:
        """The releases from `first` to `last`, oldest first; a `last` that is no release follows them all.

        Raises UnknownRefError, and RepositoryError where no release can be read.
        """
        from analyzer.adapters.versions import releases_between

        names = self._package_index.releases() if self._options.source == "pypi" else self._known_releases()
        if not names:
            hint = "give a clone of SGLang with --repo, or --source pypi"
            raise RepositoryError("there are no releases to read here", hint=hint)
        return releases_between(names, first, last)

    def track(self, items: Sequence[str], label: str) -> Iterable[str]:
        """`items`, with progress shown while they are worked on."""
        return self._options.progress.track(items, len(items), label)

    def _known_releases(self) -> Sequence[str]:
        return self.versions.releases() if self._has_clone else self.snapshots.releases()

    @property
    def _has_clone(self) -> bool:
        return self._options.source in (None, "git") and self._clone_path is not None

    @property
    def versions(self) -> VersionSource:
        """The clone that refs are resolved in."""
        return self.clone

    @cached_property
    def clone(self) -> GitRepository:
        """The clone, made when there is none."""
        from analyzer.adapters.git import GitRepository

        path = self._clone_path
        if path is not None:
            return self._exit.enter_context(GitRepository(path, may_fetch=path == self._own_clone))
        return self._exit.enter_context(GitRepository(self._made_clone(), may_fetch=True))

    def _made_clone(self) -> Path:
        """The clone, made now; what failed once is not tried again for the next ref."""
        from analyzer.adapters.clone import clone_to_cache

        if self._no_clone is not None:
            raise self._no_clone
        url = os.environ.get(REMOTE_VARIABLE) or DEFAULT_REMOTE
        try:
            return clone_to_cache(url, self._own_clone, self._options.progress)
        except RepositoryError as error:
            self._no_clone = error
            raise

    @cached_property
    def snapshots(self) -> SnapshotSource:
        """The snapshots that ship with the program."""
        from analyzer.adapters.snapshot_source import SnapshotSource

        return SnapshotSource()

    @cached_property
    def _clone_path(self) -> Path | None:
        """The clone to read: given, in the environment, in the settings, around this folder, or made before."""
        given = self._options.repo or os.environ.get(REPOSITORY_VARIABLE) or self.settings.repository
        if given:
            return Path(given).expanduser()
        from analyzer.adapters.git import find_clone

        return find_clone(Path.cwd()) or (self._own_clone if self._own_clone.is_dir() else None)

    @cached_property
    def _cache(self) -> Path:
        from analyzer.adapters.store import cache_root

        return cache_root()

    @property
    def _own_clone(self) -> Path:
        return self._cache / "sglang.git"

    @cached_property
    def _package_index(self) -> VersionSource:
        from analyzer.adapters.package_index import PackageIndexSource

        return PackageIndexSource(self._cache / "wheels", self._options.progress)

    @cached_property
    def _store(self) -> BlobStore:
        from analyzer.adapters.store import DiskBlobStore, NullStore

        return DiskBlobStore(self._cache) if self._options.use_cache else NullStore()

    @cached_property
    def _analysis(self) -> Analysis:
        from analyzer.adapters import snapshots
        from analyzer.application.analysis import Analysis

        return Analysis(self.rules, self._store, snapshots.SnapshotJson(), self._extract, _at_once, build=_build_id())

    def write_snapshots(self, refs: Iterable[str], folder: Path) -> Iterator[WrittenSnapshot]:
        """Write all that is found in each of `refs` into `folder`; a ref that fails does not stop the others."""
        from analyzer.adapters.snapshot_source import write_snapshot
        from analyzer.application.snapshot import write_snapshots

        def found(ref: str) -> Snapshot:
            return self.snapshot(ref, ROOTS)

        return write_snapshots(refs, found, lambda snapshot: write_snapshot(snapshot, folder))

    def write_relevance(self, folder: Path) -> None:
        """Keep in `folder` what matters in the newest release of a clone: extracting begins with it.

        Raises ExtractionError.
        """
        if not self._has_clone:
            return
        from analyzer.adapters.relevance_file import write_relevance
        from analyzer.application.extract import explore

        newest = self.releases()[-1]
        tree = self.versions.tree(self.versions.resolve(newest))
        # Most of what matters for the default fraction of a release does not for that of another.
        for root in (RUNNER, SETTINGS):
            (found,) = explore(tree, self.rules, root).settled
            write_relevance(folder, root, newest, found)

    def _extract(self, tree: SourceTree, rules: RuleSet, root: str) -> Extraction:
        from analyzer.adapters.relevance_file import read_relevance
        from analyzer.application.extract import extract

        return extract(tree, rules, root, read_relevance(self.snapshots.folder, root))

    @cached_property
    def comparisons(self) -> Comparisons:
        """The memory of comparisons."""
        from analyzer.adapters.reports import ReportPack
        from analyzer.adapters.shipped_differences import ShippedDifferences
        from analyzer.application.comparisons import Comparisons

        known = ShippedDifferences(self.snapshots.folder)
        return Comparisons(self.rules, self._store, ReportPack(), known, build=_comparing_build_id())

    @cached_property
    def logs(self) -> Logs:
        """The memory of histories."""
        from analyzer.adapters.history_pack import LogPack
        from analyzer.application.history.memory import Logs

        return Logs(self.rules, self._store, LogPack(), build=_comparing_build_id())

    def commit_extractions(self, index: Index) -> CommitExtractions:
        """The extractions of single commits of the clone; `index` reads a file."""
        from analyzer.adapters.history_pack import HistoryPack
        from analyzer.adapters.snapshots import SnapshotJson
        from analyzer.application.history.extraction import CommitExtractions

        def open_tree(sha: str) -> SourceTree:
            return self.clone.tree(Revision(sha, sha, sha))

        return CommitExtractions(self.rules, open_tree, self._store, SnapshotJson(), HistoryPack(), index, _build_id())

    def step_comparisons(self, scope: Scope) -> StepComparisons:
        """The comparisons of single commits with what was before them."""
        from analyzer.adapters.reports import ReportPack
        from analyzer.adapters.snapshots import SnapshotJson
        from analyzer.application.history.comparing import StepComparisons

        return StepComparisons(self.rules, self._store, SnapshotJson(), ReportPack(), scope, _comparing_build_id())

    def _extracted(self, source: VersionSource, spec: str) -> Side:
        from analyzer.application.analysis import Request

        revision = source.resolve(spec)
        request = Request(revision, lambda: source.tree(revision))
        shipped = cache(partial(self._shipped, revision))

        def load(roots: Collection[str]) -> Snapshot:
            found = shipped()
            return self._analysis.snapshot(request, roots) if found is None else self._from_roots(found, roots)

        self._requests[revision] = lambda: request if shipped() is None else None
        return Side(revision, load)

    def _shipped(self, revision: Revision) -> Snapshot | None:
        """What this very program found in the commit of a release, when it was asked with the rules in use.

        A source tree does not trust its snapshots: they may be older than its code.
        """
        if not self._options.use_cache or not _is_installed():
            return None
        found = self.snapshots.of_commit(revision)
        if found is None or found.rules_digest != self.rules.digest or found.tool_version != __version__:
            return None
        return found

    def _stored(self, source: SnapshotSource, spec: str) -> Side:
        snapshot = source.load(spec)
        return Side(snapshot.revision, lambda roots: self._from_roots(snapshot, roots))

    def _from_roots(self, found: Snapshot, roots: Collection[str]) -> Snapshot:
        """A stored snapshot without what comes from other roots: an extraction would not have it either."""
        rules = self.rules.quantities
        kept = {
            name: formula
            for name, formula in found.extraction.quantities.items()
            if name not in rules or rules[name].root in roots
        }
        extraction = replace(found.extraction, quantities=kept)
        if SETTINGS not in roots:
            extraction = without_settings(extraction)
        return replace(found, extraction=extraction)

    def _in_clone(self, spec: str) -> Side:
        """A ref of the clone; a folder of that name counts only when there is no such ref."""
        try:
            return self._extracted(self.versions, spec)
        except UnknownRefError:
            folder = _folder_source(spec)
            if folder is None:
                raise
            return self._extracted(folder, spec)

    def _without_clone(self, spec: str) -> Side:
        """A release from its snapshot when that was made with the rules in use, else from a clone to be made.

        Where no clone can be made, a snapshot made with other rules is better than nothing.
        """
        if self.snapshots.find(spec) is None:
            from analyzer.adapters.versions import parse_version

            if parse_version(spec) is not None and self._clone_path is None:
                said = f"{spec} is no release whose snapshot ships with this program, so that a clone of SGLang is made"
                self._options.progress.note(f"{said}; --source pypi reads a release without one")
            return self._extracted(self.versions, spec)
        stored = self.snapshots.load(spec)
        if stored.rules_digest != self.rules.digest:
            known = self._no_clone
            try:
                return self._extracted(self.versions, spec)
            except RepositoryError as error:
                if error is not known:
                    self._options.progress.note(f"{error}; the snapshot in use was made with other rules")
        self._options.progress.note(f"no clone of SGLang here: {spec} is taken from a snapshot")
        return self._stored(self.snapshots, spec)


def _at_once(tasks: Sequence[Callable[[], bytes | AnalyzerError]]) -> Sequence[bytes | AnalyzerError]:
    """The results of extractions, each in a process of its own."""
    import analyzer.application.extract  # noqa: F401 - what is imported by now, no process has to import again
    from analyzer.adapters.workers import run_all

    return run_all(tasks)


def _once(load: Callable[[Collection[str]], T]) -> Callable[[Collection[str]], T]:
    """`load`, done once for the same roots."""
    known: dict[frozenset[str], T] = {}

    def recall(roots: Collection[str]) -> T:
        wanted = frozenset(roots)
        if wanted not in known:
            known[wanted] = load(roots)
        return known[wanted]

    return recall


def _local_source(spec: str) -> VersionSource | None:
    """The source behind a spec that can only mean something on this machine, never a ref."""
    if spec == _INSTALLED:
        from analyzer.adapters.installed import installed_source

        return installed_source()
    path = Path(spec).expanduser()
    if spec.endswith(_ARCHIVES):
        from analyzer.adapters.wheel import ArchiveSource

        if not path.is_file():
            raise RepositoryError(f"there is no file {spec}", hint="give the path of a wheel or sdist")
        return ArchiveSource(path)
    if not spec.startswith(_PATH_STARTS) and spec not in (".", ".."):
        return None
    from analyzer.adapters.folder import FolderSource

    if not path.is_dir():
        raise RepositoryError(f"there is no folder {spec}", hint="give the root of a copy of SGLang")
    return FolderSource(path)


def _folder_source(spec: str) -> VersionSource | None:
    """The source behind the name of a folder that holds SGLang."""
    from analyzer.adapters.folder import FolderSource, is_sglang_folder

    return FolderSource(Path(spec)) if is_sglang_folder(Path(spec)) else None


def _build_id() -> str:
    """What identifies this program in the cache; in a source tree also the state of its files."""
    if _is_installed():
        return __version__
    package = Path(__file__).resolve().parent.parent
    states = sorted((path.stat().st_mtime_ns, path.name) for path in package.rglob("*.py"))
    return f"{__version__}+{hashlib.sha256(repr(states).encode()).hexdigest()}"


def _comparing_build_id() -> str:
    """What identifies this program where it compares: with a solver it decides more."""
    from analyzer.compare.solver import is_installed

    return f"{_build_id()}+smt" if is_installed() else _build_id()


def _is_installed() -> bool:
    """Whether this program is built from a release, and no source tree that somebody may be working on."""
    return (Path(__file__).resolve().parent.parent / "_rules").is_dir()
