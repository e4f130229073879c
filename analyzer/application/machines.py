"""The default fraction on machines that many people have, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.domain.binding import Binding
from analyzer.domain.extraction import Extraction
from analyzer.domain.report import MachineFraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import CAPACITY, DEFAULT_FRACTION, outcome
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


def common_machines(base: Extraction, head: Extraction, rules: RuleSet) -> tuple[MachineFraction, ...]:
    """The default on each common machine on both sides; a side that has none gives None."""
    return tuple(
        MachineFraction(card, memory, ranks, *(_default(side, rules, memory, ranks) for side in (base, head)))
        for card, memory in CARDS.items()
        for ranks in _TENSOR_PARALLEL
    )


def _default(extraction: Extraction, rules: RuleSet, memory: int, ranks: int) -> Scalar:
    """The fraction, or the name of the exception that stops the server."""
    formula = extraction.quantities.get(DEFAULT_FRACTION)
    if formula is None:
        return None
    binding = Binding(extraction, rules, {}, {CAPACITY: memory, "tp_size": ranks})
    try:
        value = binding.value(outcome(formula))
    except RaisedError as raised:
        return raised.exception
    except MissingInputError:
        return None
    return None if isinstance(value, Off) else float(value)
