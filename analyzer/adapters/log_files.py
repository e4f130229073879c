"""Reads the lines of server logs that may matter, in bounded memory whatever the logs hold."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from analyzer.adapters.files import open_input
from analyzer.application.start_log.events import SKIPPED
from analyzer.domain.errors import UsageError

_CHUNK: Final = 1 << 20
# The arguments of a server are printed on one line of some 10 KB.
MAX_LINE: Final = 1 << 16
_STDIN: Final = "-"
# A server of a thousand ranks prints some ten lines a rank that matter; this many are twenty such starts. From
# there on, so many lines a marker are read at either end of each chunk.
_MANY: Final = 200_000
_FEW: Final = 200

Marked = tuple[int, bytes]
"""What is known of a line by its marker, and the line."""


def read_logs(files: Sequence[str], markers: Mapping[bytes, int]) -> Iterator[Iterator[Marked]]:
    """For each of `files`, its lines with one of `markers`, cut to `MAX_LINE` bytes; ``-`` is stdin."""
    for file in files:
        yield _read_log(file, markers)


def _read_log(file: str, markers: Mapping[bytes, int]) -> Iterator[Marked]:
    try:
        if file == _STDIN:
            yield from marked_lines(sys.stdin.buffer, markers)
            return
        with open_input(Path(file)) as stream:
            yield from marked_lines(stream, markers)
    except OSError as error:
        hint = "give a file, or - for stdin"
        raise UsageError(f"cannot read the log: {error.strerror}", where=file, hint=hint) from error


def marked_lines(stream: BinaryIO, markers: Mapping[bytes, int]) -> Iterator[Marked]:
    """The lines of `stream` that hold one of `markers` within their first `MAX_LINE` bytes, in order.

    A line comes with what `markers` says of the first marker, in their order, that it holds. A stream with more such
    lines than any log has is read in part from there on: `SKIPPED` stands where lines are left out.
    """
    room = _MANY
    for block in _whole_lines(stream):
        found: dict[int, tuple[int, int]] = {}
        is_cut = False
        for marker, kind in markers.items():
            places, more = _places(block, marker, None if room > 0 else _FEW)
            is_cut = is_cut or more
            for start, at, end in places:
                if start not in found and at - start < MAX_LINE:
                    found[start] = end, kind
        room -= len(found)
        if is_cut:
            yield SKIPPED, b""
        for start in sorted(found):
            end, kind = found[start]
            yield kind, block[start : min(end, start + MAX_LINE)]


def _places(block: bytes, marker: bytes, most: int | None) -> tuple[list[tuple[int, int, int]], bool]:
    """Where lines with `marker` begin, have it, and end; the first and the last `most`, and whether there are more."""
    found: list[tuple[int, int, int]] = []
    at = block.find(marker)
    while at >= 0 and (most is None or len(found) < most):
        found.append(_line_around(block, at))
        at = block.find(marker, found[-1][2])
    if at < 0:
        return found, False
    lowest = found[-1][2]
    last: list[tuple[int, int, int]] = []
    at = block.rfind(marker, lowest)
    while at >= 0 and len(last) < len(found):
        last.append(_line_around(block, at))
        at = block.rfind(marker, lowest, max(last[-1][0], lowest))
    return [*found, *reversed(last)], at >= 0


def _line_around(block: bytes, at: int) -> tuple[int, int, int]:
    end = block.find(b"\n", at)
    return block.rfind(b"\n", 0, at) + 1, at, end if end >= 0 else len(block)


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in blocks that end with a line; of a line longer than a chunk only the beginning is kept."""
    kept = b""
    skipping = False
    while chunk := stream.read(_CHUNK):
        if skipping:
            at = chunk.find(b"\n")
            if at < 0:
                continue
            chunk, skipping = chunk[at:], False
        cut = chunk.rfind(b"\n")
        if cut >= 0:
            yield kept + chunk[:cut]
            kept = chunk[cut + 1 :]
        elif len(kept) + len(chunk) > _CHUNK:
            yield (kept + chunk)[:_CHUNK]
            kept, skipping = b"", True
        else:
            kept += chunk
    if kept:
        yield kept
