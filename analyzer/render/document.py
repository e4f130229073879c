"""Text before it has colours: lines of styled pieces, wrapped to a width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from analyzer.domain.characters import printable

INDENT: Final = "  "
_WORD: Final = re.compile(r"\s+|[^\s]+")
# No word that a person reads is longer; of one that is, both ends are shown.
_LONGEST_WORD: Final = 1_000
_KEPT_OF_WORD: Final = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """Text in one style; styles are roles (`title`, `removed`), not colours."""

    text: str
    style: str = ""


Line = tuple[Piece, ...]


class Document:
    """Lines that are written top to bottom, none wider than `width`."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Line] = []

    def blank(self) -> None:
        """Leave a line empty, unless one is already."""
        if self.lines and self.lines[-1]:
            self.lines.append(())

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.blank()
        self.write((Piece(text, "title"),))

    def write(self, pieces: Iterable[Piece], indent: int = 0, hanging: int = 0) -> None:
        """Add pieces as a paragraph; its second and later lines are indented by `hanging` more."""
        lead = INDENT * indent
        first, rest = lead, lead + " " * hanging
        for number, line in enumerate(wrap(pieces, self.width - len(rest))):
            self.lines.append((Piece(first if number == 0 else rest), *line))

    def say(self, text: str, style: str = "", indent: int = 0, hanging: int = 0) -> None:
        """Add a paragraph of one style."""
        self.write((Piece(text, style),), indent, hanging)

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Add what fits in one line, and that there was more."""
        room = max(self.width - len(INDENT) * indent, 8)
        shown = " ".join(printable(text).split())
        self.say(shown if len(shown) <= room else f"{shown[: room - 3].rstrip()}...", style, indent)

    def draw(self, pieces: Iterable[Piece]) -> None:
        """Add a line as it is: no wrapping, no space taken away."""
        self.lines.append(tuple(pieces))

    def table(self, rows: Sequence[Sequence[str]], indent: int = 1) -> None:
        """Add rows whose columns line up; the last column wraps."""
        if not rows:
            return
        widths = [max(len(printable(row[column])) for row in rows) for column in range(len(rows[0]) - 1)]
        for row in rows:
            cells = [printable(cell).ljust(width) for cell, width in zip(row, widths, strict=False)]
            lead = "".join(f"{cell}  " for cell in cells)
            beside = len(INDENT) * indent + len(lead) + len(printable(row[-1])) <= self.width
            if len(lead) > self.width // 2 and not beside:
                self.say(f"{lead.rstrip()}  {printable(row[-1])}", indent=indent, hanging=4)
            else:
                self.write(_keep(lead, row[-1]), indent, hanging=len(lead))

    def beside(self, left: Sequence[Line], right: Sequence[Line], indent: int, column: int) -> None:
        """Add two blocks side by side, the right one at `column`."""
        lead = INDENT * indent
        for number in range(max(len(left), len(right))):
            first = left[number] if number < len(left) else ()
            second = right[number] if number < len(right) else ()
            gap = " " * (column - len(lead) - sum(len(piece.text) for piece in first))
            self.lines.append((Piece(lead), *first, *((Piece(gap), *second) if second else ())))


def _keep(lead: str, text: str) -> tuple[Piece, ...]:
    # A no-break marker is not needed: leading columns never reach the right margin.
    return (Piece(lead, "column"), Piece(text))


def wrap(pieces: Iterable[Piece], width: int) -> list[Line]:
    """The pieces as lines of at most `width` columns, broken at spaces and else anywhere."""
    width = max(width, 8)
    lines: list[list[Piece]] = [[]]
    used = 0
    for word in _words(pieces):
        if word[0].style == "column":
            lines[-1].extend(word)
            continue
        for part in _fitting(word, width):
            size = sum(len(piece.text) for piece in part)
            if used and used + size > width:
                lines.append([])
                used = 0
            if used or not part[0].text.isspace():
                lines[-1].extend(part)
                used += size
    return [_joined(line) for line in lines if line] or [()]


def _words(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """What must not be broken: a run of space, or what stands between two, of whatever styles."""
    word: list[Piece] = []
    for piece in pieces:
        if piece.style == "column":
            yield [piece]
            continue
        for text in _WORD.findall(printable(piece.text)):
            if word and text.isspace() != word[-1].text.isspace():
                yield word
                word = []
            word.append(Piece(text, piece.style))
    if word:
        yield word


def _fitting(word: list[Piece], width: int) -> list[list[Piece]]:
    """The word, cut into parts when it is wider than a line."""
    if sum(len(piece.text) for piece in word) <= width:
        return [word]
    characters = [Piece(char, piece.style) for piece in word for char in piece.text]
    if len(characters) > _LONGEST_WORD:
        cut = f"[... {len(characters) - 2 * _KEPT_OF_WORD:,} characters ...]"
        characters[_KEPT_OF_WORD:-_KEPT_OF_WORD] = [Piece(char, "quiet") for char in cut]
    return [characters[start : start + width] for start in range(0, len(characters), width)]


def _joined(line: list[Piece]) -> Line:
    """The line without space at its end, neighbours of one style as one piece."""
    while len(line) > 1 and line[-1].text.isspace():
        line.pop()
    return tuple(
        Piece("".join(piece.text for piece in group), style)
        for style, group in groupby(line, lambda piece: piece.style)
    )
