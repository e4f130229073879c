"""How much of each release the analysis could follow, free of any output format."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.domain.extraction import Coverage, Gap
from analyzer.domain.source import Revision


@dataclass(frozen=True, slots=True)
class OpaqueCall:
    """A function whose value a quantity needs and whose code is not part of the source, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReleaseCoverage:
    """One release; `coverage` is None when its formulas could not be had, and `lost` says why."""

    release: str
    revision: Revision | None
    coverage: Coverage | None = None
    gaps: tuple[Gap, ...] = ()
    calls: tuple[OpaqueCall, ...] = ()
    lost: str | None = None

    @property
    def open_ends(self) -> int:
        """How many places the formulas end in that were not followed."""
        return len(self.gaps) + len(self.calls)


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """The releases, oldest first."""

    releases: tuple[ReleaseCoverage, ...]

    @property
    def is_lost(self) -> bool:
        """Whether the formulas of no release could be had."""
        return all(release.lost is not None for release in self.releases)
