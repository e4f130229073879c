"""Where the memory of one rank went, in GiB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.application.explain.inputs import COST, TOKENS
from analyzer.domain.evaluation import CaseResult
from analyzer.domain.explanation import LedgerItem
from analyzer.domain.startup import (
    AFTER_POOL,
    BEFORE,
    DRAFT_KV_CACHE,
    DRAFT_WEIGHTS,
    GRAPHS,
    KV_CACHE,
    LEFT,
    STATES,
    WEIGHTS,
    Reading,
    Start,
)

_SPLIT: Final = "swa_max_total_num_tokens"
_GIB: Final = 1 << 30
# Readings of one moment differ by rounding, and graphs are measured between two more of them.
_NOISE: Final = 0.2
_TAKEN: Final = (
    ("weights", WEIGHTS),
    ("draft model weights", DRAFT_WEIGHTS),
    ("mamba states", STATES),
    ("KV cache", KV_CACHE),
    ("draft KV cache", DRAFT_KV_CACHE),
    ("graphs", GRAPHS),
    ("left over", LEFT),
)


def keep_ledger(start: Start, readings: Mapping[str, Reading], result: CaseResult | None) -> tuple[LedgerItem, ...]:
    """Free memory before loading, and what became of it; nothing when the log has no reading to begin with."""
    if BEFORE not in readings:
        return ()
    amounts = {name: readings[name].value for _, name in _TAKEN if name in readings}
    if KV_CACHE not in amounts:
        size = _counted(start, result)
        if size is not None:
            amounts[KV_CACHE] = size
    if LEFT not in amounts and AFTER_POOL in readings:
        amounts[LEFT] = readings[AFTER_POOL].value
    items = [LedgerItem("free before loading", readings[BEFORE].value)]
    items += [LedgerItem(words, amounts[name]) for words, name in _TAKEN if name in amounts]
    if LEFT in amounts and AFTER_POOL in readings:
        released = round(amounts[LEFT] + amounts.get(GRAPHS, 0.0) - readings[AFTER_POOL].value, 2)
        if released > _NOISE:
            items.append(LedgerItem("released after the pool was allocated", -released))
            amounts["released"] = -released
    if LEFT in amounts:
        rest = readings[BEFORE].value - sum(amounts.values())
        items.append(LedgerItem("unexplained", round(rest, 2)))
    return tuple(items)


def _counted(start: Start, result: CaseResult | None) -> float | None:
    """The size of the KV cache by its tokens, where the log does not print it."""
    tokens = start.observed.get(TOKENS)
    cost = result.quantities[COST].value if result is not None and COST in result.quantities else None
    if tokens is None or tokens < 0 or not isinstance(cost, int | float) or _SPLIT in start.observed:
        return None
    return round(tokens * cost / _GIB, 2)
