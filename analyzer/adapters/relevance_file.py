"""What mattered in the newest release, beside the snapshots: extracting another one begins with it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from analyzer.adapters.files import read_file
from analyzer.adapters.output import make_folder, write_file
from analyzer.adapters.snapshots import one_entry_a_line
from analyzer.domain.relevance import Relevance

_PLACE: Final = Path("relevance", "runner.json")


class _Stored(msgspec.Struct, frozen=True):
    """The file, key by key; an attribute with the classes that it is read of, a definition with its receiver."""

    release: str
    sizing: str
    relevant: dict[str, tuple[str, ...]]
    reached: tuple[tuple[str, str], ...]


def read_relevance(folder: Path) -> Relevance | None:
    """What is kept in `folder`; None where nothing is, or nothing that can be read: all of it is found again."""
    try:
        stored = msgspec.json.decode(read_file(folder / _PLACE), type=_Stored)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    relevant = {name: frozenset(classes) for name, classes in stored.relevant.items()}
    return Relevance(relevant, frozenset(stored.reached), (), stored.sizing, {})


def write_relevance(folder: Path, release: str, found: Relevance) -> None:
    """Keep in `folder` what mattered in `release`. Raises UsageError."""
    stored = _Stored(
        release,
        found.sizing,
        {name: tuple(sorted(classes)) for name, classes in sorted(found.relevant.items())},
        tuple(sorted(found.reached)),
    )
    path = folder / _PLACE
    make_folder(path.parent)
    write_file(path, one_entry_a_line({name: getattr(stored, name) for name in stored.__struct_fields__}))
