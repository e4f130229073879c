"""What a change does to the servers of one team, in numbers, and what of it the team will not have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from analyzer.domain.characters import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Value
from analyzer.domain.solution import Solution

_LIMIT: Final = re.compile(
    r"\s*(?P<quantity>\w+)\s*(?P<sign>[<>])\s*(?P<share>[+-]?\d{1,9}(?:\.\d{1,9})?)\s*%\s*", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that a team runs: the family of its model, its numbers and those of its machine."""

    name: str
    scenario: str
    inputs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limit:
    """A relative change of `quantity` that fails the gate: above or below `share`."""

    text: str
    quantity: str
    above: bool
    share: Fraction

    def is_broken_by(self, before: Outcome, after: Outcome) -> bool:
        """Whether the change from `before` to `after` is one that fails.

        A server that no longer starts breaks every limit; one that starts at last has grown without bound.
        """
        if after.value is None:
            return before.value is not None
        if before.value is None:
            return self.above
        change = Fraction(after.value) - Fraction(before.value)
        if before.value == 0:
            return change > 0 if self.above else change < 0
        relative = change / abs(Fraction(before.value))
        return relative > self.share if self.above else relative < self.share


@dataclass(frozen=True, slots=True)
class Outcome:
    """A number, or why there is none: the exception that SGLang raises, or the inputs that are missing."""

    value: int | float | None = None
    error: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """One quantity of one server on both sides.

    `broken` holds the limits that fail; `undecided` tells that the comparison could not say whether the formulas
    agree, so that no limit holds for certain. `keeping` is the fraction with which
    the newer side has as many tokens as the older one, where their number changed.
    """

    server: Server
    quantity: str
    unit: str
    before: Outcome
    after: Outcome
    broken: tuple[str, ...] = ()
    undecided: bool = False
    keeping: Solution | None = None

    @property
    def delta(self) -> float | None:
        """What is added to the number before, when both sides have one."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def relative(self) -> float | None:
        """The change as a share of the number before."""
        return self.delta / abs(self.before.value) if self.delta is not None and self.before.value else None


def parse_limit(text: str) -> Limit:
    """The limit that `text` writes, such as ``max_total_num_tokens < -1%``. Raises UsageError."""
    found = _LIMIT.fullmatch(text)
    if found is None:
        hint = "write QUANTITY < SHARE% or QUANTITY > SHARE%, such as 'max_total_num_tokens < -1%'"
        raise UsageError(f"'{printable(text)}' is not a limit", hint=hint)
    quantity, sign = found["quantity"], found["sign"]
    return Limit(f"{quantity} {sign} {found['share']}%", quantity, sign == ">", Fraction(found["share"]) / 100)
