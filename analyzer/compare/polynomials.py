"""Exact arithmetic on polynomials over factors, and the bounds that are known of them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm
from typing import Final

from analyzer.compare.forms import Factor, Form, Monomial, Number, Polynomial, Pool
from analyzer.domain.magnitude import MAX_BITS, bits

Interval = tuple[Number | None, Number | None]

# A product with more terms than this, or of a higher degree, stays a product of two opaque sums.
_MAX_TERMS: Final = 64
_MAX_DEGREE: Final = 64
_MAX_EXPONENT: Final = 8
_ONE: Final = 1


class Polynomials:
    """Sums, products, quotients and bounds."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._bounds: dict[Polynomial, Interval] = {}
        self._products: dict[tuple[Polynomial, Polynomial], Polynomial] = {}
        self.zero = self.constant(0)
        self.one = self.constant(1)

    def constant(self, value: Number) -> Polynomial:
        """The number `value`."""
        return self.pool.polynomial({(): value})

    def lone(self, factor: Factor) -> Polynomial:
        """The polynomial that is `factor`."""
        return self.pool.polynomial({((factor, 1),): _ONE})

    def add(self, *parts: Polynomial) -> Polynomial:
        """The sum."""
        total: dict[Monomial, Number] = {}
        for part in parts:
            for monomial, coefficient in part.terms:
                total[monomial] = total.get(monomial, 0) + coefficient
        return self.pool.polynomial(total)

    def scale(self, part: Polynomial, by: Number) -> Polynomial:
        """`part` times a number."""
        if by == 1:
            return part
        return self.pool.polynomial({monomial: coefficient * by for monomial, coefficient in part.terms})

    def subtract(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The difference."""
        return self.add(left, self.scale(right, -1))

    def multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The product, distributed over sums up to a bound."""
        if left.key > right.key:
            left, right = right, left
        known = self._products.get((left, right))
        if known is None:
            known = self._cancelled(left, right) or self._cancelled(right, left) or self._distribute(left, right)
            self._products[left, right] = known
        return known

    def _distribute(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if len(left.terms) * len(right.terms) > _MAX_TERMS or _outgrows(left, right):
            return self.lone(self.pool.factor("product", "", (left, right), integer=integral(left) and integral(right)))
        total: dict[Monomial, Number] = {}
        for first, one in left.terms:
            for second, two in right.terms:
                product = _merge(first, second)
                total[product] = total.get(product, 0) + one * two
        return self.pool.polynomial(total)

    def _cancelled(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        """`left` times `right` where `left` divides by that very sum."""
        if len(left.terms) != 1 or len(right.terms) == 1:
            return None
        ((monomial, coefficient),) = left.terms
        for factor, exponent in monomial:
            if factor.kind != "group" or exponent >= 0:
                continue
            (inner,) = factor.args
            ratio = proportion(right, inner)
            if ratio is not None:
                rest = _merge(monomial, ((factor, 1),))
                return self.pool.polynomial({rest: coefficient * ratio})
        return None

    def invert(self, part: Polynomial) -> Polynomial | None:
        """One divided by `part`, None for a division by zero."""
        if not part.terms:
            return None
        if len(part.terms) > 1:
            return self._invert_sum(part)
        ((monomial, coefficient),) = part.terms
        result = self.constant(Fraction(1) / coefficient)
        for factor, exponent in monomial:
            if factor.nonzero:
                inverse = self.pool.polynomial({((factor, -exponent),): _ONE})
            else:
                base = self.pool.polynomial({((factor, exponent),): _ONE})
                inverse = self.lone(self.pool.factor("inverse", "", (base,)))
            result = self.multiply(result, inverse)
        return result

    def _invert_sum(self, part: Polynomial) -> Polynomial:
        content = self.content(part)
        primitive = self.scale(part, 1 / content)
        low, high = self.bounds(primitive)
        if (low is not None and low > 0) or (high is not None and high < 0):
            group = self.pool.factor("group", "", (primitive,), integer=integral(primitive), low=low, high=high)
            return self.pool.polynomial({((group, -1),): 1 / content})
        return self.scale(self.lone(self.pool.factor("inverse", "", (primitive,))), 1 / content)

    def without_common_factor(self, part: Polynomial) -> Polynomial:
        """`part` divided by the factors that all its terms share and that are known to be positive."""
        if not part.terms:
            return part
        monomials = [dict(monomial) for monomial, _ in part.terms]
        shared = {
            factor: min(monomial.get(factor, 0) for monomial in monomials)
            for factor in monomials[0]
            if factor.low is not None and factor.low > 0
        }
        divisor: Monomial = tuple((factor, -exponent) for factor, exponent in shared.items() if exponent > 0)
        if not divisor:
            return part
        return self.pool.polynomial({_merge(monomial, divisor): coefficient for monomial, coefficient in part.terms})

    def content(self, part: Polynomial) -> Fraction:
        """The number that leaves coprime integers with a positive first one when divided out."""
        numbers = [coefficient for _, coefficient in part.terms]
        size = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
        return size if numbers[-1] > 0 else -size

    def bounds(self, part: Polynomial) -> Interval:
        """The interval that `part` is known to lie in."""
        known = self._bounds.get(part)
        if known is None:
            low: Number | None = 0
            high: Number | None = 0
            for monomial, coefficient in part.terms:
                first, last = _scale_interval(_monomial_bounds(monomial), coefficient)
                low = None if low is None or first is None else low + first
                high = None if high is None or last is None else high + last
            known = (low, high)
            self._bounds[part] = known
        return known

    def at_least(self, part: Polynomial, limit: int = 0) -> bool:
        """Whether `part` is known to be `limit` or more."""
        low = self.bounds(part)[0]
        return low is not None and low >= limit

    def clear(self, part: Polynomial) -> tuple[Polynomial, Polynomial]:
        """`part` as a numerator and a denominator that is known to be positive."""
        scale = lcm(*(coefficient.denominator for _, coefficient in part.terms), 1)
        powers: dict[Factor, int] = {}
        for monomial, _ in part.terms:
            for factor, exponent in monomial:
                if exponent < 0 and factor.low is not None and factor.low > 0:
                    powers[factor] = max(powers.get(factor, 0), -exponent)
        numerator = self.scale(part, scale)
        denominator = self.constant(scale)
        for factor, exponent in sorted(powers.items(), key=lambda item: item[0].key):
            numerator = self._times_power(numerator, factor, exponent)
            denominator = self._times_power(denominator, factor, exponent)
        return numerator, denominator

    def _times_power(self, part: Polynomial, factor: Factor, exponent: int) -> Polynomial:
        if factor.kind != "group":
            return self.multiply(part, self.pool.polynomial({((factor, exponent),): _ONE}))
        (inner,) = factor.args
        assert isinstance(inner, Polynomial)
        result = self.zero
        for monomial, coefficient in part.terms:
            raised = _merge(monomial, ((factor, exponent),))
            left = dict(raised).pop(factor, 0)
            rest = tuple(item for item in raised if item[0] is not factor or item[1] < 0)
            piece = self.pool.polynomial({rest: coefficient})
            for _ in range(min(max(left, 0), _MAX_EXPONENT)):
                piece = self.multiply(piece, inner)
            result = self.add(result, piece)
        return result


def _outgrows(left: Polynomial, right: Polynomial) -> bool:
    """Whether the product has powers or numbers that no formula needs."""
    (degree, size), (other_degree, other_size) = _extent(left), _extent(right)
    return degree + other_degree > _MAX_DEGREE or size + other_size > MAX_BITS


def _extent(part: Polynomial) -> tuple[int, int]:
    """The largest power in `part`, and how many bits its largest number has."""
    powers = (abs(exponent) for monomial, _ in part.terms for _, exponent in monomial)
    return max(powers, default=0), max((bits(coefficient) for _, coefficient in part.terms), default=0)


def number_of(form: Form) -> Number | None:
    """The number that `form` is, if it is one."""
    if not isinstance(form, Polynomial):
        return None
    if not form.terms:
        return 0
    if len(form.terms) == 1 and not form.terms[0][0]:
        return form.terms[0][1]
    return None


def sole_factor(form: Form) -> Factor | None:
    """The factor that `form` is, if it is nothing else."""
    if isinstance(form, Polynomial) and len(form.terms) == 1:
        monomial, coefficient = form.terms[0]
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return monomial[0][0]
    return None


def integral(part: Form) -> bool:
    """Whether `part` is known to be a whole number."""
    return isinstance(part, Polynomial) and all(_whole(monomial, c) for monomial, c in part.terms)


def _whole(monomial: Monomial, coefficient: Number) -> bool:
    return coefficient.denominator == 1 and all(factor.integer and exponent > 0 for factor, exponent in monomial)


def split_integral(pool: Pool, part: Polynomial) -> tuple[Polynomial, Polynomial]:
    """The terms of `part` that are whole numbers, and what remains (a constant in [0, 1) included)."""
    whole: dict[Monomial, Number] = {}
    rest: dict[Monomial, Number] = {}
    for monomial, coefficient in part.terms:
        if not monomial:
            floor = coefficient.numerator // coefficient.denominator
            whole[monomial], rest[monomial] = floor, coefficient - floor
        else:
            (whole if _whole(monomial, coefficient) else rest)[monomial] = coefficient
    return pool.polynomial(whole), pool.polynomial(rest)


def proportion(left: Form, right: Form) -> Fraction | None:
    """The number that `left` is of `right`, if it is a multiple of it."""
    if not isinstance(left, Polynomial) or not isinstance(right, Polynomial) or len(left.terms) != len(right.terms):
        return None
    if not left.terms:
        return None
    ratio = Fraction(left.terms[0][1]) / right.terms[0][1]
    same = all(a[0] == b[0] and a[1] == b[1] * ratio for a, b in zip(left.terms, right.terms, strict=True))
    return ratio if same else None


def _merge(left: Monomial, right: Monomial) -> Monomial:
    if not left:
        return right
    if not right:
        return left
    powers = dict(left)
    for factor, exponent in right:
        powers[factor] = powers.get(factor, 0) + exponent
    return tuple(sorted(((f, e) for f, e in powers.items() if e), key=lambda item: item[0].key))


def _scale_interval(interval: Interval, by: Number) -> Interval:
    low, high = (None if end is None else end * by for end in interval)
    return (low, high) if by > 0 else (high, low)


def _monomial_bounds(monomial: Monomial) -> Interval:
    interval: Interval = (_ONE, _ONE)
    for factor, exponent in monomial:
        interval = _product(interval, _power(factor, exponent))
    return interval


def _power(factor: Factor, exponent: int) -> Interval:
    low, high = factor.low, factor.high
    if exponent < 0:
        if low is None or low <= 0:
            return (None, None)
        return (0 if high is None else Fraction(1) / high**-exponent, Fraction(1) / low**-exponent)
    if low is not None and low >= 0:
        return (low**exponent, None if high is None else high**exponent)
    if exponent % 2 == 0:
        return (0, None)
    return (low, high) if exponent == 1 else (None, None)


def _product(left: Interval, right: Interval) -> Interval:
    if left == (_ONE, _ONE):
        return right
    if None not in left and None not in right:
        ends = _corners(left, right)
        return (min(ends), max(ends))
    if _nonnegative(left) and _nonnegative(right):
        low = left[0] * right[0] if left[0] is not None and right[0] is not None else None
        return (low, None)
    return (None, None)


def _corners(left: Interval, right: Interval) -> list[Number]:
    return [a * b for a in left for b in right if a is not None and b is not None]


def _nonnegative(interval: Interval) -> bool:
    return interval[0] is not None and interval[0] >= 0


def any_term(parts: Iterable[Polynomial]) -> frozenset[Monomial]:
    """The monomials that occur in every one of `parts` with one and the same coefficient."""
    common: set[tuple[Monomial, Number]] | None = None
    for part in parts:
        items = set(part.terms)
        common = items if common is None else common & items
    return frozenset(monomial for monomial, _ in common or ())
