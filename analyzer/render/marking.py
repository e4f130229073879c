"""Marks what differs between two formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from analyzer.domain.characters import printable
from analyzer.render.document import Piece

_TOKEN: Final = re.compile(r"\s*(?:[A-Za-z_][\w.]*|\d[\w.]*|'[^']*'|\*\*|//|<<|>>|[<>=!]=|.)", re.DOTALL)
# Comparing token lists takes quadratic time; a formula of this size is read as a whole anyway.
_MAX_TOKENS: Final = 4_000
# A longer stretch is cut to its ends: unchanged it says nothing, changed it is for `--format json`.
_LONG: Final = 80
_KEPT: Final = 24
_LONG_CHANGE: Final = 160
_KEPT_CHANGE: Final = 70
_BRACKETS: Final = {"removed": ("[-", "-]"), "added": ("{+", "+}")}


def mark_difference(before: str, after: str, *, colour: bool) -> tuple[list[Piece], list[Piece]]:
    """Both texts as pieces with the difference in styles, and in brackets where there are no colours."""
    left, right = (_TOKEN.findall(printable(text)) for text in (before, after))
    if len(left) > _MAX_TOKENS or len(right) > _MAX_TOKENS:
        return [Piece("".join(left))], [Piece("".join(right))]
    blocks = SequenceMatcher(None, [t.strip() for t in left], [t.strip() for t in right], autojunk=False).get_opcodes()
    marked_left: list[Piece] = []
    marked_right: list[Piece] = []
    for tag, i1, i2, j1, j2 in blocks:
        if tag == "equal":
            marked_left.extend(_unchanged(left[i1:i2], at_start=i1 == 0, at_end=i2 == len(left)))
            marked_right.extend(_unchanged(right[j1:j2], at_start=j1 == 0, at_end=j2 == len(right)))
        else:
            marked_left.extend(_changed(left[i1:i2], "removed", colour=colour))
            marked_right.extend(_changed(right[j1:j2], "added", colour=colour))
    return marked_left, marked_right


def _unchanged(tokens: list[str], *, at_start: bool, at_end: bool) -> Iterator[Piece]:
    if len(tokens) <= _LONG:
        yield Piece("".join(tokens))
        return
    head = [] if at_start else tokens[:_KEPT]
    tail = [] if at_end else tokens[-_KEPT:]
    yield Piece("".join(head))
    yield Piece(" ... ", "quiet")
    yield Piece("".join(tail).lstrip() if head or at_start else "".join(tail))


def _changed(tokens: list[str], style: str, *, colour: bool) -> Iterator[Piece]:
    if not tokens:
        return
    if len(tokens) > _LONG_CHANGE:
        tokens = [*tokens[:_KEPT_CHANGE], " ... ", *tokens[-_KEPT_CHANGE:]]
    text = "".join(tokens)
    space = text[: len(text) - len(text.lstrip())]
    opening, closing = ("", "") if colour else _BRACKETS[style]
    if space:
        yield Piece(space)
    yield Piece(f"{opening}{text.strip()}{closing}", style)
