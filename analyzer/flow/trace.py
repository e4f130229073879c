"""The value path: the slice of what happened to values that lies between measurement and count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import networkx as nx

from analyzer.domain.extraction import Hop
from analyzer.domain.source import Span
from analyzer.domain.steps import Step
from analyzer.domain.terms import Apply, Opaque, Term, symbols_of, walk

_SOURCES = frozenset({"pre_model_load_memory", "available_gpu_memory", "mem_fraction_static", "rest_memory"})


def read_path(
    steps: Sequence[Step], values: Iterable[Term], sinks: frozenset[str], display: Callable[[str], str]
) -> tuple[Hop, ...]:
    """The hops of the value path, in order of execution.

    A step is on the path when its value comes from a measurement or the fraction (forward slice) and
    is part of a tracked quantity (backward slice); the calls around such steps are on it as control.
    """
    graph = _value_graph(values)
    kept = [index for index, step in enumerate(steps) if _on_path(step.value, graph)]
    around = {call for index in kept for call in steps[index].extent}
    arguments = {steps[index].extent[-1] for index in kept if steps[index].kind == "argument" and steps[index].extent}
    hops: dict[tuple[str, int, str], Hop] = {}
    for index in sorted({*kept, *(around - arguments)}):
        if not steps[index].span.path:
            continue
        hop = _hop(steps[index], sinks, display)
        hops.setdefault((hop.path, hop.line, hop.kind), hop)
    return tuple(hops.values())


def _value_graph(values: Iterable[Term]) -> nx.DiGraph[Term]:
    """Terms of the tracked quantities; an edge leads from an operand to what is computed from it."""
    graph: nx.DiGraph[Term] = nx.DiGraph()
    for node in walk(*values):
        graph.add_node(node, source=bool(symbols_of(node) & _SOURCES))
    return graph


def _on_path(value: Term, graph: nx.DiGraph[Term]) -> bool:
    if isinstance(value, Opaque) and value.name == "object":
        return any(_on_path(part, graph) for part in value.args)
    return value in graph and bool(graph.nodes[value]["source"])


def _hop(step: Step, sinks: frozenset[str], display: Callable[[str], str]) -> Hop:
    kind = step.kind
    if kind in ("assign", "attribute") and isinstance(step.value, Apply) and step.value.op in ("min", "max"):
        kind = "clamp"
    if kind == "attribute" and step.target in sinks:
        kind = "sink"
    return Hop(kind, step.caller, step.callee or step.caller, step.target, step.target, display(step.span.path), step.span.line)
