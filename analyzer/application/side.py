"""One side of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision


@dataclass(frozen=True, slots=True)
class Side:
    """A resolved ref, and how to get its formulas when they are needed: those found from the roots given."""

    revision: Revision
    load: Callable[[Collection[str]], Snapshot]
