"""Cuts a file into the pieces that define its names, without parsing it: two versions differ in few of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

Key = tuple[str, str, str]
"""What a piece is (``def``, ``bind``, ``import``, ``class``, ``rest``), the class it is in, and its name."""

# Where a statement begins at the top level, or directly in a class; a comment belongs to what is before it.
_STARTS: Final = re.compile(
    rb"^(?P<margin>    )?(?:(?:async[ ]+)?def[ ]+(?P<function>\w+)|class[ ]+(?P<type>\w+)|(?P<decorator>@)"
    rb"|(?P<imported>(?:from|import)[ ])|(?P<bound>\w+)[ ]*(?:=(?!=)|:(?=[ ]))|(?P<other>[^\s#)\]}]))",
    re.MULTILINE,
)
# These look like a name with an annotation, or are followed by a colon.
_WORDS: Final = frozenset({b"else", b"try", b"finally", b"except", b"if", b"for", b"while", b"with", b"elif"})


def outline(content: bytes) -> dict[Key, bytes]:
    """The pieces of a file in the order in which they begin; what has the same key is one piece."""
    pieces: dict[Key, bytes] = {}
    for key, start, end in _cuts(content):
        pieces[key] = pieces.get(key, b"") + content[start:end]
    return pieces


def _cuts(content: bytes) -> Iterator[tuple[Key, int, int]]:
    key: Key = ("rest", "", "")
    start, owner = 0, ""
    decorated: int | None = None
    for match in _STARTS.finditer(content):
        in_class = match["margin"] is not None
        if in_class and not owner:
            continue
        position = match.start()
        if match["decorator"]:
            decorated = position if decorated is None else decorated
            continue
        begins = position if decorated is None else decorated
        decorated = None
        yield key, start, begins
        if not in_class:
            owner = ""
        key, start = _key(match, owner), begins
        if key[0] == "class" and not in_class:
            owner = key[2]
    yield key, start, len(content)


def _key(match: re.Match[bytes], owner: str) -> Key:
    for kind, group in (("def", "function"), ("class", "type"), ("bind", "bound")):
        name = match[group]
        if name is not None and name not in _WORDS:
            return kind, owner, name.decode("utf-8", "replace")
    return ("import" if match["imported"] else "rest"), owner, ""


def differing(before: Mapping[Key, bytes], after: Mapping[Key, bytes]) -> frozenset[Key] | None:
    """The pieces that differ between two outlines; None when only whole files will do."""
    changed = frozenset(key for key in before.keys() | after.keys() if _text(before, key) != _text(after, key))
    if _order(before, after) != _order(after, before) or any(kind == "rest" and owner for kind, owner, _ in changed):
        return None
    return changed


def _text(pieces: Mapping[Key, bytes], key: Key) -> bytes | None:
    """A piece without the blank lines behind it, which say how far the next one is."""
    return pieces[key].rstrip() if key in pieces else None


def _order(one: Mapping[Key, bytes], other: Mapping[Key, bytes]) -> list[Key]:
    """The fields and variables that both have, in the order of `one`."""
    return [key for key in one if key[0] == "bind" and key in other]


def excerpt(pieces: Mapping[Key, bytes], changed: Collection[Key]) -> bytes:
    """A file that holds some pieces, those of a class in it, and nothing else."""
    owners = {owner for _, owner, _ in changed if owner}
    found: list[bytes] = []
    for key, text in pieces.items():
        kind, owner, name = key
        if kind == "class" and not owner and name in owners:
            # A class may be left without anything in it.
            found += [text.rstrip(b"\n"), b"\n    pass\n"]
        elif key in changed:
            found.append(text)
    return b"".join(found)
