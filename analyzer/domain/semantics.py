"""Evaluating terms: the same numbers, types and errors that Python would give."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Final

from analyzer.domain.magnitude import GROWING, TooLargeError, compute
from analyzer.domain.operators import COMPARISONS, OPERATORS, SEQUENCES
from analyzer.domain.terms import (
    TRUE,
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Scalar,
    Symbol,
    Term,
    children,
    is_maybe,
)

Value = Any
# What an unbound input or an uninterpreted function is worth: a value, OFF, or MissingInputError.
Lookup = Callable[[Symbol | Opaque], Value]

_RECURSION_LIMIT = 20_000


class Off:
    """An option nobody set in the scenario: false, None and equal to nothing, but not a number."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        return False


class MissingInputError(Exception):
    """A formula needs an input that has no value."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class OversizedError(MissingInputError):
    """A formula comes to a value that is too large to be computed."""


class RaisedError(Exception):
    """The formula's value is an exception that SGLang itself would raise.

    `deliberate` tells a raise statement from an operation that fails on its operands.
    """

    def __init__(self, exception: str, *, deliberate: bool = True) -> None:
        super().__init__(exception)
        self.exception = exception
        self.deliberate = deliberate


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow recursion as deep as a formula nests (pure Python frames use no C stack since 3.11)."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# One evaluation: what inputs are worth, and what was computed so far.
_Known = dict[Term, Value]
_Code = Callable[[Lookup, _Known], Value]


class Evaluator:
    """Computes terms, each compiled into a closure the first time it is reached.

    `exact` computes with rationals: float literals become the decimal they are written as.
    """

    def __init__(self, *, exact: bool = False) -> None:
        self._exact = exact
        self._codes: dict[Term, _Code] = {}
        self._is_running = False

    def value(self, root: Term, lookup: Lookup, known: dict[Term, Value] | None = None) -> Value:
        """The value of `root`; `known` may be shared between evaluations under the same `lookup`.

        Raises MissingInputError and RaisedError; arithmetic errors surface as RaisedError too.
        """
        known = {} if known is None else known
        if self._is_running:
            return self._code(root)(lookup, known)
        self._is_running = True
        try:
            with deep_recursion():
                return self._code(root)(lookup, known)
        finally:
            self._is_running = False

    def _code(self, term: Term) -> _Code:
        code = self._codes.get(term)
        if code is None:
            code = self._codes[term] = self._compile(term)
        return code

    def _compile(self, term: Term) -> _Code:
        match term:
            case Conditional():
                return self._conditional(term)
            case Apply(op, args):
                return self._apply(term, op, args)
            case Symbol() | Opaque():
                return lambda lookup, _: lookup(term)
            case Constant(value):
                literal = Fraction(repr(value)) if self._exact and _is_finite(value) else value
                return lambda _, __: literal
            case Atom():
                return lambda _, __: term
            case Raise(exception):
                return _raising(RaisedError(exception))
            case Handle(_, key):
                return _raising(MissingInputError(key))

    def _conditional(self, term: Conditional) -> _Code:
        code = self._code

        def run(lookup: Lookup, known: _Known) -> Value:
            # A loop, because a chain of branches can be longer than calls may nest.
            passed = []
            node: Term = term
            while isinstance(node, Conditional) and node not in known:
                passed.append(node)
                node = node.then if code(node.guard)(lookup, known) else node.otherwise
            value = known[node] if node in known else code(node)(lookup, known)
            for each in passed:
                known[each] = value
            return value

        return run

    def _apply(self, term: Apply, op: str, args: tuple[Term, ...]) -> _Code:
        match op:
            case "and" | "or":
                return _remembered(term, self._connective(args, until=op == "or"))
            case "present":
                return _remembered(term, self._present(args[0]))
            case "tuple" if any(map(is_maybe, args)):
                return _remembered(term, self._guarded(args))
            case "maybe":
                # An element that a sequence has under a guard is worth nothing outside of it.
                return _raising(MissingInputError(op))
            case "float" | "float32" if self._exact:
                return self._code(args[0])
            case "/" if self._exact:
                return self._operation(term, op, _exact_quotient, args)
            case "float32":
                return self._operation(term, op, to_float32, args)
            case _:
                function = OPERATORS[op].function
                assert function is not None
                return self._operation(term, op, function, args)

    def _connective(self, args: tuple[Term, ...], *, until: bool) -> _Code:
        """`and` and `or`: operands are looked at until one of them decides."""
        code = self._code

        def run(lookup: Lookup, known: _Known) -> bool:
            for arg in args:
                if bool(code(arg)(lookup, known)) is until:
                    return until
            return not until

        return run

    def _present(self, term: Term) -> _Code:
        code = self._code(term)

        def run(lookup: Lookup, known: _Known) -> bool:
            try:
                return not isinstance(code(lookup, known), Off)
            except MissingInputError:
                return False

        return run

    def _guarded(self, args: tuple[Term, ...]) -> _Code:
        """A tuple of the elements whose guard holds."""
        code = self._code

        def run(lookup: Lookup, known: _Known) -> Value:
            found = []
            for arg in args:
                guard, element = children(arg) if is_maybe(arg) else (TRUE, arg)
                if code(guard)(lookup, known):
                    found.append(code(element)(lookup, known))
            return tuple(found)

        return run

    def _operation(self, term: Term, op: str, function: Callable[..., Any], args: tuple[Term, ...]) -> _Code:
        """An operation on computed operands, done once in an evaluation: most terms are part of several others."""
        code = self._code
        is_growing = op in GROWING
        operands: list[_Code] = []

        def run(lookup: Lookup, known: _Known) -> Value:
            if term in known:
                return known[term]
            if not operands:
                # Compiled when first needed, so that what no guard lets through costs nothing.
                operands.extend(code(arg) for arg in args)
            values = [operand(lookup, known) for operand in operands]
            for value in values:
                if type(value) is Off:
                    result = known[term] = _operate_off(op, values)
                    return result
            try:
                result = compute(op, function, values) if is_growing else function(*values)
            except TooLargeError as error:
                raise OversizedError(str(error)) from error
            except _FAILURES as error:
                raise RaisedError(type(error).__name__, deliberate=False) from error
            known[term] = result
            return result

        return run


_FAILURES: Final = (ArithmeticError, TypeError, ValueError, IndexError, KeyError, AttributeError)


def _remembered(term: Term, compute: _Code) -> _Code:
    """`compute`, done once in an evaluation."""

    def run(lookup: Lookup, known: _Known) -> Value:
        if term in known:
            return known[term]
        value = known[term] = compute(lookup, known)
        return value

    return run


def _raising(error: Exception) -> _Code:
    def run(_: Lookup, __: _Known) -> Value:
        raise error

    return run


def _is_finite(value: Scalar) -> bool:
    return isinstance(value, float) and value - value == 0


def _exact_quotient(left: Value, right: Value) -> Value:
    return Fraction(left) / right


def to_float32(value: Value) -> float:
    """`value` after a round trip through 32 bits."""
    narrowed: float = struct.unpack("f", struct.pack("f", float(value)))[0]
    return narrowed


def _operate_off(op: str, values: list[Value]) -> Value:
    """Guards read an unset option as off; arithmetic cannot."""
    off = next(value for value in values if isinstance(value, Off))
    if op in ("is", "=="):
        other = [value for value in values if value is not off]
        return not other or other[0] is None or (isinstance(other[0], Off) and other[0].name == off.name)
    if op in ("is not", "!="):
        return not _operate_off("is", values)
    if op in ("not", "not in"):
        return True
    if op in COMPARISONS or op in ("bool", "startswith", "endswith", "isinstance"):
        return False
    if op in ("upper", "lower", "strip", "str", "rank_min", "item") or op in SEQUENCES:
        return off
    raise MissingInputError(off.name)
