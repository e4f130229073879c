"""Evaluating terms: the same numbers, types and errors that Python would give."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from analyzer.domain.operators import COMPARISONS, OPERATORS
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


def evaluate(root: Term, lookup: Lookup, *, exact: bool = False, memo: dict[int, Value] | None = None) -> Value:
    """The value of `root`.

    `exact` computes with rationals: float literals become the decimal they are written as.
    `memo` may be shared between evaluations under the same `lookup`.
    Raises MissingInputError and RaisedError; arithmetic errors surface as RaisedError too.
    """
    known: dict[int, Value] = {} if memo is None else memo

    def visit(term: Term) -> Value:
        chain = []
        while True:
            if id(term) in known:
                value = known[id(term)]
                break
            if isinstance(term, Conditional):
                chain.append(id(term))
                term = term.then if visit(term.guard) else term.otherwise
                continue
            value = _leaf_or_apply(term, visit, lookup, exact=exact)
            known[id(term)] = value
            break
        for key in chain:
            known[key] = value
        return value

    with deep_recursion():
        return visit(root)


def _leaf_or_apply(term: Term, visit: Callable[[Term], Value], lookup: Lookup, *, exact: bool) -> Value:
    match term:
        case Constant(value):
            return Fraction(repr(value)) if exact and isinstance(value, float) and value - value == 0 else value
        case Apply(op, args):
            return _operate(op, args, visit, exact=exact)
        case Symbol() | Opaque():
            return lookup(term)
        case Atom():
            return term
        case Raise(exception):
            raise RaisedError(exception)
        case Handle(_, key):
            raise MissingInputError(key)
        case Conditional():
            raise AssertionError


def _operate(op: str, args: tuple[Term, ...], visit: Callable[[Term], Value], *, exact: bool) -> Value:
    if op == "and":
        return all(visit(arg) for arg in args)
    if op == "or":
        return any(visit(arg) for arg in args)
    if op == "present":
        return _present(args[0], visit)
    values = [visit(arg) for arg in args]
    if any(isinstance(value, Off) for value in values):
        return _operate_off(op, values)
    if exact and op == "/":
        values[0] = Fraction(values[0])
    if exact and op in ("float", "float32"):
        return values[0]
    if op == "float32":
        return struct.unpack("f", struct.pack("f", values[0]))[0]
    function = OPERATORS[op].function
    assert function is not None
    try:
        return function(*values)
    except (ArithmeticError, TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        raise RaisedError(type(error).__name__, deliberate=False) from error


def _present(term: Term, visit: Callable[[Term], Value]) -> bool:
    try:
        return not isinstance(visit(term), Off)
    except MissingInputError:
        return False


def _operate_off(op: str, values: list[Value]) -> Value:
    """Guards read an unset option as off; arithmetic cannot."""
    off = next(value for value in values if isinstance(value, Off))
    if op in ("is", "=="):
        other = [value for value in values if value is not off]
        return bool(other) and (other[0] is None or (isinstance(other[0], Off) and other[0].name == off.name))
    if op in ("is not", "!="):
        return not _operate_off("is", values)
    if op in ("not", "not in"):
        return True
    if op in COMPARISONS or op in ("bool", "startswith", "endswith"):
        return False
    if op in ("upper", "lower", "strip", "str", "rank_min", "tuple", "item"):
        return off
    raise MissingInputError(off.name)
