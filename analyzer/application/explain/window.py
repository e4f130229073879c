"""Between which fractions a server can work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import FRACTION, REST, TOKENS
from analyzer.application.search import first_step
from analyzer.domain.evaluation import CaseResult, Inputs
from analyzer.domain.explanation import Window
from analyzer.domain.startup import AFTER_POOL, BEFORE, GRAPHS, LEFT, Failure, Reading, Start

# The fraction is printed and given with three digits.
_STEPS: Final = 1000
_CONTEXT: Final = "context_len"
_UNKNOWN: Final = "how much graphs and activations take is not in this log"
_NONE_WORKS: Final = "no fraction below 1 gives a positive budget: the weights leave less than one page"
_NOT_MONOTONE: Final = "not every larger fraction works: the formula does not rise with the fraction everywhere"


def find_window(formula: FormulaOf, inputs: Inputs, start: Start, readings: Mapping[str, Reading]) -> Window:
    """The smallest fraction that gives a positive count, and the largest that leaves what was taken after the pool."""
    current = inputs.values.get(FRACTION)
    known = float(current) if isinstance(current, int | float) else None
    found = first_step(lambda steps: _reaching(formula, inputs, steps, 1), 1, _STEPS - 1)
    if found.step is None:
        return Window(known, None, None, possible=False, reasons=(_NONE_WORKS,))
    smallest = found.step / _STEPS
    reasons = [] if found.is_monotone else [_NOT_MONOTONE]
    most = _largest(start, readings, inputs, known)
    reasons.append(most.why)
    possible = most.fraction is None or most.fraction >= smallest
    if not possible:
        reasons.append("what graphs and activations took does not fit beside the weights with any fraction")
    [least] = formula.results(_with_fractions(inputs, [smallest]), [TOKENS])
    context, whole = _whole_context(formula, inputs)
    return Window(
        known,
        smallest,
        most.fraction,
        possible,
        tuple(reasons),
        largest_is_bound=most.is_bound,
        tokens=_count(least),
        context_len=context,
        whole_context=whole,
    )


def _whole_context(formula: FormulaOf, inputs: Inputs) -> tuple[int | None, float | None]:
    """The longest sequence of the model, and the smallest fraction with which one of that length fits."""
    length = formula.result(inputs, [_CONTEXT]).quantities[_CONTEXT].number
    if not isinstance(length, int) or length <= 0:
        return None, None
    found = first_step(lambda steps: _reaching(formula, inputs, steps, length), 1, _STEPS - 1)
    return length, None if found.step is None else found.step / _STEPS


def _reaching(formula: FormulaOf, inputs: Inputs, steps: Sequence[int], target: int) -> dict[int, bool]:
    """For fractions in thousandths, whether the sizing would succeed with at least `target` tokens.

    Without the bytes per token any budget counts for one.
    """
    results = formula.results(_with_fractions(inputs, [step / _STEPS for step in steps]))
    return {step: _reaches(result, target) for step, result in zip(steps, results, strict=True)}


def _reaches(result: CaseResult, target: int) -> bool:
    item = result.quantities.get(TOKENS)
    if item is None or item.missing:
        rest = result.quantities.get(REST)
        return target == 1 and rest is not None and rest.number is not None and rest.number > 0
    return item.number is not None and item.number >= target


def _count(result: CaseResult) -> int | None:
    number = result.quantities[TOKENS].number if TOKENS in result.quantities else None
    return None if number is None else int(number)


def _with_fractions(inputs: Inputs, fractions: Sequence[float]) -> list[Inputs]:
    return [replace(inputs, values={**inputs.values, FRACTION: fraction}) for fraction in fractions]


@dataclass(frozen=True, slots=True)
class _Most:
    """The largest fraction and why; a bound is one that may still be too large."""

    fraction: float | None
    why: str
    is_bound: bool = False


def _largest(start: Start, readings: Mapping[str, Reading], inputs: Inputs, current: float | None) -> _Most:
    """The fraction that keeps free what was taken after the pool was allocated."""
    before = inputs.values.get(BEFORE)
    if not isinstance(before, int | float) or before <= 0:
        return _Most(None, _UNKNOWN)
    if start.failure is not None and start.failure.kind == "out_of_memory":
        return _below(start.failure, readings, before, current)
    if GRAPHS not in readings:
        return _Most(None, _UNKNOWN)
    needed = readings[GRAPHS].value
    if AFTER_POOL in readings and LEFT in readings and start.failure is None:
        needed = max(needed, round(readings[AFTER_POOL].value - readings[LEFT].value, 2))
    return _Most(_floor(1 - needed / before), f"graphs and what else came after the pool took {needed:g} GiB")


def _below(failure: Failure, readings: Mapping[str, Reading], before: float, current: float | None) -> _Most:
    """A fraction below the one that failed: what was taken when memory ran out is less than what is needed."""
    short = failure.short or 0.0
    limits = [] if current is None else [min(_floor(current - short / before), round(current - 1 / _STEPS, 3))]
    why = f"memory ran out {f'{short:.2f} GiB short ' * (short > 0)}with {current:g}: " * (current is not None)
    if AFTER_POOL in readings:
        limits.append(_floor(1 - (readings[AFTER_POOL].value + short) / before))
        why += f"the {readings[AFTER_POOL].value:g} GiB left after the pool were not enough, and "
    if not limits:
        return _Most(None, _UNKNOWN)
    return _Most(min(limits), f"{why}how much more is needed is not in this log", is_bound=True)


def _floor(fraction: float) -> float:
    # What binary fractions take off is no step.
    return math.floor(round(fraction * _STEPS, 6)) / _STEPS
