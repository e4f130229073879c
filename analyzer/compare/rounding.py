"""Floors, truncations, minima and maxima of polynomials in normal form."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Final

from analyzer.compare.diagrams import Diagrams
from analyzer.compare.forms import Factor, Form, Monomial, Number, Polynomial
from analyzer.compare.guards import Comparisons, split_minimum
from analyzer.compare.polynomials import Polynomials, any_term, integral, number_of, split_integral

_MAX_OPTIONS: Final = 12


class Roundings:
    """Operations that bring whole numbers and extremes about; `erase` takes rounding for no change."""

    def __init__(self, numbers: Polynomials, diagrams: Diagrams, comparisons: Comparisons, *, erase: bool) -> None:
        self._numbers = numbers
        self._diagrams = diagrams
        self._comparisons = comparisons
        self._erase = erase
        self._floors: dict[Polynomial, Polynomial] = {}

    def floor(self, part: Polynomial) -> Polynomial:
        """The largest whole number that is not above `part`."""
        if self._erase or integral(part):
            return part
        known = self._floors.get(part)
        if known is None:
            known = self._floor(part)
            self._floors[part] = known
        return known

    def _floor(self, part: Polynomial) -> Polynomial:
        found = split_minimum(self._numbers, part)
        if found is not None:
            options, is_minimum = found
            return self.extreme((self.floor(option) for option in options), smallest=is_minimum)
        whole, rest = split_integral(self._numbers.pool, part)
        if whole.terms:
            return self._numbers.add(whole, self.floor(rest))
        inner = self._nested(rest)
        return self._floor_factor(rest) if inner is None else self.floor(inner)

    def _nested(self, part: Polynomial) -> Polynomial | None:
        """``floor((floor(z) + m) / n)`` is ``floor((z + m) / n)`` for whole m and positive whole n."""
        numbers = self._numbers
        numerator, denominator = numbers.clear(part)
        if number_of(denominator) == 1 or not integral(denominator) or not integral(numerator):
            return None
        for monomial, coefficient in numerator.terms:
            if coefficient == 1 and len(monomial) == 1 and monomial[0][0].kind == "floor" and monomial[0][1] == 1:
                (inner,) = monomial[0][0].args
                inverse = numbers.invert(denominator)
                if not isinstance(inner, Polynomial) or inverse is None:
                    return None
                rest = numbers.add(numerator, numbers.pool.polynomial({monomial: -1}))
                return numbers.multiply(numbers.add(inner, rest), inverse)
        return None

    def _floor_factor(self, part: Polynomial) -> Polynomial:
        low, high = (None if end is None else floor(end) for end in self._numbers.bounds(part))
        if low is not None and low == high:
            return self._numbers.constant(low)
        pool = self._numbers.pool
        return self._numbers.lone(pool.factor("floor", "", (part,), integer=True, low=low, high=high))

    def ceiling(self, part: Polynomial) -> Polynomial:
        """The smallest whole number that is not below `part`."""
        return self._numbers.scale(self.floor(self._numbers.scale(part, -1)), -1)

    def truncate(self, part: Polynomial) -> Form:
        """``int(part)``: towards zero."""
        if self._erase or integral(part):
            return part
        positive = self._comparisons.above_zero(part, strict=False)
        return self._diagrams.choose(positive, self.floor(part), self.ceiling(part))

    def nearest(self, part: Polynomial) -> Polynomial:
        """``round(part)``."""
        return self._marked("round", part, integer=True)

    def single(self, part: Polynomial) -> Polynomial:
        """`part` through a 32-bit float."""
        return self._marked("float32", part, integer=False)

    def _marked(self, kind: str, part: Polynomial, *, integer: bool) -> Polynomial:
        if self._erase or (integer and integral(part)):
            return part
        low = 0 if self._numbers.at_least(part) else None
        return self._numbers.lone(self._numbers.pool.factor(kind, "", (part,), integer=integer, low=low))

    def absolute(self, part: Polynomial) -> Polynomial:
        """``abs(part)``."""
        if self._numbers.at_least(part):
            return part
        return self.extreme((part, self._numbers.scale(part, -1)), smallest=False)

    def extreme(self, options: Iterable[Polynomial], *, smallest: bool) -> Polynomial:
        """The minimum, or the maximum as the opposite of the opposites' minimum."""
        options = list(options)
        if smallest:
            return self._minimum(options)
        for option in options:
            found = split_minimum(self._numbers, option)
            if found is not None and found[1] and len(found[0]) * len(options) <= _MAX_OPTIONS:
                # The largest of minima is the smallest of the maxima: one order for nested limits.
                others = [other for other in options if other is not option]
                return self._minimum([self.extreme([inner, *others], smallest=False) for inner in found[0]])
        return self._numbers.scale(self._minimum([self._numbers.scale(option, -1) for option in options]), -1)

    def _minimum(self, options: list[Polynomial]) -> Polynomial:
        flat: dict[Polynomial, None] = {}
        for option in options:
            found = split_minimum(self._numbers, option)
            inner = found[0] if found is not None and found[1] else [option]
            flat.update(dict.fromkeys(inner))
        kept = self._undominated(list(flat))
        if len(kept) == 1:
            return kept[0]
        common = self._common(kept)
        rest = [self._numbers.subtract(option, common) for option in kept]
        shared = self._shared_factor(rest)
        inverse = self._numbers.invert(shared)
        assert inverse is not None
        simple = sorted((self._numbers.multiply(option, inverse) for option in rest), key=lambda option: option.key)
        return self._numbers.add(common, self._numbers.multiply(shared, self._minimum_factor(simple)))

    def _undominated(self, options: list[Polynomial]) -> list[Polynomial]:
        """The options that no other one is known to be below."""
        options.sort(key=lambda option: option.key)
        if len(options) > _MAX_OPTIONS:
            return options
        kept: list[Polynomial] = []
        for option in options:
            if any(self._numbers.at_least(self._numbers.subtract(option, other)) for other in kept):
                continue
            kept = [other for other in kept if not self._numbers.at_least(self._numbers.subtract(other, option))]
            kept.append(option)
        return kept

    def _common(self, options: list[Polynomial]) -> Polynomial:
        shared = any_term(options)
        return self._numbers.pool.polynomial({m: c for m, c in options[0].terms if m in shared})

    def _shared_factor(self, options: list[Polynomial]) -> Polynomial:
        """A positive multiple that every option has: a number, and inputs known to be positive."""
        nonzero = [option for option in options if option.terms]
        size: Number = Fraction(0)
        powers: dict[Factor, int] | None = None
        for option in nonzero:
            size = _fraction_gcd(size, abs(self._numbers.content(option)))
            for monomial, _ in option.terms:
                powers = _least_powers(powers, monomial)
        monomial = tuple(sorted((powers or {}).items(), key=lambda item: item[0].key))
        return self._numbers.pool.polynomial({monomial: size})

    def _minimum_factor(self, options: list[Polynomial]) -> Polynomial:
        ends = [self._numbers.bounds(option) for option in options]
        lows = [low for low, _ in ends if low is not None]
        highs = [high for _, high in ends if high is not None]
        factor = self._numbers.pool.factor(
            "min",
            "",
            options,
            integer=all(map(integral, options)),
            low=min(lows) if len(lows) == len(ends) else None,
            high=min(highs) if highs else None,
        )
        return self._numbers.lone(factor)


def _least_powers(powers: dict[Factor, int] | None, monomial: Monomial) -> dict[Factor, int]:
    """What `monomial` shares with `powers`; a denominator of either is shared, so that it is cleared."""
    own = {f: e for f, e in monomial if f.low is not None and f.low > 0 and f.kind != "group"}
    if powers is None:
        return own
    least = {f: min(powers.get(f, 0), own.get(f, 0)) for f in {**powers, **own}}
    return {f: e for f, e in least.items() if e}


def _fraction_gcd(left: Number, right: Number) -> Fraction:
    return Fraction(gcd(left.numerator, right.numerator), lcm(left.denominator, right.denominator))
