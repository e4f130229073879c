"""A row of numbers as characters: one mark per number, high or low."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from analyzer.render.blocks import number
from analyzer.render.document import Document, Line, Piece

_HEIGHT: Final = 9
_WIDEST_MARK: Final = 4
_NOTHING: Final = "none"


@dataclass(frozen=True, slots=True)
class Mark:
    """A number, None where there is none; the style it is drawn in, and the letter below it."""

    value: int | float | None
    style: str = ""
    letter: str = " "


def draw_plot(document: Document, marks: Sequence[Mark]) -> None:
    """Draw `marks` from left to right; nothing when fewer than two different numbers are there."""
    values = [mark.value for mark in marks if mark.value is not None]
    if len(set(values)) < 2:  # noqa: PLR2004 - a line needs two
        return
    low, high = min(values), max(values)
    labels = {_HEIGHT - 1: number(high), 0: number(low)}
    margin = max(len(_NOTHING), *map(len, labels.values()))
    columns = _columns(marks, document.width - margin - 5)
    document.blank()
    for level in reversed(range(_HEIGHT)):
        cells = [_cell(column, level, low, high) for column in columns]
        document.draw((Piece(f"  {labels.get(level, ''):>{margin}} |"), *_joined(cells)))
    if any(mark.value is None for mark in marks):
        missing = [("x" if any(mark.value is None for mark in column) else " ", "attention") for column in columns]
        document.draw((Piece(f"  {_NOTHING:>{margin}} |"), *_joined(missing)))
    letters = [next((mark.letter for mark in column if mark.letter != " "), "-") for column in columns]
    document.draw((Piece(f"  {'':>{margin}} +"), *_joined([(letter, "") for letter in letters])))


def _columns(marks: Sequence[Mark], width: int) -> list[Sequence[Mark]]:
    """The marks of each column: several where there are more than columns, the same several times where fewer."""
    width = max(width, 1)
    if len(marks) > width:
        each = -(-len(marks) // width)
        return [marks[start : start + each] for start in range(0, len(marks), each)]
    times = min(width // len(marks), _WIDEST_MARK)
    plain = [Mark(mark.value, mark.style) for mark in marks]
    return [[mark if first else bare] for mark, bare in zip(marks, plain, strict=True) for first in _firsts(times)]


def _firsts(times: int) -> list[bool]:
    return [True, *[False] * (times - 1)]


def _cell(column: Sequence[Mark], level: int, low: float, high: float) -> tuple[str, str]:
    """What stands at one height of one column."""
    there = [
        mark
        for mark in column
        if mark.value is not None and round((mark.value - low) / (high - low) * (_HEIGHT - 1)) == level
    ]
    styles = [mark.style for mark in there if mark.style]
    return ("*", styles[0] if styles else "") if there else (" ", "")


def _joined(cells: Sequence[tuple[str, str]]) -> Line:
    return tuple(
        Piece("".join(char for char, _ in group), style) for style, group in groupby(cells, lambda cell: cell[1])
    )
