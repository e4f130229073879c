"""What executing a block of statements gives."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.domain.source import Span
from analyzer.domain.terms import Term
from analyzer.symbolic.state import State


@dataclass(slots=True)
class Exit:
    """A way out of a block other than its end: under `guard`, checked in order of occurrence."""

    kind: str
    guard: Term
    value: Term
    state: State
    span: Span | None = None


@dataclass(slots=True)
class Outcome:
    """What executing a block gives: the state at its end (None if never reached) and its exits."""

    fall: State | None
    exits: list[Exit]
