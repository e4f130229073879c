"""What a change of release means for one server, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.domain.evaluation import Value
from analyzer.domain.source import Revision


@dataclass(frozen=True, slots=True)
class Outcome:
    """One quantity before and after; None where a release does not compute it with these inputs."""

    quantity: str
    before: Value
    after: Value
    unit: str


@dataclass(frozen=True, slots=True)
class Movement:
    """How much of the change of the count one term makes, in tokens and in GiB of KV cache."""

    term: str
    tokens: int
    gib: float


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """One server under two releases: what each computes, and which term moved by how much."""

    base: Revision
    head: Revision
    scenario: str
    inputs: Mapping[str, Value]
    assumed: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    movements: tuple[Movement, ...]
    errors: Mapping[str, str]
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the two compute different numbers."""
        return any(outcome.before != outcome.after for outcome in self.outcomes)
