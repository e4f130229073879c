"""Reads SGLang from a wheel or an sdist, in memory: nothing is unpacked and nothing is built."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from analyzer.adapters.content import MAX_FILE_SIZE, blob_id, holds_srt, is_source, printable
from analyzer.domain.errors import RepositoryError
from analyzer.domain.source import Revision, SourceFile

# The largest release unpacks to a tenth of this; a tar has to be decompressed to be listed.
_MAX_UNPACKED_SIZE: Final = 1 << 30
# A wheel holds the package at its top, an sdist in a folder of its own.
_PACKAGE_FOLDER: Final = re.compile(r"(?:[^/]+/)?(?:python/)?(?=sglang/)")
# What the standard library is seen to raise on damaged, encrypted or unsupported archives.
_DAMAGE: Final = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
)


def archive_version(name: str) -> str | None:
    """The version in the file name of an archive; None when it does not follow the standard."""
    try:
        if name.endswith(".whl"):
            return str(parse_wheel_filename(name)[1])
        return str(parse_sdist_filename(name)[1])
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


class ArchiveTree:
    """The Python files of one archive."""

    def __init__(self, revision: Revision, archive: Path) -> None:
        """List `archive`. Raises RepositoryError when it is damaged or does not hold SGLang."""
        self._revision = revision
        self._where = printable(str(archive))
        with self._damage_is_an_error():
            members = _open_wheel(archive) if archive.suffix == ".whl" else _open_sdist(archive)
        self._prefix, self._members = _choose_package(members)
        self._files: dict[str, SourceFile] = {}
        if not holds_srt(self._members):
            raise RepositoryError(
                "the archive holds no sglang/srt", where=self._where, hint="give a wheel or sdist of sglang"
            )

    @property
    def revision(self) -> Revision:
        """What this tree is the content of."""
        return self._revision

    def paths(self) -> Sequence[str]:
        """Every Python file, from ``sglang/`` on, sorted."""
        return sorted(self._members)

    def blob(self, path: str) -> str | None:
        """The id git would give to the content of `path`, or None."""
        file = self.read(path)
        return file.blob if file else None

    def read(self, path: str) -> SourceFile | None:
        """The file at `path`, or None."""
        if path not in self._members:
            return None
        if path not in self._files:
            with self._damage_is_an_error():
                content = self._members[path]()
            if len(content) > MAX_FILE_SIZE:
                raise RepositoryError(f"{printable(path)} is larger than 8 MiB", where=self._where)
            self._files[path] = SourceFile(path, blob_id(content), content)
        return self._files[path]

    def display_path(self, path: str) -> str:
        """`path` as a person finds it in the archive."""
        return printable(self._prefix + path)

    @contextmanager
    def _damage_is_an_error(self) -> Iterator[None]:
        """Turn what the archive libraries raise on bad data into one line."""
        try:
            yield
        except _DAMAGE as error:
            raise RepositoryError(
                f"the archive is damaged: {printable(str(error))}", where=self._where, hint="download it again"
            ) from error
        except OSError as error:
            raise RepositoryError(
                f"cannot read the archive: {printable(error.strerror or str(error))}", where=self._where
            ) from error


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """One wheel or sdist as a source of the one revision that it holds."""

    archive: Path

    def resolve(self, spec: str) -> Revision:
        """The content of the archive, whatever it is called."""
        return Revision(spec, printable(str(self.archive)), self.archive.name, archive_version(self.archive.name))

    def tree(self, revision: Revision) -> ArchiveTree:
        """The files in the archive."""
        return ArchiveTree(revision, self.archive)

    def releases(self) -> Sequence[str]:
        """Nothing: an archive does not know the releases."""
        return ()


_Reader = Callable[[], bytes]


class _Wheel:
    """The members of a wheel, for this process and those that are forked from it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()

    def names(self) -> Sequence[str]:
        """The names of the members."""
        return self._archive.namelist()

    def read(self, name: str) -> bytes:
        """What a member holds, no more than one byte over the limit: that tells a file that lies about its size."""
        if self._owner != os.getpid():
            # A forked process shares the place in the file with its parent.
            self._open()
        with self._archive.open(name) as member:
            return member.read(MAX_FILE_SIZE + 1)

    def _open(self) -> None:
        self._archive = zipfile.ZipFile(self._path)
        self._owner = os.getpid()


def _open_wheel(path: Path) -> dict[str, _Reader]:
    wheel = _Wheel(path)
    return {name: partial(wheel.read, name) for name in wheel.names() if name.endswith(".py")}


def _open_sdist(path: Path) -> dict[str, _Reader]:
    members: dict[str, _Reader] = {}
    with gzip.open(path) as unpacked, tarfile.open(fileobj=_Bounded(unpacked), mode="r|") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".py"):
                file = archive.extractfile(member)
                content = file.read(MAX_FILE_SIZE + 1) if file else b""
                members[member.name] = lambda content=content: content  # type: ignore[misc]
    return members


class _Bounded(io.RawIOBase):
    """A stream that gives up when more comes out of it than any release holds."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._left = _MAX_UNPACKED_SIZE

    def read(self, size: int = -1) -> bytes:
        """Read on, up to the limit."""
        data = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            message = "it unpacks to more than 1 GiB"
            raise tarfile.ReadError(message)
        return data


def _choose_package(members: Mapping[str, _Reader]) -> tuple[str, dict[str, _Reader]]:
    """The folder that holds ``sglang/``, and the members below it by their path from there."""
    folders: dict[str, dict[str, _Reader]] = {}
    for name, reader in members.items():
        folder = _PACKAGE_FOLDER.match(name)
        if folder and is_source(name[folder.end() :]):
            folders.setdefault(folder[0], {})[name[folder.end() :]] = reader
    return max(folders.items(), key=lambda item: len(item[1]), default=("", {}))
