"""The value path: the slice of what happened to values that lies between measurement and count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet

import networkx as nx

from analyzer.domain.build import leaves
from analyzer.domain.extraction import Hop
from analyzer.domain.rules import Anchors
from analyzer.domain.steps import Step
from analyzer.domain.terms import Apply, Conditional, Opaque, Term, children, symbol, walk

_MEASURED = frozenset({symbol("pre_model_load_memory"), symbol("available_gpu_memory")})
_SOURCES = _MEASURED | {symbol("mem_fraction_static"), symbol("rest_memory")}


def read_path(
    steps: Sequence[Step],
    values: Iterable[Term],
    anchors: Anchors,
    display: Callable[[str], str],
) -> tuple[Hop, ...]:
    """The hops of the value path, in order of execution.

    A step is on the path when its value comes from a measurement or the fraction (forward slice) and
    is part of a tracked quantity (backward slice); the calls around such steps are on it as control.
    """
    between = _slice(_value_graph(values))
    runners = frozenset(anchors["runner_classes"])
    foreign = tuple(name.replace(".", "/") for name in anchors["opaque_modules"])
    found = [
        index
        for index, step in enumerate(steps)
        if _on_path(step.value, between)
        and not _is_local(step, runners)
        and (_measures(step, anchors) or not step.span.path.startswith(foreign))
    ]
    kept = _leading_to_sinks(steps, found, frozenset(anchors["sink_attributes"]))
    kept = _without_copies(steps, kept)
    around = {call for index in kept for call in steps[index].extent}
    arguments = {steps[index].extent[-1] for index in kept if steps[index].kind == "argument" and steps[index].extent}
    chosen = sorted((steps[i] for i in {*kept, *(around - arguments)} if steps[i].span.path), key=lambda s: s.time)
    return _hops(chosen, display)


def _measures(step: Step, anchors: Anchors) -> bool:
    """Whether a step belongs to the measuring function, which lives among the code that is not searched."""
    return bool({step.caller, step.target} & set(anchors["measure_functions"]))


def _leading_to_sinks(steps: Sequence[Step], found: list[int], sinks: frozenset[str]) -> list[int]:
    """Of the steps with a value on the path, those from which it still reaches a sink.

    An argument does when something on the path comes out of its call; what happens after the last
    sink only uses the count.
    """
    inside = {call for index in found if steps[index].kind != "argument" for call in steps[index].extent}
    kept = [i for i in found if steps[i].kind != "argument" or not steps[i].extent or steps[i].extent[-1] in inside]
    first = [steps[i].time for i in kept if steps[i].kind == "sink"]
    if not first:
        return kept
    second = {call for i in kept if steps[i].kind == "second_sink" for call in steps[i].extent[1:]}
    return [i for i in kept if steps[i].time <= max(first) or steps[i].target in sinks or set(steps[i].extent) & second]


def _without_copies(steps: Sequence[Step], kept: list[int]) -> list[int]:
    """`kept` without assignments that are no hop of their own.

    Those only rename a value of the same function, its callers or callees, or hold an intermediate
    result that neither crosses a boundary nor reads a measurement itself.
    """
    crossing = {steps[index].value for index in kept if steps[index].kind != "assign"}
    seen: dict[Term, list[tuple[int, ...]]] = {}
    result = []
    for index in sorted(kept, key=lambda i: steps[i].time):
        step = steps[index]
        copied = any(_nested(step.extent, other) for other in seen.get(step.value, ()))
        telling = step.value in crossing or any(part in _MEASURED for part in children(step.value))
        if step.kind != "assign" or (telling and not copied):
            result.append(index)
        if step.kind in ("assign", "argument", "attribute"):
            seen.setdefault(step.value, []).append(step.extent)
    return result


def _nested(extent: tuple[int, ...], other: tuple[int, ...]) -> bool:
    shorter = min(len(extent), len(other))
    return extent[:shorter] == other[:shorter]


def _hops(steps: Sequence[Step], display: Callable[[str], str]) -> tuple[Hop, ...]:
    """One hop a line, and one for all fields of a record that is built in one place."""
    hops: dict[tuple[str, int], Hop] = {}
    built: set[tuple[str, tuple[int, ...]]] = set()
    for step in steps:
        if step.kind == "field":
            place = (step.caller + step.target.partition(".")[0], step.extent)
            if place in built:
                continue
            built.add(place)
        hop = _hop(step, display)
        known = hops.get((hop.path, hop.line))
        if known is None or _RANK[hop.kind] < _RANK[known.kind]:
            hops[hop.path, hop.line] = hop
    return tuple(hops.values())


# One line is one hop: of what happens on it, the most telling is shown.
_RANK = {
    kind: rank
    for rank, kind in enumerate(
        ("measure", "second_sink", "sink", "clamp", "field", "argument", "attribute", "return", "assign", "call")
    )
}


def _is_local(step: Step, runners: frozenset[str]) -> bool:
    """What stays inside its function, or is stored on an object that only keeps it, is no hop."""
    if step.kind == "argument":
        return step.caller == step.callee
    owner, _, name = step.caller.rpartition(".")
    return step.kind == "attribute" and name == "__init__" and owner not in runners


def _value_graph(values: Iterable[Term]) -> nx.DiGraph[Term]:
    """Terms of the tracked quantities; an edge leads from an operand to what is computed from it."""
    graph: nx.DiGraph[Term] = nx.DiGraph()
    for node in walk(*values):
        graph.add_edges_from((operand, node) for operand in children(node))
    return graph


def _slice(graph: nx.DiGraph[Term]) -> frozenset[Term]:
    """The terms between a source and a tracked quantity."""
    found = {source for source in _SOURCES if source in graph}
    return frozenset(found.union(*(nx.descendants(graph, source) for source in found)))


def _on_path(value: Term, between: AbstractSet[Term]) -> bool:
    if isinstance(value, Opaque) and value.name == "object":
        return any(_on_path(part, between) for part in value.args)
    if isinstance(value, Conditional) and value not in between:
        return any(leaf in between for leaf in leaves(value) or ())
    return value in between


def _hop(step: Step, display: Callable[[str], str]) -> Hop:
    kind = step.kind
    if kind in ("assign", "attribute") and isinstance(step.value, Apply) and step.value.op in ("min", "max"):
        kind = "clamp"
    callee = step.callee or step.caller
    return Hop(kind, step.caller, callee, step.target, step.target, display(step.span.path), step.span.line)
