"""The templates, every value in them escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2

from analyzer.domain.characters import printable

_HERE: Final = Path(__file__).parent
PAGES: Final = (
    ("index.html", "Formula"),
    ("versions.html", "Versions"),
    ("timeline.html", "Timeline"),
    ("meaning.html", "What it means"),
    ("rules.html", "Rules"),
    ("glossary.html", "Glossary"),
)


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        auto_reload=False,
    )


def _shown(value: Any) -> Any:
    """Text without the characters that could turn or hide what is around them; lines stay lines."""
    return "\n".join(map(printable, value.split("\n"))) if type(value) is str else value


def fill(template: str, address: str, **values: Any) -> bytes:
    """The page at `address`."""
    page = _environment().get_template(template)
    root = "../" * address.count("/")
    text = page.render(root=root, current=address, pages=PAGES, **values)
    return text.encode("utf-8", "backslashreplace")


def assets() -> dict[str, bytes]:
    """The files that are the same in every site, by their address."""
    return {f"assets/{path.name}": path.read_bytes() for path in sorted((_HERE / "assets").iterdir())}
