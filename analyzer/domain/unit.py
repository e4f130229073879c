"""A unit: powers of dimensions, and for memory the size of one step in powers of two and of ten."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

BYTE: Final = "byte"
_MEMORY: Final = {
    "byte": (0, 0),
    "KiB": (10, 0),
    "MiB": (20, 0),
    "GiB": (30, 0),
    "TiB": (40, 0),
    "KB": (0, 3),
    "MB": (0, 6),
    "GB": (0, 9),
    "TB": (0, 12),
}
_NAMES: Final = {scale: name for name, scale in _MEMORY.items()}


@dataclass(frozen=True, slots=True)
class Unit:
    """What a value counts.

    `dimensions` are names with their powers, sorted, without zeros. One step of a value is
    ``2**binary * 10**decimal`` of them: a GiB is `byte` with `binary` 30, a MB one with `decimal` 6.
    """

    dimensions: tuple[tuple[str, int], ...] = ()
    binary: int = 0
    decimal: int = 0

    @property
    def bytes_power(self) -> int:
        """The power of bytes in it."""
        return dict(self.dimensions).get(BYTE, 0)

    @property
    def is_memory(self) -> bool:
        """Whether it is an amount of memory in steps that have a name."""
        return self.dimensions == ((BYTE, 1),) and self.is_named

    @property
    def is_named(self) -> bool:
        """Whether people count in steps of this size: a power of 2**10 or of 10**3, never both."""
        return (self.binary, self.decimal) in _NAMES

    @property
    def step(self) -> Fraction:
        """The size of one step."""
        return Fraction(2) ** self.binary * Fraction(10) ** self.decimal

    def same_step(self, other: Unit) -> bool:
        """Whether values in the two may be added: one step is as large as the other."""
        return (self.binary, self.decimal) == (other.binary, other.decimal)

    def scaled(self, binary: int, decimal: int) -> Unit:
        """The unit whose steps are ``2**binary * 10**decimal`` times as large."""
        return Unit(self.dimensions, self.binary + binary, self.decimal + decimal)

    def times(self, other: Unit) -> Unit:
        """The unit of a product."""
        return _combined(self, other, 1)

    def over(self, other: Unit) -> Unit:
        """The unit of a quotient."""
        return _combined(self, other, -1)

    def __str__(self) -> str:
        above = [self._name(name) for name, power in self.dimensions for _ in range(power)]
        below = [self._name(name) for name, power in self.dimensions for _ in range(-power)]
        text = "*".join(above) or "1"
        return f"{text}/{'/'.join(below)}" if below else text

    def _name(self, dimension: str) -> str:
        if dimension != BYTE or abs(self.bytes_power) != 1:
            return dimension
        scale = (self.bytes_power * self.binary, self.bytes_power * self.decimal)
        return _NAMES.get(scale, f"(2**{scale[0]} * 10**{scale[1]} byte)")


ONE: Final = Unit()


def _combined(left: Unit, right: Unit, sign: int) -> Unit:
    powers = Counter(dict(left.dimensions))
    for name, power in right.dimensions:
        powers[name] += sign * power
    return Unit(_sorted(powers.items()), left.binary + sign * right.binary, left.decimal + sign * right.decimal)


def _sorted(powers: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, power) for name, power in powers if power))


@cache
def parse_unit(text: str) -> Unit:
    """The unit that a rule names: factors between ``*`` and ``/``, such as ``byte/token``."""
    found = ONE
    for operator, name in re.findall(r"([*/]?)\s*([^*/\s]+)", text):
        factor = _named(name)
        found = found.over(factor) if operator == "/" else found.times(factor)
    return found


def _named(name: str) -> Unit:
    if name == "1":
        return ONE
    if name in _MEMORY:
        return Unit(((BYTE, 1),), *_MEMORY[name])
    return Unit(((name, 1),))
