"""Reports for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.domain.views import GraphReport
from analyzer.render.blocks import revision_title
from analyzer.render.defuse import defuse
from analyzer.render.markup import one_line
from analyzer.render.page import Page

COLOURS: Final = {"entry": "#d0d7de", "measure": "#b6e3ff", "sink": "#ffd8b5", "path": "#dafbe1"}
MAX_LABEL: Final = 200


def render_graph(report: GraphReport, page: Page) -> str:
    """The explored call graph."""
    del page
    return defuse("".join(f"{line}\n" for line in _lines(report)))


def _lines(report: GraphReport) -> Iterator[str]:
    yield "digraph calls {"
    yield f"  label={_quoted(f'Calls explored in {revision_title(report.revision)}')};"
    yield '  node [shape=box, fontname="sans-serif"];'
    for node in report.nodes:
        colour = f", style=filled, fillcolor={_quoted(COLOURS[node.role])}" if node.role in COLOURS else ""
        yield f"  {_quoted(node.name)} [tooltip={_quoted(node.role)}{colour}];"
    for edge in report.edges:
        places = ", ".join(map(str, edge.locations))
        yield f"  {_quoted(edge.caller)} -> {_quoted(edge.callee)} [tooltip={_quoted(places)}];"
    yield "}"


def _quoted(text: str) -> str:
    escaped = one_line(text, MAX_LABEL).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
