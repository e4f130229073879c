"""Which flag moves the count, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from analyzer.application.evaluate import inputs_read
from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import FRACTION, KV_DTYPE, TOKENS
from analyzer.domain.evaluation import CaseResult, Inputs, Value
from analyzer.domain.explanation import Lever
from analyzer.domain.rules import SymbolRule

_ELEMENT: Final = "kv_element_size"
_FP8: Final = "fp8_e4m3"
_STEP: Final = 0.01
_HALF: Final = 2
# Another topology puts other weights on a rank: the readings of this log say nothing about it.
_TOPOLOGY: Final = frozenset({"tp_size", "dp_size", "pp_size", "enable_dp_attention", "device"})


def find_levers(formula: FormulaOf, inputs: Inputs, result: CaseResult) -> tuple[Lever, ...]:
    """Each flag that the count depends on, moved one step; the strongest first."""
    tokens = result.quantities[TOKENS].value
    if not isinstance(tokens, int):
        return ()
    moves = list(_moves(formula, inputs))
    moved = [replace(inputs, values={**inputs.values, **values}) for *_, values in moves]
    found = []
    for (flag, name, before, after, _), outcome in zip(moves, formula.results(moved), strict=True):
        value = outcome.quantities[TOKENS].value if TOKENS in outcome.quantities else None
        if isinstance(value, int) and value != tokens:
            found.append(Lever(flag, name, before, after, value, value - tokens))
    return tuple(sorted(found, key=lambda lever: (-abs(lever.change), lever.flag)))


def _moves(formula: FormulaOf, inputs: Inputs) -> Iterator[tuple[str, str, Value, Value, Mapping[str, Value]]]:
    """Flag, symbol, value, another value and the inputs that it sets, for every option that the count reads."""
    read = inputs_read(formula.extraction, formula.rules, (TOKENS,))
    fraction = inputs.values.get(FRACTION)
    if isinstance(fraction, int | float) and fraction + _STEP < 1:
        more = round(fraction + _STEP, 4)
        yield "--mem-fraction-static", FRACTION, fraction, more, {FRACTION: more}
    if _ELEMENT in read and inputs.values.get(_ELEMENT, _HALF) == _HALF:
        dtype = inputs.values.get(KV_DTYPE) or "auto"
        named = {KV_DTYPE: _FP8} if KV_DTYPE in formula.rules.symbols else {}
        yield "--kv-cache-dtype", KV_DTYPE, dtype, _FP8, {**named, _ELEMENT: 1}
    for name in sorted(read & formula.rules.symbols.keys() - _TOPOLOGY - {KV_DTYPE}):
        rule = formula.rules.symbols[name]
        flag = _flag(rule)
        before = inputs.values.get(name)
        if flag is not None and name in inputs.values:
            for after in _alternatives(rule, before):
                yield flag, name, before, after, {name: after}


def _flag(rule: SymbolRule) -> str | None:
    return f"--{rule.arguments[0].replace('_', '-')}" if rule.arguments else None


def _alternatives(rule: SymbolRule, value: Value) -> Iterator[Value]:
    """Another value of an option: without it, the other of two, or half of it."""
    if isinstance(value, bool):
        yield not value
    elif value is not None and rule.domain.optional:
        yield None
    elif isinstance(value, int) and value > 1:
        yield value // _HALF
    elif isinstance(value, float):
        yield value / _HALF
