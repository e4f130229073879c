"""The use case of `solve`: which fraction, weight size or cap makes the count reach a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzer.application.evaluate import check_inputs
from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import FRACTION, TOKENS
from analyzer.application.search import first_step
from analyzer.application.selection import require
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import CaseResult, Inputs, Value
from analyzer.domain.solution import Solution, SolveReport
from analyzer.domain.startup import AFTER, BEFORE

_THOUSAND: Final = 1000
_HUNDRED: Final = 100
_MOST_MEMORY: Final = 1_000_000
_CAP: Final = "max_total_tokens"
_PAGE: Final = "page_size"


@dataclass(frozen=True, slots=True)
class _Axis:
    """An unknown as a row of steps: the value at a step, and the inputs that it sets."""

    unit: str
    steps: tuple[int, int]
    value: Callable[[int], float]
    inputs: Callable[[int], Mapping[str, Value]]


def solve(formula: FormulaOf, inputs: Inputs, target: int, unknowns: Sequence[str]) -> SolveReport:
    """Solve for each of `unknowns` (of `UNKNOWNS`), with all others as `inputs` give them. Raises UsageError."""
    for name in unknowns:
        require(name, UNKNOWNS, "unknown")
    check_inputs(inputs.values, formula.rules)
    return SolveReport(
        revision=formula.revision,
        scenario=formula.scenario,
        target=target,
        inputs=inputs.values,
        assumed=inputs.assumed,
        solutions=tuple(_solve(name, formula, inputs, target) for name in unknowns),
        notes=tuple(filter(None, [formula.revision.note])),
    )


def _solve(name: str, formula: FormulaOf, inputs: Inputs, target: int) -> Solution:
    needed = {"fraction": (BEFORE, AFTER), "weights": (BEFORE,), "cap": ()}[name]
    absent = tuple(item for item in needed if not isinstance(inputs.values.get(item), int | float))
    if absent:
        return Solution(name, None, _UNITS[name], None, missing=absent)
    axis = UNKNOWNS[name](inputs, target)
    tried: dict[int, CaseResult] = {}

    def reaches(steps: Sequence[int]) -> dict[int, bool]:
        cases = [replace(inputs, values={**inputs.values, **axis.inputs(step)}) for step in steps]
        results = dict(zip(steps, formula.results(cases), strict=True))
        tried.update(results)
        return {step: (_tokens(result) or 0) >= target for step, result in results.items()}

    found = first_step(reaches, *axis.steps)
    if found.step is None:
        return _unreachable(name, axis, list(tried.values()))
    return Solution(name, axis.value(found.step), axis.unit, _tokens(tried[found.step]), found.is_monotone)


def _unreachable(name: str, axis: _Axis, results: Sequence[CaseResult]) -> Solution:
    counts = [tokens for tokens in map(_tokens, results) if tokens is not None]
    missing = {name for result in results for name in result.quantities[TOKENS].missing}
    return Solution(name, None, axis.unit, max(counts, default=None), missing=() if counts else tuple(sorted(missing)))


def _tokens(result: CaseResult) -> int | None:
    item = result.quantities.get(TOKENS)
    return int(item.number) if item is not None and item.number is not None else None


def _fraction_axis(inputs: Inputs, target: int) -> _Axis:
    """The smallest fraction of three digits."""
    del inputs, target
    return _Axis("1", (1, _THOUSAND - 1), lambda step: step / _THOUSAND, lambda step: {FRACTION: step / _THOUSAND})


def _weights_axis(inputs: Inputs, target: int) -> _Axis:
    """The largest weights of two digits: the row begins with the most that fits."""
    del target
    before = float(str(inputs.values[BEFORE]))
    if not 0 <= before <= _MOST_MEMORY:
        raise UsageError(f"{BEFORE} must be between 0 and {_MOST_MEMORY:,} GiB, not {before:g}")
    most = math.floor(before * _HUNDRED)

    def weights(step: int) -> float:
        return (most - step) / _HUNDRED

    return _Axis("GiB", (0, most), weights, lambda step: {AFTER: before - weights(step)})


def _cap_axis(inputs: Inputs, target: int) -> _Axis:
    """The smallest cap of whole pages; one page more covers what a release takes off."""
    page = inputs.values.get(_PAGE) or 1
    size = int(page) if isinstance(page, int | float) else 1
    pages = math.ceil(target / size)
    return _Axis("token", (pages, pages + 1), lambda step: step * size, lambda step: {_CAP: step * size})


UNKNOWNS: Final[Mapping[str, Callable[[Inputs, int], _Axis]]] = {
    "fraction": _fraction_axis,
    "weights": _weights_axis,
    "cap": _cap_axis,
}
_UNITS: Final = {"fraction": "1", "weights": "GiB", "cap": "token"}
