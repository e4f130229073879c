"""The search for the memory fraction that reaches a goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

# The fraction is printed and given with three digits.
_STEPS: Final = 1000
_COARSE: Final = 20


@dataclass(frozen=True, slots=True)
class FractionFound:
    """The smallest fraction that reaches a goal; None when none below 1 does.

    `monotone` tells whether every larger fraction that was tried reaches it, too.
    """

    fraction: float | None
    monotone: bool = True


def smallest_fraction(reaches: Callable[[Sequence[float]], Sequence[bool]]) -> FractionFound:
    """The smallest of the fractions with three digits for which `reaches` holds.

    Fifty fractions are tried first and then those below the first that does: that more of the fraction gives more
    is not taken for granted, only that no goal is reached in less than a fiftieth of the range and lost again.
    """
    tried: dict[int, bool] = {}

    def attempt(steps: Sequence[int]) -> int | None:
        tried.update(zip(steps, reaches([step / _STEPS for step in steps]), strict=True))
        return min((step for step, good in tried.items() if good), default=None)

    first = attempt(range(_COARSE, _STEPS, _COARSE))
    if first is None:
        first = attempt(range(_STEPS - _COARSE + 1, _STEPS))
    if first is None:
        return FractionFound(None)
    smallest = attempt(range(max(first - _COARSE, 0) + 1, first)) or first
    monotone = all(good for step, good in tried.items() if step > smallest)
    return FractionFound(smallest / _STEPS, monotone)
