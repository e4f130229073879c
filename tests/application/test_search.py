"""The first step of a row, found in few tries."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from analyzer.application.search import Found, first_step


@given(st.integers(-50, 50), st.integers(0, 5_000), st.integers(-60, 5_100))
def test_the_first_step_is_exact_where_all_later_ones_hold(low: int, length: int, border: int) -> None:
    tried: list[int] = []

    def holds(steps: Sequence[int]) -> dict[int, bool]:
        tried.extend(steps)
        return {step: step >= border for step in steps}

    found = first_step(holds, low, low + length)
    assert found == Found(None if border > low + length else max(border, low), is_monotone=True)
    assert all(low <= step <= low + length for step in tried)
    assert len(tried) <= 100


def test_a_row_that_does_not_hold_on_is_reported() -> None:
    found = first_step(lambda steps: {step: 300 <= step < 700 for step in steps}, 1, 999)
    assert found == Found(300, is_monotone=False)
