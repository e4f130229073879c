"""The default fraction on machines that many people have, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzer.application.evaluate import inputs_read
from analyzer.domain.binding import Binding
from analyzer.domain.extraction import Extraction
from analyzer.domain.report import MachineFraction, Value
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import CAPACITY, DEFAULT_FRACTION, outcome, scenario_values
from analyzer.domain.semantics import Evaluator, MissingInputError, Off, RaisedError
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
    sides = _Side(base, rules), _Side(head, rules)
    families: dict[tuple[MachineFraction, ...], list[str]] = {}
    for scenario in scenarios:
        families.setdefault(_machines(sides, scenario), []).append(scenario)
    return tuple(replace(row, scenarios=tuple(names)) for rows, names in families.items() for row in rows)


def _machines(sides: tuple[_Side, _Side], scenario: str) -> tuple[MachineFraction, ...]:
    found = []
    for card, memory in CARDS.items():
        for ranks in _TENSOR_PARALLEL:
            before, after = (side.default(scenario, memory, ranks) for side in sides)
            found.append(MachineFraction(card, memory, ranks, before, after))
    return tuple(found)


class _Side:
    """The default of one release."""

    def __init__(self, extraction: Extraction, rules: RuleSet) -> None:
        self._extraction = extraction
        self._rules = rules
        formula = extraction.quantities.get(DEFAULT_FRACTION)
        self._term = None if formula is None else outcome(formula)
        self._read = inputs_read(extraction, rules, (DEFAULT_FRACTION,)) if formula is not None else frozenset()
        self._compiled = Evaluator()
        self._known: dict[tuple[object, ...], Scalar] = {}

    def default(self, scenario: str, memory: int, ranks: int) -> Scalar:
        """The fraction, or the name of the exception that stops the server."""
        values = scenario_values(self._rules, scenario)
        # Most of what tells the families apart is not asked for by the default.
        key = (memory, ranks, *((name, repr(values[name])) for name in sorted(values.keys() & self._read)))
        if key not in self._known:
            self._known[key] = self._compute(values, {CAPACITY: memory, "tp_size": ranks})
        return self._known[key]

    def _compute(self, values: Mapping[str, Value], machine: Mapping[str, Value]) -> Scalar:
        if self._term is None:
            return None
        binding = Binding(self._extraction, self._rules, values, machine, self._compiled)
        try:
            value = binding.value(self._term)
        except RaisedError as raised:
            return raised.exception
        except MissingInputError:
            return None
        return None if value is None or isinstance(value, Off) else float(value)
