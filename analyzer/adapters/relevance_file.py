"""What mattered in the newest release, beside the snapshots: extracting another one begins with it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from analyzer.adapters.files import read_file
from analyzer.adapters.output import make_folder, write_file
from analyzer.adapters.snapshots import one_entry_a_line
from analyzer.domain.relevance import Relevance

_FOLDER: Final = "relevance"


class _Stored(msgspec.Struct, frozen=True):
    """The file, key by key; an attribute with the classes that it is read of, a definition with its receiver."""

    release: str
    sizing: str
    relevant: dict[str, tuple[str, ...]]
    reached: tuple[tuple[str, str], ...]


def read_relevance(folder: Path, root: str) -> Relevance | None:
    """What is kept in `folder` for exploring from `root`.

    None where nothing is, or nothing that can be read: all of it is found again.
    """
    try:
        stored = msgspec.json.decode(read_file(_place(folder, root)), type=_Stored)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    relevant = {name: frozenset(classes) for name, classes in stored.relevant.items()}
    return Relevance(relevant, frozenset(stored.reached), (), stored.sizing, {})


def write_relevance(folder: Path, root: str, release: str, found: Relevance) -> None:
    """Keep in `folder` what mattered in `release`, explored from `root`. Raises UsageError."""
    stored = _Stored(
        release,
        found.sizing,
        {name: tuple(sorted(classes)) for name, classes in sorted(found.relevant.items())},
        tuple(sorted(found.reached)),
    )
    path = _place(folder, root)
    make_folder(path.parent)
    write_file(path, one_entry_a_line({name: getattr(stored, name) for name in stored.__struct_fields__}))


def _place(folder: Path, root: str) -> Path:
    return folder / _FOLDER / f"{root}.json"
