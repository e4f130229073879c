"""Source places in short: names written once, places as ``name:line-end`` with neighbours of one file together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from analyzer.domain.source import Span


class NameTable:
    """Collects paths and qualified names; each is written once and then referred to by its row."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._rows: dict[str, int] = {}

    def row(self, name: str) -> int:
        """The row of `name`, added when it is new."""
        if name not in self._rows:
            self._rows[name] = len(self.names)
            self.names.append(name)
        return self._rows[name]

    def places(self, spans: Iterable[Span]) -> str:
        """`spans` in their order, such as ``0:12,14-15;3:7``."""
        files = groupby(spans, key=lambda span: span.path)
        return ";".join(f"{self.row(path)}:{','.join(map(_lines, members))}" for path, members in files)


def _lines(span: Span) -> str:
    return str(span.line) if span.line == span.end_line else f"{span.line}-{span.end_line}"


def read_places(text: str, names: Sequence[str]) -> tuple[Span, ...]:
    """The spans that `text` stands for. Raises LookupError or ValueError when it is damaged."""
    found = []
    for file in text.split(";") if text else ():
        row, _, lines = file.partition(":")
        for each in lines.split(","):
            first, _, last = each.partition("-")
            found.append(Span(name_at(int(row), names), int(first), int(last or first)))
    return tuple(found)


def name_at(row: int, names: Sequence[str]) -> str:
    """The name in a row. Raises IndexError for one that does not exist, a negative one too."""
    if row < 0:
        raise IndexError(row)
    return names[row]
