"""Suggestions for names that do not exist."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The names of `known` that look most like `name`, best first."""
    # Only failures pay for the import.
    from difflib import get_close_matches  # noqa: PLC0415

    by_folded = {item.casefold(): item for item in sorted(known)}
    return [by_folded[match] for match in get_close_matches(name.casefold(), by_folded, count, 0.6)]


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean ...?`` to put after a message, empty when nothing is near."""
    matches = nearest(name, known)
    return f"; did you mean {' or '.join(map(repr, matches))}?" if matches else ""
