"""Compares the snapshots of a folder, each with the one before it, as they ship."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

from analyzer.adapters.shipped_differences import ShippedDifferences
from analyzer.adapters.snapshot_source import SnapshotSource
from analyzer.adapters.workers import run_all
from analyzer.application.diff import all_differences
from analyzer.application.docs.timeline import same_formula
from analyzer.application.scope import Scope
from analyzer.application.snapshot import WrittenSnapshot
from analyzer.domain.errors import UsageError
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot


def write_differences(folder: Path, rules: RuleSet) -> Iterator[WrittenSnapshot]:
    """Write what differs between neighbours in `folder`, where that is not known yet; other pairs are deleted.

    Raises SnapshotError, and UsageError where nothing can be written.
    """
    source = SnapshotSource(folder)
    snapshots = [source.load(name) for name in source.releases()]
    if not snapshots:
        raise UsageError("there are no snapshots to compare", where=str(folder), hint="write them with --all")
    pairs = [(base, head) for base, head in pairwise(snapshots) if not same_formula(base.extraction, head.extraction)]
    shipped = ShippedDifferences(folder)
    shipped.keep_only([(base.revision, head.revision) for base, head in pairs])
    # The newest releases have the largest formulas: what takes longest begins first.
    tasks = [partial(_write, shipped, base, head, rules) for base, head in reversed(pairs)]
    for (base, head), path in zip(pairs, reversed(run_all(tasks)), strict=True):
        if path is not None:
            yield WrittenSnapshot(f"{base.revision.resolved}..{head.revision.resolved}", str(path))


def _write(shipped: ShippedDifferences, base: Snapshot, head: Snapshot, rules: RuleSet) -> Path | None:
    """Where the differences were written; None where they were known."""
    if shipped.find(base, head, rules) is not None:
        return None
    return shipped.write(base, head, rules, all_differences(base, head, rules, Scope()))
