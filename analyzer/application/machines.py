"""The default fraction on machines that many people have, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzer.domain.binding import Binding
from analyzer.domain.extraction import Extraction
from analyzer.domain.report import MachineFraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import CAPACITY, DEFAULT_FRACTION, outcome, scenario_values
from analyzer.domain.semantics import MissingInputError, Off, RaisedError
from analyzer.domain.terms import Scalar

# What the driver reports for cards of these sizes, in MiB.
CARDS: Final[Mapping[str, int]] = {
    "24 GB": 24_564,
    "40 GB": 40_960,
    "80 GB": 81_559,
    "96 GB": 97_871,
    "141 GB": 143_771,
    "180 GB": 183_359,
}
_TENSOR_PARALLEL: Final = (1, 8)


def common_machines(
    base: Extraction, head: Extraction, rules: RuleSet, scenarios: Sequence[str]
) -> tuple[MachineFraction, ...]:
    """The default on each common machine on both sides, once for all `scenarios` that have the same ones.

    A side that has none gives None.
    """
    families: dict[tuple[MachineFraction, ...], list[str]] = {}
    for scenario in scenarios:
        families.setdefault(_machines(base, head, rules, scenario), []).append(scenario)
    return tuple(replace(row, scenarios=tuple(names)) for rows, names in families.items() for row in rows)


def _machines(base: Extraction, head: Extraction, rules: RuleSet, scenario: str) -> tuple[MachineFraction, ...]:
    found = []
    for card, memory in CARDS.items():
        for ranks in _TENSOR_PARALLEL:
            before, after = (_default(side, rules, scenario, memory, ranks) for side in (base, head))
            found.append(MachineFraction(card, memory, ranks, before, after))
    return tuple(found)


def _default(extraction: Extraction, rules: RuleSet, scenario: str, memory: int, ranks: int) -> Scalar:
    """The fraction, or the name of the exception that stops the server."""
    formula = extraction.quantities.get(DEFAULT_FRACTION)
    if formula is None:
        return None
    binding = Binding(extraction, rules, scenario_values(rules, scenario), {CAPACITY: memory, "tp_size": ranks})
    try:
        value = binding.value(outcome(formula))
    except RaisedError as raised:
        return raised.exception
    except MissingInputError:
        return None
    return None if isinstance(value, Off) else float(value)
