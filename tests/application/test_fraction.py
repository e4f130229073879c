"""The search for the fraction: the smallest, found among few tries, and honest about a formula that falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from analyzer.application.fraction import FractionFound, smallest_fraction


def over(threshold: float) -> Callable[[Sequence[float]], list[bool]]:
    """A goal that every fraction from `threshold` on reaches."""
    return lambda fractions: [fraction >= threshold for fraction in fractions]


@pytest.mark.parametrize("threshold", [0.001, 0.019, 0.02, 0.021, 0.5, 0.8815, 0.98, 0.981, 0.999])
def test_the_smallest_is_found(threshold: float) -> None:
    found = smallest_fraction(over(threshold)).fraction
    assert found is not None
    assert found >= threshold
    assert found - 0.001 < threshold


def test_none_below_one() -> None:
    assert smallest_fraction(over(1.0)) == FractionFound(None)


def test_few_are_tried() -> None:
    tried: list[float] = []

    def reaches(fractions: Sequence[float]) -> list[bool]:
        tried.extend(fractions)
        return over(0.873)(fractions)

    assert smallest_fraction(reaches) == FractionFound(0.873)
    assert len(tried) < 80


def test_a_goal_that_is_lost_again_is_said_to_be() -> None:
    found = smallest_fraction(lambda fractions: [0.4 <= fraction < 0.6 for fraction in fractions])
    assert found == FractionFound(0.4, monotone=False)
