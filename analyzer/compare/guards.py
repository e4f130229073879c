"""Questions about numbers in one canonical orientation, and what one answer says about another."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import floor, gcd
from typing import Final

from analyzer.compare.diagrams import Diagrams, Facts
from analyzer.compare.forms import Factor, Form, Guard, Literal, Monomial, Number, Polynomial
from analyzer.compare.polynomials import Polynomials, integral, number_of

_MULTIPLIERS_TRIED: Final = 3
_NUMERIC: Final = frozenset({"positive", "nonnegative", "zero"})


class Comparisons:
    """Comparisons with zero as decision diagrams."""

    def __init__(self, numbers: Polynomials, diagrams: Diagrams) -> None:
        self._numbers = numbers
        self._diagrams = diagrams
        self._pool = numbers.pool
        self._memo: dict[tuple[Polynomial, bool], Form] = {}
        self._entailed: dict[tuple[Guard, Guard, bool], bool | None] = {}

    def above_zero(self, part: Polynomial, *, strict: bool) -> Form:
        """``part > 0`` or, unless `strict`, ``part >= 0``."""
        key = (part, strict)
        if key not in self._memo:
            known = self._by_bounds(part, strict=strict)
            self._memo[key] = self._canonical(part, strict=strict) if known is None else known
        return self._memo[key]

    def zero(self, part: Polynomial) -> Form:
        """``part == 0``."""
        value = number_of(part)
        if value is not None:
            return self._pool.false if value else self._pool.true
        for signed in (part, self._numbers.scale(part, -1)):
            if self._numbers.at_least(signed):
                return self._diagrams.negate(self.above_zero(signed, strict=True))
        picked = self._zero_of_extreme(part)
        if picked is not None:
            return picked
        part = self._numbers.clear(part)[0]
        part = self._numbers.scale(part, 1 / self._numbers.content(part))
        return self._diagrams.ask(self._pool.guard("zero", "", (part,)))

    def _zero_of_extreme(self, part: Polynomial) -> Form | None:
        """``min(a, b) == a`` is ``b >= a``: the least of several is zero where one is and no other is less."""
        found = split_minimum(self._numbers, part)
        if found is None or self._numbers.zero not in found[0]:
            return None
        options, is_minimum = found
        others = [self._numbers.scale(option, 1 if is_minimum else -1) for option in options if option.terms]
        return reduce(self._diagrams.both, (self.above_zero(other, strict=False) for other in others))

    def _by_bounds(self, part: Polynomial, *, strict: bool) -> Form | None:
        low, high = self._numbers.bounds(part)
        if low is not None and (low > 0 or (low == 0 and not strict)):
            return self._pool.true
        if high is not None and (high < 0 or (high == 0 and strict)):
            return self._pool.false
        return None

    def _canonical(self, part: Polynomial, *, strict: bool) -> Form:
        part = self._numbers.without_common_factor(self._numbers.clear(part)[0])
        rewritten = self._without_minimum(part, strict=strict) or self._without_floor(part, strict=strict)
        if rewritten is not None:
            return rewritten
        if integral(part):
            part, strict = self._tightened(part, strict=strict), False
            if number_of(part) is not None:
                return self.above_zero(part, strict=False)
        if part.terms[-1][1] < 0:
            return self._diagrams.negate(self.above_zero(self._numbers.scale(part, -1), strict=not strict))
        part = self._numbers.scale(part, 1 / abs(self._numbers.content(part)))
        return self._diagrams.ask(self._pool.guard("positive" if strict else "nonnegative", "", (part,)))

    def _tightened(self, part: Polynomial, *, strict: bool) -> Polynomial:
        """A whole number's comparison as ``>= 0``, divided by what its coefficients share."""
        if strict:
            part = self._numbers.add(part, self._numbers.constant(-1))
        shared = gcd(*(coefficient.numerator for monomial, coefficient in part.terms if monomial))
        if shared < 2:  # noqa: PLR2004 - nothing to divide by
            return part
        terms: dict[Monomial, Number] = {monomial: Fraction(c) / shared for monomial, c in part.terms}
        terms[()] = floor(terms.get((), 0))
        return self._pool.polynomial(terms)

    def _without_minimum(self, part: Polynomial, *, strict: bool) -> Form | None:
        """A minimum is positive when all of it is; the opposite of one, when any is."""
        found = split_minimum(self._numbers, part)
        if found is None:
            return None
        options, is_minimum = found
        combine = self._diagrams.both if is_minimum else self._diagrams.either
        first, *others = (self.above_zero(option, strict=strict) for option in options)
        for other in others:
            first = combine(first, other)
        return first

    def _without_floor(self, part: Polynomial, *, strict: bool) -> Form | None:
        """``floor(z) >= n`` is ``z >= n`` for a whole n; of several floors, one that is added goes first."""
        floors = [(m, c) for m, c in part.terms if any(factor.kind == "floor" for factor, _ in m)]
        alone = [(m, c) for m, c in floors if len(m) == 1 and m[0][1] == 1 and abs(c) == 1]
        if not alone or (len(floors) > 1 and not any(c > 0 for _, c in alone)):
            return None
        (monomial, sign), numbers = max(alone, key=lambda item: item[1]), self._numbers
        rest = numbers.add(part, self._pool.polynomial({monomial: -sign}))
        (inner,) = monomial[0][0].args
        if not integral(rest) or not isinstance(inner, Polynomial):
            return None
        if sign > 0:
            shift = -1 if strict else 0
            return self.above_zero(numbers.add(inner, rest, numbers.constant(shift)), strict=False)
        shift = 0 if strict else 1
        return self.above_zero(numbers.add(numbers.scale(inner, -1), rest, numbers.constant(shift)), strict=True)

    def decide(self, guard: Guard, facts: Facts) -> bool | None:
        """The answer to `guard` that earlier answers force, if they do."""
        for fact, holds in facts:
            if fact is guard:
                return holds
            key = (guard, fact, holds)
            if key not in self._entailed:
                self._entailed[key] = self._entail(guard, fact, holds=holds)
            if self._entailed[key] is not None:
                return self._entailed[key]
        return None

    def _entail(self, guard: Guard, fact: Guard, *, holds: bool) -> bool | None:
        if guard.kind in _NUMERIC and fact.kind in _NUMERIC:
            return self._entail_number(guard, _as_inequalities(self._numbers, fact, holds=holds))
        if guard.kind == "same" and fact.kind == "same" and holds and guard.args[0] is fact.args[0]:
            # The same input cannot be two literals at once.
            return False if isinstance(guard.args[1], Literal) and isinstance(fact.args[1], Literal) else None
        if "in" in (guard.name, fact.name):
            return _entail_text(guard, fact, holds=holds)
        if guard.args[:1] != fact.args[:1]:
            return None
        none = self._pool.none
        if guard.kind == "truth" and fact.kind == "same" and fact.args[1] is none and holds:
            return False
        if guard.kind == "same" and guard.args[1] is none and fact.kind == "truth" and holds:
            return False
        return None

    def _entail_number(self, guard: Guard, facts: list[tuple[Polynomial, bool]]) -> bool | None:
        (part,) = guard.args
        assert isinstance(part, Polynomial)
        opposite = self._numbers.scale(part, -1)
        if guard.kind == "zero":
            excluded = self._follows(part, facts, strict=True) or self._follows(opposite, facts, strict=True)
            return False if excluded else None
        strict = guard.kind == "positive"
        if self._follows(part, facts, strict=strict):
            return True
        return False if self._follows(opposite, facts, strict=not strict) else None

    def _follows(self, part: Polynomial, facts: list[tuple[Polynomial, bool]], *, strict: bool) -> bool:
        """Whether `part` is a positive multiple of a fact plus something known not to be negative."""
        wanted = dict(part.terms)
        for fact, fact_strict in facts:
            shared = [(m, c) for m, c in fact.terms if m and m in wanted][:_MULTIPLIERS_TRIED]
            for monomial, coefficient in shared:
                multiplier = Fraction(wanted[monomial]) / coefficient
                if multiplier <= 0:
                    continue
                low = self._numbers.bounds(self._numbers.subtract(part, self._numbers.scale(fact, multiplier)))[0]
                if low is not None and (low > 0 or (low == 0 and (fact_strict or not strict))):
                    return True
        return False


def _as_inequalities(numbers: Polynomials, fact: Guard, *, holds: bool) -> list[tuple[Polynomial, bool]]:
    """Polynomials that the answer to `fact` makes positive (True) or not negative (False)."""
    (part,) = fact.args
    assert isinstance(part, Polynomial)
    opposite = numbers.scale(part, -1)
    if fact.kind == "zero":
        return [(part, False), (opposite, False)] if holds else []
    strict = fact.kind == "positive"
    return [(part, strict)] if holds else [(opposite, not strict)]


def split_minimum(numbers: Polynomials, part: Polynomial) -> tuple[list[Polynomial], bool] | None:
    """`part` as the minimum (True) or maximum (False) of simpler sums, if it holds one minimum."""
    found = [(m, c, f) for m, c in part.terms for f, e in m if f.kind == "min"]
    if len(found) != 1:
        return None
    monomial, coefficient, factor = found[0]
    if dict(monomial)[factor] != 1:
        return None
    beside: Monomial = tuple(item for item in monomial if item[0] is not factor)
    weight = numbers.pool.polynomial({beside: coefficient if coefficient > 0 else -coefficient})
    if not numbers.at_least(weight):
        return None
    rest = numbers.subtract(part, numbers.pool.polynomial({monomial: coefficient}))
    signed = weight if coefficient > 0 else numbers.scale(weight, -1)
    return [numbers.add(rest, numbers.multiply(signed, option)) for option in _options(factor)], coefficient > 0


def _options(factor: Factor) -> list[Polynomial]:
    return [arg for arg in factor.args if isinstance(arg, Polynomial)]


def _entail_text(guard: Guard, fact: Guard, *, holds: bool) -> bool | None:
    """What one of ``x == "text"`` and ``"part" in x`` says about the other."""
    (form, asked), (other, known) = _asked_text(guard), _asked_text(fact)
    if form is None or form is not other or guard.kind == fact.kind:
        # A part of a part is in the whole only where that is a text, and it may be a list.
        return None
    if fact.kind == "same":
        return asked in known if holds else None
    return None if (known in asked) is holds else False


def _asked_text(guard: Guard) -> tuple[Form | None, str]:
    """The form whose text is asked for, and the text; None where it is no such question."""
    match guard.kind, guard.name, guard.args:
        case ("same", _, (form, Literal("str", str(text)))) | ("call", "in", (Literal("str", str(text)), form)):
            return form, text
        case _:
            return None, ""
