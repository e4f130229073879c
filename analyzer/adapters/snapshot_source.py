"""Released versions known from a folder of snapshots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analyzer.adapters.files import read_file
from analyzer.adapters.output import make_folder, write_file
from analyzer.adapters.snapshots import decode_snapshot, encode_snapshot
from analyzer.application.analysis import is_immutable
from analyzer.domain.errors import SnapshotError, UnknownRefError
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision


def shipped_folder() -> Path:
    """The snapshots that belong to this program: in the wheel, or beside the package in a source tree."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "_snapshots"
    return shipped if shipped.is_dir() else package.parent / "snapshots"


class SnapshotSource:
    """Finds the snapshot of a release by its name or by an equal version."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else shipped_folder()

    def releases(self) -> Sequence[str]:
        """Every release in the folder, oldest first."""
        from analyzer.adapters.versions import sort_releases  # noqa: PLC0415 - packaging is slow to import

        return sort_releases(self._names())

    def find(self, spec: str) -> str | None:
        """The name of the snapshot that `spec` means, or None."""
        names = self._names()
        if spec in names:
            return spec
        from analyzer.adapters.versions import find_equal  # noqa: PLC0415 - packaging is slow to import

        return find_equal(spec, names)

    def load(self, spec: str) -> Snapshot:
        """The snapshot of the release that `spec` names. Raises UnknownRefError, SnapshotError."""
        name = self.find(spec)
        if name is None:
            raise self._unknown(spec)
        snapshot = read_snapshot(self.folder / f"{name}.json")
        note = None if name == spec else f"{spec} resolved to snapshot {name}"
        return replace(snapshot, revision=replace(snapshot.revision, spec=spec, note=note))

    def of_commit(self, revision: Revision) -> Snapshot | None:
        """The snapshot of the commit of `revision`; None where there is none that can be read."""
        name = self.find(revision.version) if revision.version else None
        if name is None or not is_immutable(revision):
            return None
        try:
            found = read_snapshot(self.folder / f"{name}.json")
        except SnapshotError:
            return None
        return replace(found, revision=revision) if found.revision.commit == revision.commit else None

    def _names(self) -> list[str]:
        return [path.stem for path in self.folder.glob("*.json")]

    def _unknown(self, spec: str) -> UnknownRefError:
        from analyzer.adapters.versions import suggestion_hint  # noqa: PLC0415 - packaging is slow to import

        hint = suggestion_hint(spec, self._names(), "give a clone of SGLang with --repo")
        return UnknownRefError(f"no snapshot of {spec!r}", where=str(self.folder), hint=hint)


def accepted_snapshot(folder: Path, revision: Revision) -> Snapshot | None:
    """What was accepted for `revision` in `folder`, else for the newest release before it; None when nothing was.

    A revision without a version follows the newest release. Raises SnapshotError.
    """
    from analyzer.adapters.versions import find_equal, is_below, sort_releases  # noqa: PLC0415 - as above

    names = [path.stem for path in folder.glob("*.json")]
    own = Path(snapshot_name(revision)).stem
    equal = own if own in names else find_equal(revision.version or "", names)
    before = [name for name in sort_releases(names) if not revision.version or is_below(name, revision.version)]
    chosen = equal or (before[-1] if before else None)
    return None if chosen is None else read_snapshot(folder / f"{chosen}.json")


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot in the file `path`. Raises SnapshotError."""
    try:
        content = read_file(path)
    except OSError as error:
        raise SnapshotError(f"cannot read the snapshot: {error.strerror}", where=str(path)) from error
    return decode_snapshot(content, name=str(path))


def write_snapshot(snapshot: Snapshot, folder: Path) -> str:
    """Write `snapshot` into `folder` under the name of its ref, and say where. Raises UsageError."""
    path = folder / snapshot_name(snapshot.revision)
    make_folder(folder)
    write_file(path, encode_snapshot(snapshot))
    return str(path)


def snapshot_name(revision: Revision) -> str:
    """The file name of the snapshot of `revision`, safe on every file system; an archive goes by its release."""
    released = revision.version is not None and not is_immutable(revision)
    return re.sub(r"[^\w.+-]", "_", f"v{revision.version}" if released else revision.resolved) + ".json"
