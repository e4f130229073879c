"""What the log of one server start says: arguments, readings of every rank, what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.domain.terms import Scalar

BEFORE = "pre_model_load_memory"
AFTER = "available_gpu_memory"
WEIGHTS = "weights"
DRAFT_WEIGHTS = "draft_weights"
AFTER_POOL = "after_memory_pool"
KV_CACHE = "kv_cache"
DRAFT_KV_CACHE = "draft_kv_cache"
STATES = "mamba_states"
GRAPHS = "graphs"
LEFT = "left"
"""The names of readings, all in GiB."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One figure in GiB with the line it was read from.

    A `derived` one was computed from the line, not printed in it. `error` bounds what rounding took from it.
    """

    value: float
    line: str
    rank: str = ""
    derived: bool = False
    error: float = 0.005


@dataclass(frozen=True, slots=True)
class RankReadings:
    """The readings of one rank, by name."""

    rank: str
    readings: Mapping[str, Reading]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a start ended early: `kind` is refused (the budget was not positive) or out_of_memory.

    `short` is how many GiB were lacking, where the line tells.
    """

    kind: str
    line: str
    short: float | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a server.

    `arguments` are those of SGLang by their own names, as printed; `observed` the quantities that came out.
    `cost` is bytes per token, where a release prints them, `slot` the bytes of a mamba state as its pool tells, with
    the sentence about it. `position` of `count` says which start of the log it is.
    """

    version: str | None = None
    arguments: Mapping[str, Scalar] = field(default_factory=dict)
    ranks: tuple[RankReadings, ...] = ()
    observed: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    slot: tuple[int, str] | None = None
    model_type: str | None = None
    scenario: str | None = None
    context_len: int | None = None
    failure: Failure | None = None
    position: int = 0
    count: int = 0
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a start was found."""
        return not (self.ranks or self.arguments or self.observed or self.version)
