"""The one list of output formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from analyzer.render.page import Page


@dataclass(frozen=True, slots=True)
class Format:
    """The module whose function `render_<command>` writes it, the commands that have it, its file suffixes."""

    module: str
    commands: tuple[str, ...]
    suffixes: tuple[str, ...]


_GATES: Final = ("diff", "check")
_OVER_RELEASES: Final = ("timeline", "coverage")
FORMATS: Final[Mapping[str, Format]] = {
    "text": Format(
        "analyzer.render.text",
        (*_GATES, "show", "trace", "eval", "rules", "explain", "solve", "impact", *_OVER_RELEASES, "log"),
        (".txt",),
    ),
    "dot": Format("analyzer.render.dot", ("graph",), (".dot", ".gv")),
    "mermaid": Format("analyzer.render.mermaid", ("graph",), (".mmd",)),
    "json": Format(
        "analyzer.render.json",
        (
            *_GATES,
            "show",
            "trace",
            "graph",
            "eval",
            "rules",
            "explain",
            "solve",
            "impact",
            "timeline",
            "coverage",
            "log",
        ),
        (".json",),
    ),
    "markdown": Format(
        "analyzer.render.markdown",
        (*_GATES, "rules", "explain", "impact", *_OVER_RELEASES, "log"),
        (".md", ".markdown"),
    ),
    "python": Format("analyzer.render.python", ("show",), (".py",)),
    "sarif": Format("analyzer.render.sarif", _GATES, (".sarif",)),
    "github": Format("analyzer.render.github", _GATES, ()),
}


def formats_of(command: str) -> tuple[str, ...]:
    """The formats that `command` has, its default first."""
    return tuple(name for name, form in FORMATS.items() if command in form.commands)


def render(command: str, name: str, report: Any, page: Page) -> str:
    """`report` of `command` in the format `name`."""
    renderer: Callable[[Any, Page], str] = getattr(import_module(FORMATS[name].module), f"render_{command}")
    return renderer(report, page)
