"""What a change of release does to one server, in numbers, and what of it a team will not have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from analyzer.domain.characters import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Result, Value
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

    def is_broken_by(self, before: Result, after: Result) -> bool:
        """Whether the change from `before` to `after` is one that fails.

        A server that no longer starts breaks every limit; one that starts at last has grown without bound.
        """
        old, new = before.number, after.number
        if new is None:
            return old is not None
        if old is None:
            return self.above
        change = Fraction(new) - Fraction(old)
        if old == 0:
            return change > 0 if self.above else change < 0
        relative = change / abs(Fraction(old))
        return relative > self.share if self.above else relative < self.share


@dataclass(frozen=True, slots=True)
class Effect:
    """One quantity of one server on both sides."""

    quantity: str
    before: Result
    after: Result

    @property
    def unit(self) -> str:
        """The unit of both numbers."""
        return self.after.unit or self.before.unit

    @property
    def delta(self) -> float | None:
        """What is added to the number before, when both sides have one."""
        if self.before.number is None or self.after.number is None:
            return None
        return self.after.number - self.before.number

    @property
    def relative(self) -> float | None:
        """The change as a share of the number before."""
        return self.delta / abs(self.before.number) if self.delta is not None and self.before.number else None


@dataclass(frozen=True, slots=True)
class ServerEffect(Effect):
    """The effect on a server in the settings of a project.

    `broken` holds the limits that fail; `undecided` tells that the comparison could not say whether the formulas
    agree, so that no limit holds for certain. `keeping` is the fraction with which
    the newer side has as many tokens as the older one, where their number changed.
    """

    server: Server
    broken: tuple[str, ...] = ()
    undecided: bool = False
    keeping: Solution | None = None


def parse_limit(text: str) -> Limit:
    """The limit that `text` writes, such as ``max_total_num_tokens < -1%``. Raises UsageError."""
    found = _LIMIT.fullmatch(text)
    if found is None:
        hint = "write QUANTITY < SHARE% or QUANTITY > SHARE%, such as 'max_total_num_tokens < -1%'"
        raise UsageError(f"'{printable(text)}' is not a limit", hint=hint)
    quantity, sign = found["quantity"], found["sign"]
    return Limit(f"{quantity} {sign} {found['share']}%", quantity, sign == ">", Fraction(found["share"]) / 100)
