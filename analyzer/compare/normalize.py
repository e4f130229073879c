"""From a term to its normal form: two terms with one normal form compute the same value.

The converse does not hold: what is beyond the bounds, or beyond the algebra, stays as it is
written, and two equal formulas may end up apart. Numbers are exact rationals, so the order of
floating-point operations does not matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from math import isfinite
from typing import Final

from analyzer.compare.diagrams import Diagrams, prune
from analyzer.compare.forms import Branch, Failure, Form, Guard, Literal, Polynomial, Pool
from analyzer.compare.guards import Comparisons, split_minimum
from analyzer.compare.polynomials import Polynomials, integral, number_of, sole_factor
from analyzer.compare.ranks import RANK_MINIMUM
from analyzer.compare.rounding import Roundings
from analyzer.domain.build import negate
from analyzer.domain.operators import BOOLEAN_RESULT
from analyzer.domain.rules import SymbolRule
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.terms import (
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    post_order,
)

_NUMBER_KINDS: Final = frozenset({"integer", "real", "memory"})
_MAX_EXPONENT: Final = 6
# Calls that give a whole number, or one that is never negative, whatever they are applied to.
_WHOLE_CALLS: Final = frozenset({"len", "bit_length", "gcd", "lcm", "|", "^", "&", "<<", ">>"})
_UNORDERED_CALLS: Final = frozenset({"gcd", "lcm", "|", "&", "^"})
_COUNTING_CALLS: Final = frozenset({"len", "bit_length", "gcd", "lcm"})


class Normaliser:
    """Normal forms of terms over the declared symbols.

    With `erase_rounding`, floors and the like are taken for the value they round.
    """

    def __init__(self, symbols: Mapping[str, SymbolRule], *, erase_rounding: bool = False) -> None:
        self._symbols = symbols
        self._pool = Pool()
        self._numbers = Polynomials(self._pool)
        self._diagrams = Diagrams(self._pool)
        self._comparisons = Comparisons(self._numbers, self._diagrams)
        self._roundings = Roundings(self._numbers, self._diagrams, self._comparisons, erase=erase_rounding)
        self._diagrams.merge = self._merge
        self._forms: dict[Term, Form] = {}
        self._pruned: dict[Form, Form] = {}
        self._merging = False

    def form(self, term: Term) -> Form:
        """The normal form of `term`."""
        if term not in self._forms:
            self._diagrams.start_formula()
            with deep_recursion():
                for part in post_order(term):
                    if part not in self._forms:
                        self._forms[part] = self._form(part)
        return self._forms[term]

    def pruned(self, term: Term) -> Form:
        """The normal form without branches that other guards exclude."""
        form = self.form(term)
        if form not in self._pruned:
            self._pruned[form] = prune(self._pool, form, self._comparisons.decide, self._merge)
        return self._pruned[form]

    def equal(self, left: Term, right: Term) -> bool:
        """Whether the two terms are proven to compute the same value, or to raise together."""
        return left is right or self.form(left) is self.form(right) or self.pruned(left) is self.pruned(right)

    def opposite(self, left: Term, right: Term) -> bool:
        """Whether one guard is proven to be the negation of the other."""
        return self.equal(left, negate(right))

    def _form(self, term: Term) -> Form:
        match term:
            case Constant(value):
                return self._constant(value)
            case Atom(name):
                return self._pool.literal("atom", name)
            case Handle(kind, key):
                return self._pool.literal("handle", (kind, key))
            case Raise():
                return self._pool.failure
            case Symbol(name):
                return self._symbol(name)
            case Conditional(guard, then, otherwise):
                forms = self._forms
                return self._diagrams.choose(self._truth(forms[guard]), forms[then], forms[otherwise])
            case Opaque(name, args):
                return self._call("opaque", name, [self._forms[arg] for arg in args])
            case Apply(op, args):
                return self._apply(op, [self._forms[arg] for arg in args])

    def _constant(self, value: object) -> Form:
        if value is None:
            return self._pool.none
        if isinstance(value, bool):
            return self._pool.true if value else self._pool.false
        if isinstance(value, int):
            return self._numbers.constant(value)
        if isinstance(value, float) and value - value == 0:
            return self._numbers.constant(Fraction(repr(value)))
        return self._pool.literal(type(value).__name__, repr(value) if isinstance(value, float) else value)

    def _symbol(self, name: str) -> Form:
        rule = self._symbols.get(name)
        kind = rule.domain.kind if rule is not None else ""
        low = high = None
        if rule is not None and kind in _NUMBER_KINDS:
            low = _fraction(rule.domain.low) if isfinite(rule.domain.low) else None
            # A large upper end only says where to sample; a fraction really ends at one.
            high = _fraction(rule.domain.high) if 0 < rule.domain.high <= 1 else None
        factor = self._pool.factor("symbol", name, (), integer=kind in ("integer", "boolean"), low=low, high=high)
        lone = self._numbers.lone(factor)
        if kind != "boolean":
            return lone
        asked = self._diagrams.ask(self._pool.guard("truth", "", (lone,)))
        assert rule is not None
        if rule.domain.optional:
            missing = self._diagrams.ask(self._pool.guard("same", "", (lone, self._pool.none)))
            return self._diagrams.choose(missing, self._pool.none, asked)
        return asked

    def _never_none(self, form: Polynomial) -> bool:
        factor = sole_factor(form)
        if factor is None or factor.kind not in ("symbol", "opaque", "call", "case", "choice"):
            return True
        rule = self._symbols.get(factor.name) if factor.kind == "symbol" else None
        return rule is not None and not rule.domain.optional

    def _is_number(self, form: Polynomial) -> bool:
        factor = sole_factor(form)
        if factor is None or factor.kind not in ("symbol", "opaque", "call", "case", "choice"):
            return True
        rule = self._symbols.get(factor.name) if factor.kind == "symbol" else None
        return rule is not None and rule.domain.kind in _NUMBER_KINDS

    def _apply(self, op: str, args: list[Form]) -> Form:
        if op in ("and", "or"):
            combine = self._diagrams.both if op == "and" else self._diagrams.either
            return reduce(combine, map(self._truth, args))
        if op == "not":
            return self._diagrams.negate(self._truth(args[0]))
        if op == "bool":
            return self._truth(args[0])
        if op in _NEGATED:
            return self._diagrams.negate(self._apply(_NEGATED[op], args))
        if op == RANK_MINIMUM:
            return self._rank_minimum(args[0])
        function = getattr(self, _METHODS[op]) if op in _METHODS else None
        if function is None:
            return self._call("call", op, args)
        return self._diagrams.lift(op, function, *args)

    def _call(self, kind: str, name: str, args: list[Form]) -> Form:
        """An uninterpreted function; its arguments are compared by their normal forms."""

        def make(*leaves: Form) -> Form:
            if any(isinstance(leaf, Failure) for leaf in leaves):
                return self._pool.failure
            parts = tuple(sorted(leaves, key=lambda leaf: leaf.key)) if name in _UNORDERED_CALLS else leaves
            if kind == "call" and name in BOOLEAN_RESULT:
                return self._diagrams.ask(self._pool.guard("call", name, parts))
            low = Fraction(0) if kind == "call" and name in _COUNTING_CALLS else None
            whole = kind == "call" and name in _WHOLE_CALLS
            return self._numbers.lone(self._pool.factor(kind, name, parts, integer=whole, low=low))

        return self._diagrams.lift(f"{kind} {name}", make, *args)

    def _rank_minimum(self, form: Form) -> Form:
        """The smallest of all ranks' values: another rank may answer a guard in another way, so none leaves it."""
        if isinstance(form, Failure):
            return form
        whole = integral(form)
        return self._numbers.lone(self._pool.factor("call", RANK_MINIMUM, (form,), integer=whole))

    def _truth(self, form: Form) -> Form:
        return self._diagrams.lift("truth", self._truth_leaf, form)

    def _truth_leaf(self, leaf: Form) -> Form:
        match leaf:
            case Literal("bool", _) | Failure():
                return leaf
            case Literal("none", _) | Literal("str", ""):
                return self._pool.false
            case Literal():
                return self._pool.true
            case Polynomial() if self._is_number(leaf):
                nonzero = self._diagrams.negate(self._comparisons.zero(leaf))
                if self._never_none(leaf):
                    return nonzero
                missing = self._diagrams.ask(self._pool.guard("same", "", (leaf, self._pool.none)))
                return self._diagrams.choose(missing, self._pool.false, nonzero)
            case _:
                return self._diagrams.ask(self._pool.guard("truth", "", (leaf,)))

    def _equal_leaf(self, left: Form, right: Form) -> Form:
        if isinstance(left, Failure) or isinstance(right, Failure):
            return self._pool.failure
        if isinstance(left, Literal) and isinstance(right, Literal):
            return self._pool.true if left is right else self._pool.false
        if isinstance(left, Literal):
            left, right = right, left
        assert isinstance(left, Polynomial)
        if isinstance(right, Literal):
            return self._equal_literal(left, right)
        assert isinstance(right, Polynomial)
        if self._is_number(left) or self._is_number(right):
            return self._comparisons.zero(self._numbers.subtract(left, right))
        pair = tuple(sorted((left, right), key=lambda form: form.key))
        return self._pool.true if left is right else self._diagrams.ask(self._pool.guard("same", "", pair))

    def _equal_literal(self, left: Polynomial, right: Literal) -> Form:
        if right.kind == "bool" and number_of(left) is not None:
            return self._pool.true if number_of(left) == int(right is self._pool.true) else self._pool.false
        if number_of(left) is not None or (right is self._pool.none and self._never_none(left)):
            return self._pool.false
        if right.kind not in ("none", "bool") and self._is_number(left):
            return self._pool.false
        return self._diagrams.ask(self._pool.guard("same", "", (left, right)))

    def _less_leaf(self, left: Form, right: Form) -> Form:
        return self._compared(left, right, strict=True)

    def _at_most_leaf(self, left: Form, right: Form) -> Form:
        return self._compared(left, right, strict=False)

    def _greater_leaf(self, left: Form, right: Form) -> Form:
        return self._compared(right, left, strict=True)

    def _at_least_leaf(self, left: Form, right: Form) -> Form:
        return self._compared(right, left, strict=False)

    def _compared(self, left: Form, right: Form, *, strict: bool) -> Form:
        small, large = self._number(left), self._number(right)
        if small is None or large is None:
            return self._pool.failure
        return self._comparisons.above_zero(self._numbers.subtract(large, small), strict=strict)

    def _number(self, leaf: Form) -> Polynomial | None:
        """`leaf` as a number; None where Python would raise a TypeError."""
        if isinstance(leaf, Polynomial):
            return leaf
        if isinstance(leaf, Literal) and leaf.kind == "bool":
            return self._numbers.constant(int(leaf is self._pool.true))
        return None

    def _numeric(self, function: Callable[..., Form | None], leaves: tuple[Form, ...]) -> Form:
        numbers = [self._number(leaf) for leaf in leaves]
        if any(number is None for number in numbers):
            return self._pool.failure
        return function(*numbers) or self._pool.failure

    def _add(self, *leaves: Form) -> Form:
        return self._numeric(self._numbers.add, leaves)

    def _subtract(self, *leaves: Form) -> Form:
        return self._numeric(self._numbers.subtract, leaves)

    def _negative(self, *leaves: Form) -> Form:
        return self._numeric(lambda part: self._numbers.scale(part, -1), leaves)

    def _multiply(self, *leaves: Form) -> Form:
        return self._numeric(self._numbers.multiply, leaves)

    def _divide(self, *leaves: Form) -> Form:
        return self._numeric(self._quotient, leaves)

    def _quotient(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        inverse = self._numbers.invert(right)
        return None if inverse is None else self._numbers.multiply(left, inverse)

    def _floor_divide(self, *leaves: Form) -> Form:
        return self._numeric(self._floor_quotient, leaves)

    def _floor_quotient(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        quotient = self._quotient(left, right)
        return None if quotient is None else self._roundings.floor(quotient)

    def _modulo(self, *leaves: Form) -> Form:
        return self._numeric(self._remainder, leaves)

    def _remainder(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        quotient = self._floor_quotient(left, right)
        return None if quotient is None else self._numbers.subtract(left, self._numbers.multiply(right, quotient))

    def _power(self, *leaves: Form) -> Form:
        return self._numeric(self._raised, leaves)

    def _raised(self, base: Polynomial, exponent: Polynomial) -> Polynomial:
        times = number_of(exponent)
        if times is not None and times.denominator == 1 and 0 <= times <= _MAX_EXPONENT:
            return reduce(self._numbers.multiply, [base] * int(times), self._numbers.one)
        return self._numbers.lone(self._pool.factor("call", "**", (base, exponent)))

    def _shift_left(self, *leaves: Form) -> Form:
        return self._numeric(lambda a, b: self._shifted(a, b, "<<"), leaves)

    def _shift_right(self, *leaves: Form) -> Form:
        return self._numeric(lambda a, b: self._shifted(a, b, ">>"), leaves)

    def _shifted(self, left: Polynomial, right: Polynomial, op: str) -> Polynomial:
        bits = number_of(right)
        if bits is None or bits.denominator != 1 or bits < 0 or bits > 64:  # noqa: PLR2004 - a machine word
            return self._numbers.lone(self._pool.factor("call", op, (left, right), integer=True))
        if op == "<<":
            return self._numbers.scale(left, 2 ** int(bits))
        return self._roundings.floor(self._numbers.scale(left, Fraction(1, 2 ** int(bits))))

    def _integer(self, *leaves: Form) -> Form:
        return self._numeric(self._roundings.truncate, leaves)

    def _floor(self, *leaves: Form) -> Form:
        return self._numeric(self._roundings.floor, leaves)

    def _ceiling(self, *leaves: Form) -> Form:
        return self._numeric(self._roundings.ceiling, leaves)

    def _round(self, *leaves: Form) -> Form:
        return self._numeric(self._nearest, leaves)

    def _nearest(self, part: Polynomial, digits: Polynomial | None = None) -> Polynomial:
        if digits is None:
            return self._roundings.nearest(part)
        return self._numbers.lone(self._pool.factor("call", "round", (part, digits)))

    def _float(self, *leaves: Form) -> Form:
        return self._numeric(lambda part: part, leaves)

    def _single(self, *leaves: Form) -> Form:
        return self._numeric(self._roundings.single, leaves)

    def _absolute(self, *leaves: Form) -> Form:
        return self._numeric(self._roundings.absolute, leaves)

    def _smallest(self, *leaves: Form) -> Form:
        return self._numeric(lambda *parts: self._roundings.extreme(parts, smallest=True), leaves)

    def _largest(self, *leaves: Form) -> Form:
        return self._numeric(lambda *parts: self._roundings.extreme(parts, smallest=False), leaves)

    def _merge(self, guard: Guard, then: Polynomial, otherwise: Polynomial) -> Form | None:
        """``a if a <= b else b`` as the minimum it is, and its mirror images."""
        if guard.kind not in ("positive", "nonnegative") or self._merging:
            return None
        difference = self._numbers.subtract(then, otherwise)
        self._merging = True
        try:
            for chosen, whole, holds in ((then, otherwise, True), (otherwise, then, False)):
                if self._is_extreme_of(whole, chosen, guard, holds=holds):
                    return whole
            for part, smallest in ((difference, False), (self._numbers.scale(difference, -1), True)):
                for strict in (True, False):
                    if self._asks(guard, self._comparisons.above_zero(part, strict=strict)):
                        return self._roundings.extreme((then, otherwise), smallest=smallest)
        finally:
            self._merging = False
        return None

    def _is_extreme_of(self, whole: Polynomial, chosen: Polynomial, guard: Guard, *, holds: bool) -> bool:
        """Whether `whole` is a minimum or maximum that is `chosen` wherever the answer to `guard` is `holds`."""
        found = split_minimum(self._numbers, whole)
        if found is None or chosen not in found[0]:
            return False
        options, is_minimum = found
        beside = [option for option in options if option is not chosen]
        gaps = [self._numbers.subtract(*((o, chosen) if is_minimum else (chosen, o))) for o in beside]
        return all(self._follows(gap, guard, holds=holds) for gap in gaps)

    def _follows(self, gap: Polynomial, guard: Guard, *, holds: bool) -> bool:
        """Whether the answer to `guard` makes `gap` not negative, a common factor that never is left aside."""
        form = self._comparisons.above_zero(self._numbers.without_common_factor(gap), strict=False)
        if form is self._pool.true:
            return True
        if not isinstance(form, Branch):
            return False
        decided = self._comparisons.decide(form.guard, ((guard, holds),))
        return decided is not None and (form.then if decided else form.otherwise) is self._pool.true

    def _asks(self, guard: Guard, form: Form) -> bool:
        return (
            isinstance(form, Branch)
            and form.guard is guard
            and form.then is self._pool.true
            and form.otherwise is self._pool.false
        )


_NEGATED: Final = {"!=": "==", "is not": "is", "not in": "in"}
_METHODS: Final = {
    "==": "_equal_leaf",
    "is": "_equal_leaf",
    "<": "_less_leaf",
    "<=": "_at_most_leaf",
    ">": "_greater_leaf",
    ">=": "_at_least_leaf",
    "+": "_add",
    "-": "_subtract",
    "neg": "_negative",
    "*": "_multiply",
    "/": "_divide",
    "//": "_floor_divide",
    "%": "_modulo",
    "**": "_power",
    "<<": "_shift_left",
    ">>": "_shift_right",
    "int": "_integer",
    "floor": "_floor",
    "ceil": "_ceiling",
    "round": "_round",
    "float": "_float",
    "float32": "_single",
    "abs": "_absolute",
    "min": "_smallest",
    "max": "_largest",
}


def _fraction(value: float) -> Fraction:
    return Fraction(repr(value))
