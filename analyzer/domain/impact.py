"""What a change of release means for one server, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.domain.effect import Effect
from analyzer.domain.evaluation import Value
from analyzer.domain.source import Revision


@dataclass(frozen=True, slots=True)
class Movement:
    """How much of the change of the count one term makes, in tokens and in GiB of KV cache."""

    term: str
    tokens: int
    gib: float


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """One server under two releases: what each computes, and which term moved by how much.

    `effects` begin with the count. `defaults` holds what each side picks for inputs that nobody gives.
    """

    base: Revision
    head: Revision
    scenario: str
    inputs: Mapping[str, Value]
    assumed: Mapping[str, str]
    effects: tuple[Effect, ...]
    movements: tuple[Movement, ...]
    defaults: Mapping[str, tuple[Value, Value]]
    notes: tuple[str, ...] = ()

    @property
    def tokens(self) -> Effect:
        """The effect on the count."""
        return self.effects[0]

    @property
    def errors(self) -> Mapping[str, str]:
        """The exception that stops the server, by side."""
        sides = {"base": self.tokens.before, "head": self.tokens.after}
        return {side: result.error for side, result in sides.items() if result.error is not None}

    @property
    def missing(self) -> tuple[str, ...]:
        """The inputs without which one of the sides cannot count."""
        return tuple(sorted({*self.tokens.before.missing, *self.tokens.after.missing}))

    @property
    def differs(self) -> bool:
        """Whether the two compute different numbers."""
        return any(effect.before != effect.after for effect in self.effects)
