"""The raw material of the value path: what happened to values, in the order it was interpreted."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.domain.source import Span
from analyzer.domain.terms import Term


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened to a value.

    `kind` is measure, call, argument, return, assign, attribute or field; `extent` holds the indexes
    of the call steps during which it happened, outermost first; `time` orders steps as the program
    would take them.
    """

    kind: str
    caller: str
    callee: str
    target: str
    value: Term
    span: Span
    extent: tuple[int, ...]
    time: tuple[int, ...]
