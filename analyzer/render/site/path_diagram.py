"""The value path as a drawing: one box a hop, readable on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from analyzer.domain.characters import printable
from analyzer.domain.extraction import Hop
from analyzer.domain.source import Revision, Span
from analyzer.render.upstream import line_link

_WIDTH: Final = 400
_PADDING: Final = 10
_LINE: Final = 17
_GAP: Final = 22
# A monospaced character at 12 px, and at 11 px.
_CHARACTER: Final = 7.3
_MAX: Final = int((_WIDTH - 2 * _PADDING) / _CHARACTER)
# A longer name is no name.
_LONGEST: Final = 400
_WORDS: Final = {
    "measure": "is measured",
    "return": "is returned",
    "argument": "is passed on",
    "attribute": "is stored",
    "field": "is stored",
    "assign": "is assigned",
    "call": "calls",
    "clamp": "is limited",
    "sink": "becomes the count",
    "second_sink": "becomes a second count",
}


def draw_path(hops: Sequence[Hop], revision: Revision, upstream: str) -> Markup:
    """The hops from top to bottom, each with its file and line."""
    parts: list[str] = []
    top = 4
    for number, hop in enumerate(hops, 1):
        lines = _lines(hop, number)
        height = _LINE * (len(lines) + 1) + 12
        if number > 1:
            parts.append(_arrow(top - _GAP, top))
        parts.append(_box(hop, top, height))
        for row, (text, style) in enumerate(lines):
            parts.append(_text(text, top + 17 + row * _LINE, style))
        parts.append(_place(hop, revision, upstream, top + 17 + len(lines) * _LINE))
        top += height + _GAP
    title = f"<title>The value path in {len(hops)} hops</title>"
    box = f"0 0 {_WIDTH} {max(top - _GAP + 4, 1)}"
    return Markup(f'<svg viewBox="{box}" role="img" font-size="13">{title}{"".join(parts)}</svg>')  # noqa: S704 - every text is escaped where it is written


_STYLE: Final = (
    "<style>.box{fill:#f4f6f8;stroke:#8a94a0}.arrow{stroke:#4d5763;fill:none}.tip{fill:#4d5763}"
    "text{fill:#1b1f24}.mono{font-family:monospace}</style>"
)


def svg_file(hops: Sequence[Hop], revision: Revision, upstream: str) -> bytes:
    """The drawing as a file of its own, with its colours in it."""
    inner = draw_path(hops, revision, upstream)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" style="background:#ffffff"'
    drawing = str(inner).replace("<svg", head, 1).replace("</title>", f"</title>{_STYLE}", 1)
    return f"{drawing}\n".encode("utf-8", "backslashreplace")


def _lines(hop: Hop, number: int) -> list[tuple[str, str]]:
    head = (f"{number}. {_WORDS.get(hop.kind, hop.kind)}", "")
    functions = [hop.caller] if hop.caller == hop.callee else [hop.caller, f"→ {hop.callee}"]
    names = [name for name in dict.fromkeys((hop.source, hop.target)) if name and name != "return"]
    values = [" → ".join(names)] if names and names != [hop.callee] else []
    wrapped = [(line, "quiet mono") for text in functions for line in _wrap(text)]
    return [head, *((line, "mono") for text in values for line in _wrap(text)), *wrapped]


def _wrap(text: str) -> list[str]:
    """`text` in pieces that fit into a box, broken where a name has a dot if possible."""
    text = printable(text[:_LONGEST])
    pieces = []
    while len(text) > _MAX:
        cut = max(text.rfind(mark, 0, _MAX) for mark in (".", "/", "_", " ")) + 1
        cut = cut if cut > _MAX // 2 else _MAX
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def _box(hop: Hop, top: int, height: int) -> str:
    kind = hop.kind if hop.kind in _WORDS else "other"
    return f'<rect class="box box-{kind}" x="1" y="{top}" width="{_WIDTH - 2}" height="{height}" rx="6"></rect>'


def _arrow(top: int, bottom: int) -> str:
    middle = _WIDTH // 2
    return (
        f'<path class="arrow" d="M{middle} {top}V{bottom - 6}"></path>'
        f'<path class="tip" d="M{middle - 5} {bottom - 8}h10l-5 7z"></path>'
    )


def _text(text: str, baseline: int, style: str) -> str:
    name = f' class="{style}"' if style else ' font-weight="600"'
    return f'<text x="{_PADDING}" y="{baseline}"{name}>{escape(text)}</text>'


def _place(hop: Hop, revision: Revision, upstream: str, baseline: int) -> str:
    span = Span(hop.path, hop.line, hop.line)
    address = line_link(upstream, revision, span)
    shown = printable(str(span))
    # The end of a path tells the file; the whole of it is behind the link.
    text = shown if len(shown) <= _MAX else f"…{shown[1 - _MAX :]}"
    label = f'<text x="{_PADDING}" y="{baseline}" class="mono">{escape(text)}</text>'
    return label if address is None else f'<a href="{escape(address)}">{label}</a>'
