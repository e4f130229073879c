"""Units that comments and docstrings name for what the code beside them computes."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from analyzer.domain.unit import Unit, parse_unit

_NAMES: Final = {
    "byte": "byte",
    "bytes": "byte",
    **{unit.lower(): unit for unit in ("KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB")},
}
_UNIT: Final = "|".join(sorted(_NAMES, key=len, reverse=True))
# Only where the words say in what something is counted: an amount ("80 GB cards") says nothing of a value.
_COUNTED_IN: Final = re.compile(rf"\b(?:in|need|units?(?: is| are)?:?) [\"'`(]?({_UNIT})\b(?!/)", re.IGNORECASE)
_NAMED: Final = re.compile(rf"(?<![a-z])({_UNIT})(?![a-z])", re.IGNORECASE)
_SKIPPED: Final = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT})


@dataclass(frozen=True, slots=True)
class StatedUnit:
    """A unit that words name: `line` is theirs, `first` to `last` the lines of code that they are about.

    `words` says what they are. Lines count from 1 at the first line of the function; `named` are all units there.
    """

    unit: Unit
    words: str
    line: int
    first: int
    last: int
    named: tuple[Unit, ...]


def stated_units(text: str) -> tuple[StatedUnit, ...]:
    """What the comments and the docstring of one function say, in order; nothing for text that is no Python."""
    if _COUNTED_IN.search(text) is None:
        return ()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return ()
    return (*_in_docstring(tokens), *_in_comments(tokens))


def _in_docstring(tokens: list[tokenize.TokenInfo]) -> Iterator[StatedUnit]:
    for before, token in pairwise(tokens):
        if token.type == tokenize.STRING and before.type == tokenize.INDENT:
            yield from _stated(token.string, "the docstring", token.start[0], 1, tokens[-1].end[0])
        if before.type == tokenize.INDENT:
            return


def _in_comments(tokens: list[tokenize.TokenInfo]) -> Iterator[StatedUnit]:
    """A comment is about the statement on its line, one of its own about the statement that follows."""
    for position, token in enumerate(tokens):
        if token.type != tokenize.COMMENT:
            continue
        row = token.start[0]
        if token.line[: token.start[1]].strip():
            yield from _stated(token.string, "a comment", row, row, row)
            continue
        follows = next((later for later in tokens[position:] if later.type not in _SKIPPED), None)
        ends = [later for later in tokens[position:] if later.type == tokenize.NEWLINE]
        if follows is not None and ends:
            yield from _stated(token.string, "a comment", row, follows.start[0], ends[0].end[0])


def _stated(text: str, words: str, line: int, first: int, last: int) -> Iterator[StatedUnit]:
    named = tuple(_unit(name) for name in _NAMED.findall(text))
    for found in _COUNTED_IN.finditer(text):
        yield StatedUnit(_unit(found[1]), words, line + text.count("\n", 0, found.start()), first, last, named)


def _unit(name: str) -> Unit:
    return parse_unit(_NAMES[name.lower()])
