"""Between which fractions a server can work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import FRACTION, REST, TOKENS
from analyzer.application.search import first_step
from analyzer.domain.evaluation import CaseResult, Inputs
from analyzer.domain.explanation import Window
from analyzer.domain.startup import AFTER_POOL, BEFORE, GRAPHS, LEFT, Reading, Start

# The fraction is printed and given with three digits.
_STEPS: Final = 1000
_NONE_WORKS: Final = "no fraction below 1 gives a positive budget: the weights leave less than one page"
_NOT_MONOTONE: Final = "not every larger fraction works: the formula does not rise with the fraction everywhere"


def find_window(formula: FormulaOf, inputs: Inputs, start: Start, readings: Mapping[str, Reading]) -> Window:
    """The smallest fraction that gives a positive count, and the largest that leaves what was taken after the pool."""
    current = inputs.values.get(FRACTION)
    known = float(current) if isinstance(current, int | float) else None
    found = first_step(lambda steps: _working(formula, inputs, steps), 1, _STEPS - 1)
    if found.step is None:
        return Window(known, None, None, possible=False, reasons=(_NONE_WORKS,))
    smallest = found.step
    reasons = [] if found.is_monotone else [_NOT_MONOTONE]
    largest, why = _largest(start, readings, inputs)
    reasons.append(why)
    possible = largest is None or largest >= smallest / _STEPS
    if not possible:
        reasons.append("what graphs and activations took does not fit beside the weights with any fraction")
    return Window(known, smallest / _STEPS, largest, possible, tuple(reasons))


def _working(formula: FormulaOf, inputs: Inputs, steps: Sequence[int]) -> dict[int, bool]:
    """For fractions in thousandths, whether the server would get past the sizing."""
    results = formula.results(_with_fractions(inputs, [step / _STEPS for step in steps]))
    return {step: _starts(result) for step, result in zip(steps, results, strict=True)}


def _with_fractions(inputs: Inputs, fractions: Sequence[float]) -> list[Inputs]:
    return [replace(inputs, values={**inputs.values, FRACTION: fraction}) for fraction in fractions]


def _starts(result: CaseResult) -> bool:
    """Whether the sizing would succeed; without the bytes per token, whether there is anything to size."""
    item = result.quantities.get(TOKENS)
    if item is None or item.missing:
        item = result.quantities.get(REST)
    return item is not None and item.number is not None and item.number > 0


def _largest(start: Start, readings: Mapping[str, Reading], inputs: Inputs) -> tuple[float | None, str]:
    """The fraction that keeps free what was taken after the pool was allocated."""
    needed = _taken_after_pool(start, readings)
    before = inputs.values.get(BEFORE)
    if needed is None or not isinstance(before, int | float) or before <= 0:
        return None, "how much graphs and activations take is not in this log"
    largest = math.floor((1 - needed / before) * _STEPS) / _STEPS
    return largest, f"graphs and what else came after the pool took {needed:g} GiB"


def _taken_after_pool(start: Start, readings: Mapping[str, Reading]) -> float | None:
    if GRAPHS in readings:
        taken = readings[GRAPHS].value
        if AFTER_POOL in readings and LEFT in readings and start.failure is None:
            taken = max(taken, round(readings[AFTER_POOL].value - readings[LEFT].value, 2))
        return taken
    if start.failure is not None and start.failure.kind == "out_of_memory" and AFTER_POOL in readings:
        # All that was left was not enough.
        return readings[AFTER_POOL].value
    return None
