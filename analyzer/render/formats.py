"""The one list of output formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from analyzer.render.page import Page

# Format -> the module whose function `render_<command>` writes it, and the commands that have it.
FORMATS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "text": ("analyzer.render.text", ("diff", "show", "trace", "eval")),
    "json": ("analyzer.render.json", ("diff", "show", "trace", "eval")),
}


def formats_of(command: str) -> tuple[str, ...]:
    """The formats that `command` has, its default first."""
    return tuple(name for name, (_, commands) in FORMATS.items() if command in commands)


def render(command: str, name: str, report: Any, page: Page) -> str:
    """`report` of `command` in the format `name`."""
    renderer: Callable[[Any, Page], str] = getattr(import_module(FORMATS[name][0]), f"render_{command}")
    return renderer(report, page)
