"""The use case of `graph`: the calls that the analysis of one ref went into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from analyzer.domain.extraction import Call, Extraction
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
    files = _files(found.calls)
    names = dict.fromkeys((found.entry, *(name for edge in places for name in edge)))
    return GraphReport(
        revision=snapshot.revision,
        entry=found.entry,
        nodes=tuple(GraphNode(name, roles.get(name, "explored")) for name in names),
        edges=tuple(GraphEdge(*edge, _call_sites(spans, files[edge[0]])) for edge, spans in places.items()),
        notes=tuple(filter(None, [snapshot.revision.note])),
    )


def _files(calls: Iterable[Call]) -> Mapping[str, str]:
    """The file of each caller: where most of its calls are."""
    counts: dict[str, Counter[str]] = {}
    for call in calls:
        counts.setdefault(call.caller, Counter())[call.location.path] += 1
    return {caller: paths.most_common(1)[0][0] for caller, paths in counts.items()}


def _call_sites(spans: Iterable[Span], file: str) -> tuple[Span, ...]:
    """The places of a call in the caller's own file; the defaults of a parameter are computed in the callee's."""
    found = dict.fromkeys(spans)
    return tuple(span for span in found if span.path == file) or tuple(found)


def _roles(found: Extraction) -> Mapping[str, str]:
    """What each function on the value path is there for; the last word is the most telling."""
    roles = {name: "path" for hop in found.hops for name in (hop.caller, hop.callee) if name}
    roles |= {hop.caller: "sink" for hop in found.hops if hop.kind in _SINKS}
    roles |= {hop.callee: "measure" for hop in found.hops if hop.kind == "measure"}
    return {**roles, found.entry: "entry"}
