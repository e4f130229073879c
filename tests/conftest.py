"""Settings of the whole test run."""

from __future__ import annotations

import gc
from typing import Final

import pytest

# As the program itself does: formulas are many long-lived objects, and collecting among them doubles the time.
gc.set_threshold(200_000, 20, 100)

# What the interpreter does not do yet, each with why. Strict: one that starts to pass has to leave this list.
KNOWN_LIMITS: Final = {
    "test_the_fraction_is_adjusted[method-over the user's value]": "a constant fraction folds into its headroom",
    "test_the_fraction_is_adjusted[constructor-over the user's value]": "a constant fraction folds into its headroom",
    "test_the_fraction_is_adjusted[loader-over the user's value]": "a constant fraction folds into its headroom",
    "test_the_value_path_in_order": "a count that is set in the statement that computes it comes before its budget",
    "test_no_source_can_exhaust_the_machine[nested loops]": "nested long loops end in a recursion error",
    "ReqToTokenPool(size=64 + 1, width=4)-64]": "a constant size folds with its padding row",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the known limits."""
    for item in items:
        for name, reason in KNOWN_LIMITS.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
