"""One quantity of one server over many releases, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.domain.evaluation import Result, Value
from analyzer.domain.source import Revision


@dataclass(frozen=True, slots=True)
class Moment:
    """What one release computes.

    `revision` and `result` are None when its formulas could not be had, and `lost` says why. `fraction` is the
    release's own default where nobody gives one. `before` is the last release before this one that has a number.
    """

    release: str
    revision: Revision | None
    scenario: str
    result: Result | None = None
    lost: str | None = None
    fraction: Value = None
    before: int | float | None = None
    changed: bool = False

    @property
    def number(self) -> int | float | None:
        """The value when there is one."""
        return self.result.number if self.result is not None else None

    @property
    def delta(self) -> int | float | None:
        """What is added to the last number before, when both are there."""
        return None if self.number is None or self.before is None else self.number - self.before

    @property
    def relative(self) -> float | None:
        """The change as a share of the number before."""
        return self.delta / abs(self.before) if self.delta is not None and self.before else None


@dataclass(frozen=True, slots=True)
class TimelineReport:
    """The releases, oldest first; `inputs` are the server's, `assumed` why the newest has those nobody gave."""

    quantity: str
    unit: str
    scenario: str
    inputs: Mapping[str, Value]
    moments: tuple[Moment, ...]
    assumed: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[Moment, ...]:
        """The releases that differ from the one before."""
        return tuple(moment for moment in self.moments if moment.changed)

    @property
    def is_lost(self) -> bool:
        """Whether the formulas of no release could be had."""
        return all(moment.lost is not None for moment in self.moments)
