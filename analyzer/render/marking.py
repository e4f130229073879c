"""Marks what differs between two formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

from analyzer.domain.characters import printable
from analyzer.render.document import Piece

_TOKEN: Final = re.compile(r"\s*(?:[A-Za-z_][\w.]*|\d[\w.]*|'[^']*'|\*\*|//|<<|>>|[<>=!]=|.)", re.DOTALL)
# Comparing token lists takes quadratic time; a formula of this size is read as a whole anyway.
_MAX_TOKENS: Final = 4_000
_BRACKETS: Final = {"removed": ("[-", "-]"), "added": ("{+", "+}")}


@dataclass(frozen=True, slots=True)
class Cut:
    """How many tokens a stretch may have, and how many of a longer one stay at each end.

    `size` is what a side may have in characters. What is cut is for `--format json`.
    """

    long: int
    kept: int
    long_change: int
    kept_change: int
    size: int


FULL: Final = Cut(long=80, kept=24, long_change=160, kept_change=70, size=20_000)
BRIEF: Final = Cut(long=16, kept=6, long_change=32, kept_change=14, size=180)


def mark_difference(before: str, after: str, *, colour: bool, cut: Cut = FULL) -> tuple[list[Piece], list[Piece]]:
    """Both texts as pieces with the difference in styles, and in brackets where there are no colours."""
    left, right = (_TOKEN.findall(printable(text)) for text in (before, after))
    if len(left) > _MAX_TOKENS or len(right) > _MAX_TOKENS:
        return _within([Piece("".join(left))], cut.size), _within([Piece("".join(right))], cut.size)
    blocks = SequenceMatcher(None, [t.strip() for t in left], [t.strip() for t in right], autojunk=False).get_opcodes()
    marked_left: list[Piece] = []
    marked_right: list[Piece] = []
    for tag, i1, i2, j1, j2 in blocks:
        if tag == "equal":
            marked_left.extend(_unchanged(left[i1:i2], cut, at_start=i1 == 0, at_end=i2 == len(left)))
            marked_right.extend(_unchanged(right[j1:j2], cut, at_start=j1 == 0, at_end=j2 == len(right)))
        else:
            marked_left.extend(_changed(left[i1:i2], cut, "removed", colour=colour))
            marked_right.extend(_changed(right[j1:j2], cut, "added", colour=colour))
    return _within(marked_left, cut.size), _within(marked_right, cut.size)


def _within(pieces: list[Piece], size: int) -> list[Piece]:
    """The first `size` characters of the pieces, and that there are more."""
    kept: list[Piece] = []
    for piece in pieces:
        if size < len(piece.text):
            closing = next((end for _, end in _BRACKETS.values() if piece.text.endswith(end)), "")
            return [*kept, replace(piece, text=f"{piece.text[:size]} ...{closing}")]
        kept.append(piece)
        size -= len(piece.text)
    return kept


def _unchanged(tokens: list[str], cut: Cut, *, at_start: bool, at_end: bool) -> Iterator[Piece]:
    if len(tokens) <= cut.long:
        yield Piece("".join(tokens))
        return
    head = [] if at_start else tokens[: cut.kept]
    tail = [] if at_end else tokens[-cut.kept :]
    yield Piece("".join(head))
    yield Piece(" ... ", "quiet")
    yield Piece("".join(tail).lstrip() if head or at_start else "".join(tail))


def _changed(tokens: list[str], cut: Cut, style: str, *, colour: bool) -> Iterator[Piece]:
    if not tokens:
        return
    if len(tokens) > cut.long_change:
        tokens = [*tokens[: cut.kept_change], " ... ", *tokens[-cut.kept_change :]]
    text = "".join(tokens)
    space = text[: len(text) - len(text.lstrip())]
    opening, closing = ("", "") if colour else _BRACKETS[style]
    if space:
        yield Piece(space)
    yield Piece(f"{opening}{text.strip()}{closing}", style)
