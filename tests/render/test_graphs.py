"""The explored call graph: roles, and names that stay names in every drawing language."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from analyzer.application.graph import graph
from analyzer.domain.extraction import Call
from analyzer.domain.source import Span
from analyzer.domain.views import GraphReport
from analyzer.render.formats import formats_of, render
from analyzer.render.page import Page
from tests.support.hostile import HOSTILE
from tests.support.project import extracted
from tests.support.samples import SPAN, snapshot


def _drawn(name: str, report: GraphReport) -> str:
    return render("graph", name, report, Page())


def test_the_formats_of_the_contract() -> None:
    assert formats_of("graph") == ("dot", "mermaid", "json")


def test_functions_have_the_role_that_the_value_path_gives_them() -> None:
    report = graph(replace(snapshot(), extraction=extracted()))
    roles = {node.name: node.role for node in report.nodes}
    assert roles[report.entry] == "entry"
    assert roles["get_available_gpu_memory"] == "measure"
    assert "sink" in roles.values()
    assert "path" in roles.values()
    assert {name for edge in report.edges for name in (edge.caller, edge.callee)} <= roles.keys()


def test_an_edge_has_no_place_in_the_body_of_what_is_called() -> None:
    elsewhere = Span("python/sglang/srt/utils/common.py", 508, 508)
    found = snapshot()
    inner = Call("ModelRunner.init_torch_distributed", "get_available_gpu_memory", elsewhere)
    own = Call("ModelRunner.init_torch_distributed", "helper", SPAN)
    calls = (inner, *found.extraction.calls, own)
    report = graph(replace(found, extraction=replace(found.extraction, calls=calls)))
    places = {(edge.caller, edge.callee): edge.locations for edge in report.edges}
    assert places["ModelRunner.init_torch_distributed", "get_available_gpu_memory"] == (SPAN,)


def test_an_edge_exists_once_with_all_its_places() -> None:
    edges = {(edge.caller, edge.callee): edge.locations for edge in graph(snapshot()).edges}
    assert edges["ModelRunner.init", "ModelRunner.profile"] == (SPAN, Span(SPAN.path, 500, 500))


def test_dot_and_mermaid_draw_the_same_edges() -> None:
    report = graph(snapshot())
    assert '"ModelRunner.init" -> "ModelRunner.profile"' in _drawn("dot", report)
    mermaid = _drawn("mermaid", report)
    keys = {name: key for key, name in re.findall(r'^  (n\d+)\["(.*?)"\]', mermaid, re.MULTILINE)}
    assert f"{keys['ModelRunner.init']} --> {keys['ModelRunner.profile']}" in mermaid


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_only_a_name(text: str) -> None:
    calls = (Call("caller", text, Span(text, 1, 1)),)
    report = graph(replace(snapshot(), extraction=replace(snapshot().extraction, calls=calls)))
    dot = _drawn("dot", report).splitlines()
    assert all(re.fullmatch(r'[^"]*("(?:[^"\\]|\\.)*"[^"]*)*', line) for line in dot)
    mermaid = _drawn("mermaid", report).splitlines()
    names = [found for line in mermaid if (found := re.fullmatch(r'  n\d+\["([^"<>`]*)"\](:::\w+)?', line))]
    assert len(names) == len(report.nodes)
    assert all(line.isprintable() and len(line) < 1_000 for line in [*dot, *mermaid])
