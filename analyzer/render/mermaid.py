"""Reports for Mermaid, which GitHub draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.domain.views import GraphReport
from analyzer.render.defuse import defuse
from analyzer.render.dot import COLOURS, MAX_LABEL
from analyzer.render.markup import one_line
from analyzer.render.page import Page

_ENTITIES: Final = str.maketrans({char: f"#{ord(char)};" for char in '"#&<>`\\[]{}|'})


def render_graph(report: GraphReport, page: Page) -> str:
    """The explored call graph."""
    del page
    return defuse("".join(f"{line}\n" for line in _lines(report)))


def _lines(report: GraphReport) -> Iterator[str]:
    keys = {node.name: f"n{number}" for number, node in enumerate(report.nodes)}
    yield "flowchart LR"
    for node in report.nodes:
        role = f":::{node.role}" if node.role in COLOURS else ""
        yield f'  {keys[node.name]}["{_label(node.name)}"]{role}'
    for edge in report.edges:
        yield f"  {keys[edge.caller]} --> {keys[edge.callee]}"
    for role, colour in COLOURS.items():
        yield f"  classDef {role} fill:{colour}"


def _label(text: str) -> str:
    return one_line(text, MAX_LABEL).translate(_ENTITIES)
