"""Writing result files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from analyzer.domain.errors import UsageError


def write_file(path: Path, content: bytes) -> None:
    """Write `content` to `path` through a temporary file beside it. Raises UsageError."""
    try:
        if path.exists() and not path.is_file():
            # A pipe or a device cannot be replaced by a file.
            path.write_bytes(content)
        else:
            _replace(path, content)
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(path), hint="check the path given") from error


def make_folder(folder: Path) -> None:
    """Make `folder` where there is none. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder: {error.strerror}", where=str(folder)) from error


def _replace(path: Path, content: bytes) -> None:
    # A link keeps pointing to its file, whose content is what changes.
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
