"""The one way to read a file that a user wrote or names: no devices, no more than a size, no byte order mark."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from analyzer.adapters.content import MAX_FILE_SIZE

# The largest snapshot of any release has 0.3 MB, a report of diff much the same.
MAX_DATA_SIZE: Final = 8 * MAX_FILE_SIZE
_STDIN: Final = "-"


def read_file(path: Path, *, limit: int = MAX_DATA_SIZE) -> bytes:
    """What the regular file `path` holds. Raises OSError, for what is too large and for what is no file too."""
    with _open(path, stat.S_ISREG) as stream:
        return _read(stream, path, limit)


def read_input(name: str, *, limit: int = MAX_DATA_SIZE) -> bytes:
    """What the file or pipe called `name` holds; ``-`` is stdin. Raises OSError as `read_file` does."""
    if name == _STDIN:
        return _read(sys.stdin.buffer, Path(name), limit)
    with open_input(Path(name)) as stream:
        return _read(stream, Path(name), limit)


def open_input(path: Path) -> BinaryIO:
    """The file or pipe `path`. Raises OSError, for a device too."""
    return _open(path, lambda mode: stat.S_ISREG(mode) or stat.S_ISFIFO(mode))


def _open(path: Path, is_wanted: Callable[[int], bool]) -> BinaryIO:
    # Before it is opened: a pipe that nobody writes to would never open.
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not is_wanted(mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return path.open("rb")


def _read(stream: BinaryIO, path: Path, limit: int) -> bytes:
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit >> 20} MiB", str(path))
    return content.removeprefix(codecs.BOM_UTF8)
