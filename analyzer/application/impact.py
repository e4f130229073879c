"""The use case of `diff --model`: one server under two releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import COST, REST, TOKENS
from analyzer.domain.evaluation import CaseResult, Inputs, Value
from analyzer.domain.impact import ImpactReport, Movement, Outcome
from analyzer.domain.startup import BEFORE

_GIB: Final = 1 << 30
_FRACTION: Final = "effective_mem_fraction_static"
_KV_SIZE: Final = "kv_cache"
_SHOWN: Final = (
    TOKENS,
    "full_max_total_num_tokens",
    "swa_max_total_num_tokens",
    _KV_SIZE,
    "max_num_reqs",
    "max_mamba_cache_size",
    _FRACTION,
    REST,
    COST,
)


def measure_impact(base: FormulaOf, head: FormulaOf, before: Inputs, after: Inputs) -> ImpactReport:
    """What `base` computes with `before` and `head` with `after`: the same server, read by the rules of each."""
    first, second = base.result(before), head.result(after)
    outcomes = tuple(_outcomes(first, second))
    missing = {name for result in (first, second) for name in _missing(result)}
    sides = {"base": first, "head": second}
    return ImpactReport(
        base=base.revision,
        head=head.revision,
        scenario=head.scenario,
        inputs=after.values,
        assumed=after.assumed,
        outcomes=outcomes,
        movements=tuple(_movements(first, second, after.values)),
        errors={side: result.error for side, result in sides.items() if result.error is not None},
        missing=tuple(sorted(missing)),
        notes=tuple(dict.fromkeys(filter(None, (base.revision.note, head.revision.note)))),
    )


def _missing(result: CaseResult) -> tuple[str, ...]:
    if result.problem is not None:
        return ()
    item = result.quantities.get(TOKENS)
    return item.missing if item is not None else (TOKENS,)


def _outcomes(first: CaseResult, second: CaseResult) -> list[Outcome]:
    found = []
    for name in _SHOWN:
        before, after = _value(first, name), _value(second, name)
        if before is not None or after is not None:
            found.append(Outcome(name, before, after, _unit(name, first, second)))
    return found


def _unit(name: str, *results: CaseResult) -> str:
    if name == _KV_SIZE:
        return "GiB"
    return next((result.quantities[name].unit for result in results if name in result.quantities), "")


def _value(result: CaseResult, name: str) -> Value:
    if name != _KV_SIZE:
        item = result.quantities.get(name)
        return item.value if item is not None else None
    tokens, cost = _value(result, TOKENS), _value(result, COST)
    return round(tokens * cost / _GIB, 4) if isinstance(tokens, int | float) and isinstance(cost, int | float) else None


def _movements(first: CaseResult, second: CaseResult, inputs: Mapping[str, Value]) -> list[Movement]:
    """The change of the count, term by term: the fraction, other reservations, bytes per token, and the rest.

    Each is what the count changes by when that term alone goes from its old to its new value, in this order.
    """
    pairs = [(_number(_value(first, name)), _number(_value(second, name))) for name in (TOKENS, COST, REST)]
    if any(value is None for pair in pairs for value in pair):
        return []
    tokens, cost, rest = ((float(old or 0), float(new or 0)) for old, new in pairs)
    fraction = [_number(_value(result, _FRACTION)) for result in (first, second)]
    moved = 0.0 if None in fraction else float(fraction[1] or 0) - float(fraction[0] or 0)
    by_fraction = moved * float(_number(inputs.get(BEFORE)) or 0)
    by_reservation = rest[1] - rest[0] - by_fraction
    changes = {
        "fraction in effect": by_fraction * _GIB / cost[0],
        "other reservations": by_reservation * _GIB / cost[0],
        "bytes per token": rest[1] * _GIB / cost[1] - rest[1] * _GIB / cost[0],
    }
    changes["caps, splits and rounding"] = tokens[1] - tokens[0] - sum(changes.values())
    return [
        Movement(term, round(change), round(change * cost[1] / _GIB, 4))
        for term, change in changes.items()
        if round(change)
    ]


def _number(value: Value) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
