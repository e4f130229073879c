"""Reads SGLang from files on disk: a work tree, a folder, the installed package."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from analyzer.adapters.content import LAYOUTS, MAX_FILE_SIZE, blob_id, is_source, printable
from analyzer.domain.errors import RepositoryError
from analyzer.domain.source import Revision, SourceFile

FOLDER: Final = "FOLDER"


class FolderTree:
    """The files below a folder that holds ``sglang/`` or ``python/sglang/``, as they are on disk."""

    def __init__(self, revision: Revision, folder: Path) -> None:
        """Make a tree of what `folder` holds. Raises RepositoryError when that is not SGLang."""
        self._revision = revision
        self._layout = _find_layout(folder)
        self._root = (folder / self._layout).resolve()
        self._files: dict[str, SourceFile] = {}

    @property
    def revision(self) -> Revision:
        """What this tree is the content of."""
        return self._revision

    def paths(self) -> Sequence[str]:
        """Every Python file, from ``sglang/`` on, sorted."""
        return sorted(self._locations)

    def blob(self, path: str) -> str | None:
        """The id git would give to the content of `path`, or None."""
        file = self.read(path)
        return file.blob if file else None

    def read(self, path: str) -> SourceFile | None:
        """The file at `path` as it was when it was first asked for, or None."""
        location = self._locations.get(path)
        if location is None:
            return None
        if path not in self._files:
            content = _read_file(location)
            self._files[path] = SourceFile(path, blob_id(content), content)
        return self._files[path]

    def display_path(self, path: str) -> str:
        """`path` as a person finds it in the folder."""
        return printable(self._layout + path)

    @cached_property
    def _locations(self) -> dict[str, Path]:
        """The path of each file in the tree, and its place on disk."""
        return dict(self._scan())

    def _scan(self) -> Iterator[tuple[str, Path]]:
        package = self._root / "sglang"
        for folder, _, names in os.walk(package, followlinks=False):
            for name in names:
                location = Path(folder, name)
                path = os.fsencode(location.relative_to(self._root).as_posix()).decode("utf-8", "backslashreplace")
                if is_source(path) and _stays_inside(location, package):
                    yield path, location


@dataclass(frozen=True, slots=True)
class FolderSource:
    """One folder as a source of the one revision that it holds."""

    folder: Path
    label: str = FOLDER
    version: str | None = None

    def resolve(self, spec: str) -> Revision:
        """The content of the folder, whatever it is called."""
        return Revision(spec, printable(str(self.folder)), self.label, self.version)

    def tree(self, revision: Revision) -> FolderTree:
        """The files in the folder."""
        return FolderTree(revision, self.folder)

    def releases(self) -> Sequence[str]:
        """Nothing: a folder does not know the releases."""
        return ()


def is_sglang_folder(folder: Path) -> bool:
    """Whether `folder` holds ``sglang/srt`` or ``python/sglang/srt``."""
    return any(_holds_srt(folder, layout) for layout in LAYOUTS)


def _find_layout(folder: Path) -> str:
    for layout in LAYOUTS:
        if _holds_srt(folder, layout):
            return layout
    raise RepositoryError(
        "the folder holds neither python/sglang/srt nor sglang/srt",
        where=printable(str(folder)),
        hint="give the root of a copy of SGLang",
    )


def _holds_srt(folder: Path, layout: str) -> bool:
    """Whether the package is below `folder` in `layout`, and not a link to somewhere else."""
    runtime = folder / layout / "sglang" / "srt"
    return runtime.is_dir() and runtime.resolve().is_relative_to(folder.resolve())


def _stays_inside(location: Path, package: Path) -> bool:
    """Whether `location` is a regular file of the package, and not a link out of it."""
    try:
        target = location.resolve(strict=True) if location.is_symlink() else location
        return target.is_relative_to(package) and stat.S_ISREG(target.stat().st_mode)
    except (OSError, RuntimeError):  # a dangling link; a loop of links
        return False


def _read_file(location: Path) -> bytes:
    try:
        with location.open("rb") as file:
            content = file.read(MAX_FILE_SIZE + 1)
    except OSError as error:
        raise RepositoryError(
            f"cannot read a source file: {error.strerror}", where=printable(str(location)), hint="check its permissions"
        ) from error
    if len(content) > MAX_FILE_SIZE:
        raise RepositoryError("a source file is larger than 8 MiB", where=printable(str(location)))
    return content
