"""Characters that are safe to show."""

from __future__ import annotations

import re
from typing import Final

_LONGEST_WORD: Final = 200
_LONGEST_LINE: Final = 4_000
_KEPT: Final = 80


def shortened(line: str) -> str:
    """`line` without the middle of what is too long to be read: a word, or the line itself."""
    words = re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda found: _without_middle(found[0]), line)
    return words if len(words) <= _LONGEST_LINE else _without_middle(words)


def _without_middle(text: str) -> str:
    return f"{text[:_KEPT]}...({len(text) - 2 * _KEPT} characters)...{text[-_KEPT:]}"


def printable(text: str) -> str:
    """`text` with control, bidirectional and unassigned characters escaped, on one line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
