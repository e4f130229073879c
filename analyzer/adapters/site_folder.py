"""A folder of generated pages: written file by file, compared without writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from analyzer.adapters.output import write_file
from analyzer.domain.errors import UsageError

# Lists what was generated, so that a page that is no longer made can be told from a file of somebody else.
_LISTING: Final = "generated-files.txt"


def write_site(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` into `folder`, and delete what an earlier run made and this one does not. Raises UsageError."""
    gone = _listed(folder) - files.keys()
    try:
        for address in sorted({str(PurePosixPath(address).parent) for address in files}):
            (folder / address).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder: {error.strerror}", where=str(folder)) from error
    for address, content in files.items():
        if _read(folder / address) != content:
            write_file(folder / address, content)
    write_file(folder / _LISTING, _listing(files))
    for address in gone:
        (folder / address).unlink(missing_ok=True)


def stale_files(folder: Path, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The files of `folder` that differ from `files`, are missing, or are no longer made. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=str(folder), hint="write it with: analyzer docs -o DIR")
    return tuple(sorted(_differing(folder, files)))


def _differing(folder: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    yield from (address for address, content in files.items() if _read(folder / address) != content)
    yield from (address for address in _listed(folder) - files.keys() if (folder / address).exists())


def _listing(files: Mapping[str, bytes]) -> bytes:
    return "".join(f"{address}\n" for address in sorted(files)).encode()


def _listed(folder: Path) -> set[str]:
    """What an earlier run made, as far as it lies in the folder."""
    content = _read(folder / _LISTING) or b""
    root = folder.resolve()
    lines = content.decode("utf-8", "replace").splitlines()
    return {line for line in lines if line and _lies_in(root, folder / line)}


def _lies_in(root: Path, path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root) and not path.is_dir()
    except (OSError, ValueError):
        return False


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (OSError, ValueError):
        return None
