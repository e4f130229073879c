"""Cutting a log into starts, and picking one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from analyzer.application.start_log.events import ARGUMENTS, END, LOADING, SKIPPED

# Eight events a rank are many, a thousand ranks too.
_MAX_LINES: Final = 20_000
# They print 4 MB at most; more takes seconds to read.
_MAX_BYTES: Final = 6 << 20
_NODE: Final = re.compile(rb"node_rank=(\d{1,4})\b")
_BEGIN: Final = b"oad weight begin"


@dataclass(slots=True)
class RawStart:
    """The marked lines of one start, and how far it has come."""

    lines: list[bytes] = field(default_factory=list)
    node: bytes | None = None
    has_arguments: bool = False
    is_loading: bool = False
    has_ended: bool = False
    is_cut: bool = False
    size: int = 0

    def add(self, line: bytes) -> None:
        """Keep a line, as long as there is room."""
        if len(self.lines) < _MAX_LINES and self.size + len(line) <= _MAX_BYTES:
            self.lines.append(line)
            self.size += len(line)
        else:
            self.is_cut = True


def pick_start(lines: Iterable[tuple[int, bytes]], wanted: int | None) -> tuple[RawStart, int, int]:
    """The start number `wanted` (from 1; the last when None), its number, and how many were seen."""
    current = RawStart()
    chosen: RawStart | None = None
    number = 1
    for mark, line in lines:
        if mark == SKIPPED:
            current.is_cut = True
            continue
        if (mark == ARGUMENTS or current.has_ended) and _begins_start(mark, line, current):
            if number == wanted:
                chosen = current
            current, number = RawStart(), number + 1
        if mark == ARGUMENTS:
            current.has_arguments = True
            current.node = current.node or _node(line)
        elif mark == LOADING:
            current.is_loading = True
        elif mark == END:
            current.has_ended = current.is_loading = True
        current.add(line)
    if wanted is None or number == wanted:
        chosen = current
    return chosen or RawStart(), number if wanted is None else wanted, number


def _begins_start(mark: int, line: bytes, current: RawStart) -> bool:
    """Whether a line belongs to a new start: arguments after a start has begun, or loading after it has ended."""
    if mark == ARGUMENTS:
        return current.is_loading and not _is_other_node(line, current)
    return _BEGIN in line


def _is_other_node(line: bytes, current: RawStart) -> bool:
    """Whether arguments are those of another node of the same server."""
    node = _node(line)
    return node is not None and current.node is not None and node != current.node


def _node(line: bytes) -> bytes | None:
    at = line.find(b"node_rank=")
    found = _NODE.match(line, at) if at >= 0 else None
    return found.group(1) if found is not None else None


def merge_starts(starts: Sequence[RawStart]) -> RawStart:
    """One start out of the logs of several nodes, or of the last server when they are logs of one."""
    merged = RawStart()
    for start in starts:
        again = start.has_arguments and merged.has_arguments and start.node == merged.node
        if again:
            merged = RawStart()
        for line in start.lines:
            merged.add(line)
        merged.node = merged.node or start.node
        merged.has_arguments = merged.has_arguments or start.has_arguments
        merged.is_cut = merged.is_cut or start.is_cut
    return merged
