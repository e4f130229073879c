"""The use case of `diff --model`: one server under two releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from analyzer.application.effects import pair_results
from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import COST, REST, TOKENS
from analyzer.domain.effect import Effect
from analyzer.domain.evaluation import CaseResult, Inputs, Result, Value
from analyzer.domain.impact import ImpactReport, Movement
from analyzer.domain.startup import BEFORE

_GIB: Final = 1 << 30
_CLOSE: Final = 1e-3
_FRACTION: Final = "effective_mem_fraction_static"
_KV_SIZE: Final = "kv_cache"
_SPLIT: Final = "swa_max_total_num_tokens"
_SHOWN: Final = (
    TOKENS,
    "full_max_total_num_tokens",
    _SPLIT,
    _KV_SIZE,
    "max_num_reqs",
    "max_mamba_cache_size",
    _FRACTION,
    REST,
    COST,
)


def measure_impact(base: FormulaOf, head: FormulaOf, before: Inputs, after: Inputs) -> ImpactReport:
    """What `base` computes with `before` and `head` with `after`: the same server, read by the rules of each.

    Raises UsageError for inputs that no configuration could have.
    """
    names = [name for name in _SHOWN if name != _KV_SIZE]
    first, second = base.result(before, names), head.result(after, names)
    effects = [*pair_results(first, second, names), Effect(_KV_SIZE, _kv_size(first), _kv_size(second))]
    effects.sort(key=lambda effect: _SHOWN.index(effect.quantity))
    notes = [base.revision.note, head.revision.note]
    if base.scenario != head.scenario:
        notes.append(f"{base.revision.spec} sizes this model as {base.scenario}")
    return ImpactReport(
        base=base.revision,
        head=head.revision,
        scenario=head.scenario,
        inputs=after.values,
        assumed=after.assumed,
        effects=tuple(effect for effect in effects if effect.quantity == TOKENS or _has_value(effect)),
        movements=tuple(_movements(first, second, after.values)),
        defaults={
            name: (first.defaults.get(name), second.defaults.get(name))
            for name in {**first.defaults, **second.defaults}
        },
        notes=tuple(dict.fromkeys(filter(None, notes))),
    )


def _has_value(effect: Effect) -> bool:
    return effect.before.value is not None or effect.after.value is not None


def _kv_size(result: CaseResult) -> Result:
    """The memory of the tokens, in GiB; pools of several kinds of layers hold different numbers of them."""
    tokens, cost = result.quantities[TOKENS].number, result.quantities[COST].number
    if result.quantities[_SPLIT].number is not None:
        tokens = None
    size = None if tokens is None or cost is None else round(tokens * cost / _GIB, 4)
    return replace(result.quantities[TOKENS], value=size, unit="GiB")


def _movements(first: CaseResult, second: CaseResult, inputs: Mapping[str, Value]) -> list[Movement]:
    """The change of the count, term by term: the fraction, other reservations, bytes per token, and the rest.

    Each is what the count changes by when that term alone goes from its old to its new value, in this order.
    """
    sides = first.quantities, second.quantities
    pairs = [(sides[0][name].number, sides[1][name].number) for name in (TOKENS, COST, REST)]
    if any(value is None for pair in pairs for value in pair):
        return []
    tokens, cost, rest = ((float(old or 0), float(new or 0)) for old, new in pairs)
    if any(side[_SPLIT].number is not None for side in sides) and all(tokens):
        # Where pools of several kinds of layers share the budget, what a release calls bytes per token is its own.
        old, new = (amount * _GIB / count for amount, count in zip(rest, tokens, strict=True))
        # Whole tokens and pages tell the bytes of one no better than that.
        cost = old, old if abs(new - old) < _CLOSE * old else new
    fraction = [side[_FRACTION].number for side in sides]
    moved = 0.0 if None in fraction else float(fraction[1] or 0) - float(fraction[0] or 0)
    free = inputs.get(BEFORE)
    by_fraction = moved * free if isinstance(free, int | float) else 0.0
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
