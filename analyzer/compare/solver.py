"""A solver for arithmetic as the last rung of the ladder, where z3 is installed (the extra ``smt``).

Whole numbers and rationals are exact there. What it has no words for, such as sequences and functions of others, is
one unknown for each term: what is equal for all of their values is equal. The effort is bounded in steps of the
solver, not in seconds, so that the answer is the same on every machine.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from math import isfinite
from typing import Any, Final

from analyzer.domain.build import apply, is_plain_tuple, negate
from analyzer.domain.operators import COMPARISONS
from analyzer.domain.rules import SymbolRule
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.terms import (
    NONE,
    Apply,
    Atom,
    Conditional,
    Constant,
    Opaque,
    Raise,
    Symbol,
    Term,
    children,
    constant,
    post_order,
    walk,
)

# About two seconds on a machine of 2024.
_STEPS: Final = 6_000_000
# Far beyond what the steps take anywhere: a stuck solver must not hold up a report.
_MILLISECONDS: Final = 30_000
_LARGEST: Final = 500
# Its steps do not bound what it does with polynomials of a higher degree.
_HIGHEST_DEGREE: Final = 32
_TRUE_OR_FALSE: Final = COMPARISONS | {"and", "or", "not", "bool"}
_ARITHMETIC: Final[Mapping[str, Callable[..., Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "neg": operator.neg,
    "float": operator.pos,
}
_ORDER: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_DIVISIONS: Final = frozenset({"/", "//", "%"})
_SAFE: Final = (COMPARISONS - _ORDER.keys()) | {"not", "bool", "present", "isinstance", "tuple"}
_KNOWN: Final = _ARITHMETIC.keys() | _ORDER.keys() | _DIVISIONS | {"int", "floor", "ceil", "min", "max"}


@cache
def is_installed() -> bool:
    """Whether z3 is there."""
    return find_spec("z3") is not None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the solver found: a proof, or inputs at which the formulas may differ."""

    equal: bool
    inputs: Mapping[str, Any]


def solve(before: Term, after: Term, symbols: Mapping[str, SymbolRule]) -> Answer | None:
    """Whether two formulas are equal wherever `symbols` say that their inputs lie; None where that stays open."""
    if not is_installed() or sum(1 for _ in walk(before, after)) > _LARGEST:
        return None
    if max(map(_degree, (before, after))) > _HIGHEST_DEGREE:
        return None
    with deep_recursion():
        return _Query(symbols).answer(before, after)


class _Query:
    """Two formulas in the words of the solver."""

    def __init__(self, symbols: Mapping[str, SymbolRule]) -> None:
        import z3  # noqa: PLC0415 - an extra that takes a quarter of a second to import

        self._z3 = z3
        # Of its own: how many steps a proof takes hangs on what else a context holds.
        self._context = z3.Context()
        self._yes, self._no = (z3.BoolVal(value, self._context) for value in (True, False))
        self._symbols = symbols
        self._memory: dict[tuple[Callable[[Term], Any], Term], Any] = {}
        self._codes: dict[Term, int] = {}
        self._unknowns: dict[Term, int] = {}
        self._domain: list[Any] = []

    def answer(self, before: Term, after: Term) -> Answer | None:
        z3 = self._z3
        fails = self._fails(before), self._fails(after)
        absent = self._absent(before), self._absent(after)
        values = self._number(before) == self._number(after)
        same = self._any(self._all(*absent), self._all(z3.Not(self._any(*absent)), values))
        solver = z3.Solver(ctx=self._context)
        solver.set("rlimit", _STEPS)
        solver.set("timeout", _MILLISECONDS)
        solver.add(*self._domain)
        solver.add(z3.Not(self._any(self._all(*fails), self._all(z3.Not(self._any(*fails)), same))))
        found = solver.check()
        if found == z3.unsat:
            return Answer(equal=True, inputs={})
        if found == z3.sat:
            return Answer(equal=False, inputs=dict(self._inputs(solver.model(), before, after)))
        return None

    def _get(self, what: Callable[[Term], Any], term: Term) -> Any:
        """`what` of a term, worked out once."""
        key = (what, term)
        if key not in self._memory:
            self._memory[key] = what(term)
        return self._memory[key]

    def _all(self, *parts: Any) -> Any:
        return self._z3.And(*parts, self._context)

    def _any(self, *parts: Any) -> Any:
        return self._z3.Or(*parts, self._context)

    def _whole(self, value: int) -> Any:
        return self._z3.IntVal(value, self._context)

    def _unknown(self, term: Term, kind: str) -> str:
        """The name of what is not known about a term."""
        return f"{kind} {self._unknowns.setdefault(term, len(self._unknowns))}"

    # ---- numbers ---------------------------------------------------------------------------

    def _number(self, term: Term) -> Any:
        return self._get(self._as_number, term)

    def _as_number(self, term: Term) -> Any:
        z3 = self._z3
        match term:
            case Constant(bool() | int() as value):
                return self._whole(int(value))
            case Constant(float() as value) if isfinite(value):
                exact = Fraction(repr(value))
                return z3.RatVal(exact.numerator, exact.denominator, self._context)
            case Symbol(name) if name in self._symbols:
                return self._declared(term, self._symbols[name])
            case Conditional(guard, then, otherwise):
                return z3.If(self._truth(guard), *self._alike(self._number(then), self._number(otherwise)))
            case Apply(op, _) if op in _TRUE_OR_FALSE:
                return z3.If(self._truth(term), self._whole(1), self._whole(0))
            case Apply(op, args):
                found = self._computed(op, args)
                return z3.Real(self._unknown(term, "number"), self._context) if found is None else found
            case _:
                return z3.Real(self._unknown(term, "number"), self._context)

    def _declared(self, term: Symbol, rule: SymbolRule) -> Any:
        z3, domain = self._z3, rule.domain
        if domain.kind == "boolean":
            return z3.If(self._truth(term), self._whole(1), self._whole(0))
        number = (z3.Int if domain.kind == "integer" else z3.Real)(self._unknown(term, "number"), self._context)
        if domain.kind in ("integer", "real", "memory") and domain.low < domain.high:
            self._domain += self._bounds(number, domain.low, domain.high)
        return number

    def _bounds(self, number: Any, low: float, high: float) -> Iterator[Any]:
        if isfinite(low):
            yield number >= self._as_number(constant(low))
        if isfinite(high):
            yield number <= self._as_number(constant(high))

    def _computed(self, op: str, args: tuple[Term, ...]) -> Any | None:
        """What an operation comes to, None for one that the solver has no words for."""
        numbers = [self._number(arg) for arg in args]
        if op in _ARITHMETIC:
            return _ARITHMETIC[op](*numbers)
        match op, numbers:
            case "/", [left, right]:
                return self._real(left) / right
            case "//", [left, right]:
                return self._floor_of(left, right)
            case "%", [left, right]:
                return left - right * self._floor_of(left, right)
            case "int", [value]:
                return self._z3.If(value >= 0, self._floor(value), -self._floor(-value))
            case "floor", [value]:
                return self._floor(value)
            case "ceil", [value]:
                return -self._floor(-value)
            case "min" | "max", [_, _, *_]:
                return self._extreme(op, numbers)
            case _:
                return None

    def _extreme(self, op: str, numbers: list[Any]) -> Any:
        found, *rest = numbers
        for other in rest:
            one, another = self._alike(found, other)
            found = self._z3.If(one <= another if op == "min" else one >= another, one, another)
        return found

    def _floor(self, value: Any) -> Any:
        return value if value.is_int() else self._z3.ToInt(value)

    def _floor_of(self, left: Any, right: Any) -> Any:
        if not (left.is_int() and right.is_int()):
            return self._floor(self._real(left) / right)
        # The solver's division leaves a remainder that is not negative; Python's goes down.
        return self._z3.If(right > 0, left / right, (-left) / (-right))

    def _alike(self, one: Any, other: Any) -> tuple[Any, Any]:
        if one.is_int() == other.is_int():
            return one, other
        return self._real(one), self._real(other)

    def _real(self, value: Any) -> Any:
        return self._z3.ToReal(value) if value.is_int() else value

    # ---- conditions ------------------------------------------------------------------------

    def _truth(self, term: Term) -> Any:
        return self._get(self._as_truth, term)

    def _as_truth(self, term: Term) -> Any:
        z3 = self._z3
        match term:
            case Constant(value):
                return self._yes if value else self._no
            case Symbol(name) if name in self._symbols and self._symbols[name].domain.kind in ("integer", "real"):
                return self._all(z3.Not(self._absent(term)), self._number(term) != 0)
            case Conditional(guard, then, otherwise):
                return z3.If(self._truth(guard), self._truth(then), self._truth(otherwise))
            case Apply("and" | "or" as op, args):
                return (self._all if op == "and" else self._any)(*map(self._truth, args))
            case Apply("not" | "bool" as op, (arg,)):
                return z3.Not(self._truth(arg)) if op == "not" else self._truth(arg)
            case Apply("!=" | "is not" | "not in", _):
                return z3.Not(self._truth(negate(term)))
            case Apply("<" | "<=" | ">" | ">=" | "==" | "is" as op, (left, right)):
                return self._compared(op, left, right)
            case Apply("in", (item, members)) if is_plain_tuple(members):
                return self._any(*(self._compared("==", item, member) for member in children(members)))
            case _:
                return z3.Bool(self._unknown(term, "truth"), self._context)

    def _compared(self, op: str, left: Term, right: Term) -> Any:
        z3 = self._z3
        if op == "is" and NONE not in (left, right):
            return z3.Bool(self._unknown(apply("is", left, right), "truth"), self._context)
        if op in ("==", "is"):
            absent = self._absent(left), self._absent(right)
            is_text = any(map(_is_text, (left, right)))
            same = self._code(left) == self._code(right) if is_text else self._number(left) == self._number(right)
            return self._any(self._all(*absent), self._all(z3.Not(self._any(*absent)), same))
        return _ORDER[op](self._number(left), self._number(right))

    def _code(self, term: Term) -> Any:
        """Which text a term is: a number for each."""
        if _is_text(term):
            return self._whole(self._codes.setdefault(term, len(self._codes)))
        if isinstance(term, Conditional):
            return self._z3.If(self._truth(term.guard), self._code(term.then), self._code(term.otherwise))
        return self._z3.Int(self._unknown(term, "text"), self._context)

    # ---- what is not there, and what fails ---------------------------------------------------

    def _absent(self, term: Term) -> Any:
        return self._get(self._as_absent, term)

    def _fails(self, term: Term) -> Any:
        return self._get(self._as_failing, term)

    def _as_absent(self, term: Term) -> Any:
        """Whether a term is None."""
        z3 = self._z3
        match term:
            case Constant(None):
                return self._yes
            case Symbol(name) if name in self._symbols and _is_always_there(self._symbols[name]):
                return self._no
            case Conditional(guard, then, otherwise):
                absent = self._absent(then), self._absent(otherwise)
                return z3.If(self._truth(guard), *absent)
            case Symbol() | Opaque() | Apply("item", _):
                return z3.Bool(self._unknown(term, "absence"), self._context)
            case _:
                return self._no

    def _as_failing(self, term: Term) -> Any:
        """Whether computing a term ends in an error."""
        z3 = self._z3
        match term:
            case Raise():
                return self._yes
            case Conditional(guard, then, otherwise):
                either = z3.If(self._truth(guard), self._fails(then), self._fails(otherwise))
                return self._any(self._fails(guard), either)
            case Apply("and" | "or" as op, args):
                failed = self._fails(args[-1])
                for arg in reversed(args[:-1]):
                    goes_on = self._truth(arg) if op == "and" else z3.Not(self._truth(arg))
                    failed = self._any(self._fails(arg), self._all(goes_on, failed))
                return failed
            case Apply(op, args):
                return self._any(*(self._fails(arg) for arg in args), *self._own_failure(term, op, args))
            case _:
                return self._no

    def _own_failure(self, term: Apply, op: str, args: tuple[Term, ...]) -> Iterator[Any]:
        if op in _SAFE:
            return
        if op not in _KNOWN:
            yield self._z3.Bool(self._unknown(term, "failure"), self._context)
            return
        yield from (self._absent(arg) for arg in args)
        if op in _DIVISIONS:
            yield self._number(args[1]) == 0

    # ---- examples --------------------------------------------------------------------------

    def _inputs(self, model: Any, before: Term, after: Term) -> Iterator[tuple[str, Any]]:
        """What the declared inputs are worth where the solver says that the formulas differ."""
        texts = {code: term for term, code in self._codes.items()}
        for term in dict.fromkeys(walk(before, after)):
            rule = self._symbols.get(term.name) if isinstance(term, Symbol) else None
            if rule is None or not isinstance(term, Symbol):
                continue
            value = self._worth(model, term, rule, texts)
            if value is not None or rule.domain.optional:
                yield term.name, value

    def _worth(self, model: Any, term: Symbol, rule: SymbolRule, texts: Mapping[int, Term]) -> Any:
        z3 = self._z3
        if z3.is_true(model.eval(self._absent(term), model_completion=True)):
            return None
        match rule.domain.kind:
            case "boolean":
                return z3.is_true(model.eval(self._truth(term), model_completion=True))
            case "integer" | "real" | "memory":
                number = model.eval(self._number(term), model_completion=True)
                if z3.is_int_value(number):
                    return number.as_long()
                return float(number.as_fraction()) if z3.is_rational_value(number) else None
            case _:
                code = model.eval(self._code(term), model_completion=True)
                text = texts.get(code.as_long()) if z3.is_int_value(code) else None
                return text.value if isinstance(text, Constant) else text


def _degree(root: Term) -> int:
    """The most inputs that are multiplied with each other in a formula, its fractions brought to one denominator."""
    found: dict[Term, tuple[int, int]] = {}
    for term in post_order(root):
        parts = [found[child] for child in children(term)]
        match term, parts:
            case Apply("*"), [(over, under), (more, below)]:
                degree = (over + more, under + below)
            case Apply("/" | "//" | "%"), [(over, under), (more, below)]:
                degree = (over + below, under + more)
            case Apply("+" | "-"), [(over, under), (more, below)]:
                degree = (max(over + below, more + under), under + below)
            case Constant(), _:
                degree = (0, 0)
            case _:
                degree = (max((over for over, _ in parts), default=1), max((under for _, under in parts), default=0))
        found[term] = degree
        if max(degree) > _HIGHEST_DEGREE:
            break
    return max(max(degree) for degree in found.values())


def _is_always_there(rule: SymbolRule) -> bool:
    return rule.domain.kind != "object" and not rule.domain.optional


def _is_text(term: Term) -> bool:
    return isinstance(term, Atom) or (isinstance(term, Constant) and isinstance(term.value, str))
