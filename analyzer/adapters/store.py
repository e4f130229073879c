"""Keeps bytes in the user's cache folder; losing or damaging them costs time, never correctness."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import platformdirs

from analyzer.adapters.content import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.views import CachePart, CacheReport

CACHE_VARIABLE: Final = "SGLANG_ANALYZER_CACHE"
DEFAULT_LIMIT: Final = 512 * 1024 * 1024

_MAGIC: Final = b"SGA1"
_HEADER_SIZE: Final = len(_MAGIC) + hashlib.sha256().digest_size
# The first line is what backup programs look for (the Cache Directory Tagging Specification).
_TAG_NAME: Final = "CACHEDIR.TAG"
_TAG: Final = "Signature: 8a477f597d28d172789f06886806bc55\n# The cache of analyzer; it may be deleted.\n"


class NullStore:
    """A store that keeps nothing."""

    def get(self, kind: str, key: str) -> bytes | None:
        """Find nothing."""
        del kind, key
        return None

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Keep nothing."""


class DiskBlobStore:
    """Files named after the hash of their key, each written whole and checked when read."""

    def __init__(self, root: Path, limit: int = DEFAULT_LIMIT) -> None:
        """Keep at most about `limit` bytes below `root`."""
        self.root = root
        self._limit = limit

    def get(self, kind: str, key: str) -> bytes | None:
        """The bytes stored under `kind` and `key`; None when absent or damaged."""
        try:
            data = self._path(kind, key).read_bytes()
        except OSError:
            return None
        payload = data[_HEADER_SIZE:]
        return payload if data[:_HEADER_SIZE] == _header(payload) else None

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Store `value` atomically; failing to store is never an error."""
        path = self._path(kind, key)
        with contextlib.suppress(OSError):
            prepare_cache(self.root)
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, _header(value) + value)
            # One key in 256 triggers the sweep: often enough, and no counter is shared.
            if path.name.startswith("00"):
                self.sweep()

    def sweep(self) -> None:
        """Delete the oldest files until three quarters of the limit are in use, if it is exceeded."""
        files = sorted(_scan(self._kinds()), key=lambda entry: entry[1].st_mtime)
        excess = sum(status.st_size for _, status in files) - self._limit
        if excess <= 0:
            return
        excess += self._limit // 4
        for path, status in files:
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                excess -= status.st_size

    def _path(self, kind: str, key: str) -> Path:
        digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
        return self.root / kind / digest[:2] / digest

    def _kinds(self) -> Iterator[Path]:
        """The folders of two hexadecimal digits; clones and wheels beside them are not ours."""
        return self.root.glob("*/[0-9a-f][0-9a-f]")


def cache_root() -> Path:
    """The folder of the cache: ``$SGLANG_ANALYZER_CACHE``, else the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("sglang-analyzer", appauthor=False)


def prepare_cache(root: Path) -> None:
    """Make the folder `root` and mark it as a cache; a folder with other content is not marked."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not any(root.iterdir()):
        (root / _TAG_NAME).write_text(_TAG)


def cache_report(root: Path) -> CacheReport:
    """What the cache at `root` holds, one part per folder in it."""
    folders = [path for path in _entries(root) if path.is_dir() and not path.is_symlink()]
    parts = [_part(folder) for folder in folders]
    return CacheReport(root, tuple(sorted(parts, key=lambda part: (-part.size, part.name))))


def _entries(root: Path) -> list[Path]:
    """What is in `root`, nothing when it does not exist. Raises UsageError when it cannot be read."""
    try:
        return sorted(root.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"cannot read the cache: {error.strerror}", where=printable(str(root))) from error


def _part(folder: Path) -> CachePart:
    sizes = [status.st_size for _, status in _scan([folder])]
    return CachePart(folder.name, len(sizes), sum(sizes))


def cache_size(root: Path) -> int:
    """How many bytes the files below `root` have."""
    return sum(status.st_size for _, status in _scan([root]))


def clear_cache(root: Path) -> int:
    """Delete everything below `root` and say how many bytes that was.

    Raises UsageError when `root` is not marked as a cache: a mistyped setting must not empty a
    home folder.
    """
    entries = _entries(root)
    if not entries:
        return 0
    if not _is_marked(root):
        raise UsageError(
            "the folder is not a cache that analyzer made", where=printable(str(root)), hint=f"check ${CACHE_VARIABLE}"
        )
    before = cache_size(root)
    for path in entries:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _TAG_NAME:
            with contextlib.suppress(OSError):
                path.unlink()
    return before - cache_size(root)


def _is_marked(root: Path) -> bool:
    try:
        return (root / _TAG_NAME).read_text() == _TAG
    except (OSError, UnicodeDecodeError):
        return False


def _header(payload: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(payload).digest()


def _write_atomically(path: Path, data: bytes) -> None:
    """Write `data` beside `path` first, so that no reader and no crash sees half of it."""
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _scan(folders: Iterator[Path] | list[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    """Every regular file below `folders` and its status; what vanishes meanwhile is left out."""
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    yield path, path.lstat()
