"""Whether a prediction and a log agree: in GiB, as logs are printed, not in percent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from analyzer.application.explain.inputs import COST, FRACTION, REST, SLOT, TOKENS
from analyzer.domain.evaluation import CaseResult, Inputs
from analyzer.domain.explanation import Difference, Tolerance
from analyzer.domain.startup import AFTER, BEFORE, KV_CACHE, STATES, Reading, Start

IsBelow = Callable[[str, str], bool]
_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class _Era:
    """The releases before `end`, None for all later ones: how many GiB the readings printed are off, and why.

    A tolerance is a `share` of the pool at most: one as large as the pool would accept anything.
    """

    end: str | None
    limit: float
    share: float
    why: str


_ERAS: Final = (
    _Era("0.4.6", 0.02, 0.01, "releases before v0.4.6 print the reading that they use"),
    _Era("0.5.10.dev0", 0.1, 0.01, "releases from v0.4.6 to v0.5.9 use an earlier reading than the one they print"),
    _Era(None, 0.35, 0.05, "releases from v0.5.10 on empty caches between what they print and what they use"),
)
_DEFAULT_FRACTION: Final = 0.88


def tolerance(
    release: str | None, readings: Mapping[str, Reading], inputs: Inputs, result: CaseResult, is_below: IsBelow
) -> Tolerance:
    """What a prediction of `release` may miss by."""
    era = next(era for era in _ERAS if era.end is None or (release is not None and is_below(release, era.end)))
    rounding = _rounding(readings, inputs)
    rest = result.quantities[REST].value if REST in result.quantities else None
    pool = abs(rest) if isinstance(rest, int | float) else 0.0
    return Tolerance(max(rounding, min(era.limit, era.share * pool)), rounding, era.limit, era.why)


def _rounding(readings: Mapping[str, Reading], inputs: Inputs) -> float:
    """What the two decimals of the readings allow, in GiB of the budget."""
    fraction = inputs.values.get(FRACTION)
    kept = 1 - fraction if isinstance(fraction, int | float) else 1 - _DEFAULT_FRACTION
    errors = {AFTER: 1.0, BEFORE: abs(kept)}
    error = sum(readings[name].error * weight for name, weight in errors.items() if name in readings)
    for name, pool in ((COST, KV_CACHE), (SLOT, STATES)):
        if name in inputs.assumed and pool in readings:
            error += readings[pool].error
    page = inputs.values.get("page_size")
    cost = inputs.values.get(COST)
    if isinstance(page, int | float) and isinstance(cost, int | float):
        error += page * cost / _GIB
    return round(error, 6)


def differ(start: Start, result: CaseResult, allowed: Tolerance) -> Difference | None:
    """Predicted minus observed; None when there is nothing to compare."""
    observed = start.observed.get(TOKENS)
    predicted = result.quantities[TOKENS].value if TOKENS in result.quantities else None
    cost = result.quantities[COST].value if COST in result.quantities else None
    if observed is None or not isinstance(predicted, int | float) or not isinstance(cost, int | float):
        return None
    tokens = int(predicted) - observed
    return Difference(tokens, tokens * cost / _GIB, allowed)


def agrees(difference: Difference | None) -> bool:
    """Whether the difference is within its tolerance."""
    return difference is not None and abs(difference.gib) <= difference.tolerance.limit
