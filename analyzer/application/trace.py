"""The use case of `trace`: the value path of one ref."""

from __future__ import annotations

from analyzer.domain.snapshot import Snapshot
from analyzer.domain.views import TraceReport


def trace(snapshot: Snapshot) -> TraceReport:
    """The hops from the measurement to the places where tokens are counted."""
    notes = tuple(filter(None, [snapshot.revision.note]))
    return TraceReport(snapshot.revision, snapshot.extraction.entry, snapshot.extraction.hops, notes)
