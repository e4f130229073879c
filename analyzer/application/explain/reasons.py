"""Sentences on why a prediction and a log differ, or why they agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from analyzer.application.explain.inputs import COST, FRACTION, TOKENS
from analyzer.application.machines import CARDS
from analyzer.domain.evaluation import CaseResult, Inputs
from analyzer.domain.explanation import Difference
from analyzer.domain.scenario import CAPACITY
from analyzer.domain.startup import AFTER, AFTER_POOL, BEFORE, LEFT, Reading, Start

_GIB: Final = 1 << 30
_MIB_PER_GIB: Final = 1024
_CAPS: Final = {"max_total_tokens": "--max-total-tokens"}
_DIGITS: Final = 3
# Two readings of one moment differ by rounding.
_NOISE: Final = 0.05


def explain_difference(
    start: Start,
    readings: Mapping[str, Reading],
    inputs: Inputs,
    result: CaseResult,
    difference: Difference | None,
) -> list[str]:
    """What is known about the distance between prediction and log."""
    if difference is None:
        found = [_baseline(start, inputs, result)]
    elif abs(difference.gib) > difference.tolerance.limit:
        found = [_moment(difference) or _baseline(start, inputs, result)]
    else:
        found = [_agreement(difference)]
    return [*filter(None, found), *late_memory(readings)]


def implied_fraction(start: Start, inputs: Inputs) -> list[str]:
    """The fraction that the observed count tells, where the log does not print it."""
    tokens, cost = start.observed.get(TOKENS), inputs.values.get(COST)
    before, after = inputs.values.get(BEFORE), inputs.values.get(AFTER)
    numbers = [value for value in (tokens, cost, before, after) if isinstance(value, int | float) and value > 0]
    is_known = FRACTION in inputs.values and FRACTION not in inputs.assumed
    if is_known or len(numbers) != 4:  # noqa: PLR2004 - all four are known
        return []
    count, size, free_before, free_after = numbers
    fraction = 1 - (free_after - count * size / _GIB) / free_before
    return [f"--mem-fraction-static {fraction:.{_DIGITS}f} would give what came out, if nothing else was reserved"]


def default_fraction(inputs: Inputs, result: CaseResult) -> list[str]:
    """Why the release's own default is not the fraction in effect, or what it would take to know it."""
    if FRACTION in inputs.assumed:
        return [f"the default of this version, {inputs.values[FRACTION]}, does not give what came out"]
    fraction = result.quantities.get("effective_mem_fraction_static")
    if FRACTION in inputs.values or fraction is None or not fraction.missing or FRACTION in fraction.missing:
        return []
    return [f"the default of mem_fraction_static in this version depends on {', '.join(fraction.missing)}"]


def cap_reason(inputs: Inputs, result: CaseResult) -> list[str]:
    """That a cap of the user decides, when it does."""
    tokens = result.quantities[TOKENS].value if TOKENS in result.quantities else None
    caps = {flag: inputs.values.get(name) for name, flag in _CAPS.items()}
    return [f"{flag} {cap} decides: the memory would hold more" for flag, cap in caps.items() if cap and cap == tokens]


def _agreement(difference: Difference) -> str:
    return (
        f"predicted and observed differ by {abs(difference.tokens):,} tokens, {abs(difference.gib):.4f} GiB; "
        f"{difference.tolerance.limit:.4f} GiB are allowed"
    )


def _moment(difference: Difference) -> str:
    if abs(difference.gib) > difference.tolerance.era:
        return ""
    return (
        f"{abs(difference.gib):.3f} GiB are more than two decimals allow ({difference.tolerance.rounding:.3f} GiB): "
        "the log prints free memory at another moment than the server uses it, and other processes move it in between"
    )


def _baseline(start: Start, inputs: Inputs, result: CaseResult) -> str:
    """What free memory before loading would explain the count, as when other processes share the device."""
    tokens = start.observed.get(TOKENS)
    cost = result.quantities[COST].value if COST in result.quantities else None
    fraction = result.quantities.get("effective_mem_fraction_static")
    after, before = inputs.values.get(AFTER), inputs.values.get(BEFORE)
    share = fraction.value if fraction is not None else inputs.values.get(FRACTION)
    numbers = (tokens, cost, share, after, before)
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in numbers):
        return ""
    count, size, part, free_after, free_before = (float(value) for value in numbers if isinstance(value, int | float))
    if part >= 1:
        return ""
    pool = count * size / _GIB
    rest = free_after - free_before * (1 - part)
    could = (
        "" if rest > 0 else f"by these readings the budget is {rest:.2f} GiB and the server could not have started; "
    )
    before, after = (free_after - pool) / (1 - part), pool + free_before * (1 - part)
    if free_after <= before <= _capacity(inputs, free_before):
        instead = f"{before:.2f} GiB free before loading, instead of {free_before:.2f},"
    elif 0 < after <= free_before:
        instead = f"{after:.2f} GiB free after loading, instead of {free_after:.2f},"
    else:
        return (
            f"inputs inconsistent: {could}no free memory that this device can have before or after loading would give "
            f"{int(count):,} tokens: the model, the options or the version are not those of this log"
        )
    return (
        f"inputs inconsistent: {could}{instead} would give {int(count):,} tokens: "
        "another process took or released memory while this one started"
    )


def _capacity(inputs: Inputs, free: float) -> float:
    """GiB of the device, where nobody tells of the smallest common card with so much `free` memory."""
    known = inputs.values.get(CAPACITY)
    if isinstance(known, int | float) and known > 0:
        return known / _MIB_PER_GIB
    return min((size / _MIB_PER_GIB for size in CARDS.values() if size / _MIB_PER_GIB >= free), default=math.inf)


def late_memory(readings: Mapping[str, Reading]) -> list[str]:
    """That memory became free when the count was settled, where it did."""
    if AFTER_POOL not in readings or LEFT not in readings:
        return []
    gain = readings[LEFT].value - readings[AFTER_POOL].value
    return [f"{gain:.2f} GiB became free after the pool was allocated, too late to be counted"] * (gain > _NOISE)
