"""What `explain` reports of one server start, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from analyzer.domain.evaluation import Value
from analyzer.domain.source import Revision
from analyzer.domain.startup import Reading, Start

REPRODUCES: Final = "reproduces"
EXPLAINED: Final = "explained"
INCONSISTENT: Final = "inconsistent"
INSUFFICIENT: Final = "insufficient"
VERDICTS: Final = (REPRODUCES, EXPLAINED, INCONSISTENT, INSUFFICIENT)


@dataclass(frozen=True, slots=True)
class LedgerItem:
    """One amount of memory in GiB: what there was at first, then what became of it, which sums up to it."""

    item: str
    gib: float


@dataclass(frozen=True, slots=True)
class Step:
    """One quantity computed: its formula on the branch taken, with numbers put in, and the value."""

    quantity: str
    formula: str
    numbers: str
    value: Value
    unit: str


@dataclass(frozen=True, slots=True)
class Tolerance:
    """By how many GiB a prediction may miss.

    `rounding` is what the two decimals of a log allow, `limit` what is granted, `era` the most that releases of
    that time are off because they print the memory at another moment than they use it; `why` says so of them.
    """

    limit: float
    rounding: float
    era: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Predicted minus observed."""

    tokens: int
    gib: float
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class Lever:
    """A flag, what it is moved to, and the tokens that the formula then gives."""

    flag: str
    symbol: str
    before: Value
    after: Value
    tokens: int
    change: int


@dataclass(frozen=True, slots=True)
class Window:
    """The values of the fraction with which this server can work; None where it is not known or there is none.

    Below `smallest` there is no memory for a single page; above `largest` too little is left for what graphs and
    activations took; it may still be too large where `largest_is_bound`. `possible` is false when no value can.
    `tokens` is what `smallest` gives, and one sequence of `context_len` tokens fits from `whole_context` on.
    """

    current: float | None
    smallest: float | None
    largest: float | None
    possible: bool
    reasons: tuple[str, ...] = ()
    largest_is_bound: bool = False
    tokens: int | None = None
    context_len: int | None = None
    whole_context: float | None = None


@dataclass(frozen=True, slots=True)
class ExplainReport:
    """One start reconciled with the formula; `revision` is None when the version is not known.

    `formula_ref` is the release whose formula was used when that is not the one of `revision`.
    """

    start: Start
    revision: Revision | None
    scenario: str
    readings: Mapping[str, Reading]
    assumed: Mapping[str, str]
    inputs: Mapping[str, Value]
    ledger: tuple[LedgerItem, ...]
    predicted: Mapping[str, Value]
    difference: Difference | None
    verdict: str
    reasons: tuple[str, ...]
    missing: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    levers: tuple[Lever, ...] = ()
    window: Window | None = None
    formula_ref: str | None = None
    notes: tuple[str, ...] = field(default=())
