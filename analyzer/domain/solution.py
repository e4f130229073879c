"""What `solve` reports, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.domain.evaluation import Value
from analyzer.domain.source import Revision


@dataclass(frozen=True, slots=True)
class Solution:
    """What one unknown must be for the count to reach the target.

    `value` is None when nothing reaches it, `tokens` what the count then is, at most or exactly. `is_monotone` is
    false when values beyond it were seen that do not reach the target. `missing` are inputs that are needed first.
    """

    unknown: str
    value: float | None
    unit: str
    tokens: int | None
    is_monotone: bool = True
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SolveReport:
    """The unknowns that were asked for, each solved by itself."""

    revision: Revision
    scenario: str
    target: int
    inputs: Mapping[str, Value]
    assumed: Mapping[str, str]
    solutions: tuple[Solution, ...]
    notes: tuple[str, ...] = ()
