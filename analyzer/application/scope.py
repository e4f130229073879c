"""What a comparison is restricted to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Scenarios and quantities to report on; empty means all."""

    scenarios: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()

    @classmethod
    def of(cls, scenarios: Iterable[str], quantities: Iterable[str]) -> Scope:
        """The scope of names as somebody gave them: one that is named twice counts once."""
        return cls(tuple(dict.fromkeys(scenarios)), tuple(dict.fromkeys(quantities)))
