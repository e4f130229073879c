"""The use case of `graph`: the calls that the analysis of one ref went into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.domain.extraction import Extraction
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Span
from analyzer.domain.views import GraphEdge, GraphNode, GraphReport

_SINKS: Final = ("sink", "second_sink")


def graph(snapshot: Snapshot) -> GraphReport:
    """Functions and calls, those that the value passes marked."""
    found = snapshot.extraction
    places: dict[tuple[str, str], list[Span]] = {}
    for call in found.calls:
        places.setdefault((call.caller, call.callee), []).append(call.location)
    roles = _roles(found)
    names = dict.fromkeys((found.entry, *(name for edge in places for name in edge)))
    return GraphReport(
        revision=snapshot.revision,
        entry=found.entry,
        nodes=tuple(GraphNode(name, roles.get(name, "explored")) for name in names),
        edges=tuple(GraphEdge(*edge, tuple(dict.fromkeys(spans))) for edge, spans in places.items()),
        notes=tuple(filter(None, [snapshot.revision.note])),
    )


def _roles(found: Extraction) -> Mapping[str, str]:
    """What each function on the value path is there for; the last word is the most telling."""
    roles = {name: "path" for hop in found.hops for name in (hop.caller, hop.callee) if name}
    roles |= {hop.caller: "sink" for hop in found.hops if hop.kind in _SINKS}
    roles |= {hop.callee: "measure" for hop in found.hops if hop.kind == "measure"}
    return {**roles, found.entry: "entry"}
