"""Finding the first step of a row from which on something holds, and whether it then holds everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

Holds = Callable[[Sequence[int]], Mapping[int, bool]]
_POINTS: Final = 24


@dataclass(frozen=True, slots=True)
class Found:
    """The first step, None when there is none.

    `is_monotone` says that no step after it was seen where it does not hold.
    """

    step: int | None
    is_monotone: bool


def first_step(holds: Holds, low: int, high: int) -> Found:
    """The first step between `low` and `high`, ends included, where `holds`, as far as the steps tried tell."""
    known: dict[int, bool] = {}
    while True:
        known |= holds([step for step in _spread(low, high) if step not in known])
        first = min((step for step, held in known.items() if held), default=None)
        if first is None:
            return Found(None, is_monotone=True)
        below = max((step for step in known if step < first), default=first - 1)
        if below == first - 1 or first == low:
            return Found(first, all(held for step, held in known.items() if step > first))
        low, high = below + 1, first


def _spread(low: int, high: int) -> list[int]:
    """At most `_POINTS` steps from `low` to `high`, evenly, both included."""
    count = min(high - low, _POINTS - 1)
    return [low] if count <= 0 else [low + (high - low) * point // count for point in range(count + 1)]
