"""Characters that are safe to show."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with control, bidirectional and unassigned characters escaped, on one line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
