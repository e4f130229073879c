"""What a comparison is restricted to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Scenarios and quantities to report on; empty means all."""

    scenarios: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
