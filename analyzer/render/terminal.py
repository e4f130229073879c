"""Turns a document into characters, with rich's colours when the page has them."""

from __future__ import annotations

from typing import Final

from analyzer.render.defuse import defuse
from analyzer.render.document import Document

_STYLES: Final = {
    "title": "bold",
    "removed": "red",
    "added": "green",
    "quiet": "dim",
    "place": "cyan",
    "column": "bold",
    "good": "green bold",
    "attention": "yellow bold",
    "bad": "red bold",
}


def paint(document: Document, *, colour: bool) -> str:
    """The document as text."""
    return _coloured(document) if colour else _plain(document)


def _plain(document: Document) -> str:
    return defuse("".join("".join(piece.text for piece in line).rstrip() + "\n" for line in document.lines))


def _coloured(document: Document) -> str:
    from io import StringIO  # noqa: PLC0415 - only a terminal pays for rich

    from rich.console import Console  # noqa: PLC0415 - only a terminal pays for rich
    from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

    console = Console(file=StringIO(), force_terminal=True, width=document.width, highlight=False, markup=False)
    with console.capture() as captured:
        for line in document.lines:
            text = Text(no_wrap=True, end="\n")
            for piece in line:
                text.append(piece.text, _STYLES.get(piece.style, ""))
            console.print(text, soft_wrap=True)
    return captured.get()
