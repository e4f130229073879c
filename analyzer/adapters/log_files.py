"""Reads the lines of server logs that may matter, in bounded memory whatever the logs hold."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from analyzer.domain.errors import UsageError

_CHUNK: Final = 1 << 20
# The arguments of a server are printed on one line of some 10 KB.
MAX_LINE: Final = 1 << 16
_STDIN: Final = "-"

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
        with Path(file).open("rb") as stream:
            yield from marked_lines(stream, markers)
    except OSError as error:
        hint = "give a file, or - for stdin"
        raise UsageError(f"cannot read the log: {error.strerror}", where=file, hint=hint) from error


def marked_lines(stream: BinaryIO, markers: Mapping[bytes, int]) -> Iterator[Marked]:
    """The lines of `stream` that hold one of `markers` within their first `MAX_LINE` bytes, in order.

    A line comes with what `markers` says of the first marker, in their order, that it holds.
    """
    for block in _whole_lines(stream):
        found: dict[int, tuple[int, int]] = {}
        for marker, kind in markers.items():
            at = block.find(marker)
            while at >= 0:
                start = block.rfind(b"\n", 0, at) + 1
                end = block.find(b"\n", at)
                if end < 0:
                    end = len(block)
                if start not in found and at - start < MAX_LINE:
                    found[start] = end, kind
                at = block.find(marker, end)
        for start in sorted(found):
            end, kind = found[start]
            yield kind, block[start : min(end, start + MAX_LINE)]


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
