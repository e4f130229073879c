"""What comprehensions are worth once their sequences are known."""

from __future__ import annotations

import pytest

from analyzer.domain.build import apply, compare
from analyzer.domain.iteration import EACH, FOR, iterate, loop_variable
from analyzer.domain.semantics import Evaluator, Off, RaisedError, Value
from analyzer.domain.terms import Opaque, Symbol, Term, constant, opaque, symbol

X, Y = loop_variable(0), loop_variable(1)
EVALUATOR = Evaluator()
KNOWN = {"n": 6, "names": ("a", "b", "a"), "nothing": Off("nothing")}


def lookup(term: Symbol | Opaque) -> Value:
    """Values by name; a comprehension inside another one is gone through."""
    return KNOWN[term.name] if isinstance(term, Symbol) else iterate(term, lookup, EVALUATOR)


def upto(end: Term) -> Opaque:
    """`range(end)`."""
    return opaque("range", (end,))


def each(kind: str, *parts: Term) -> Opaque:
    """A comprehension."""
    return opaque(EACH, (constant(kind), *parts))


EVEN = opaque(FOR, (X, upto(symbol("n")), compare("==", apply("%", X, constant(2)), constant(0))))
BELOW = opaque(FOR, (Y, upto(X)))


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (each("list", opaque(FOR, (X, upto(symbol("n")))), X), (0, 1, 2, 3, 4, 5)),
        (each("generator", EVEN, apply("*", X, X)), (0, 4, 16)),
        (each("list", EVEN, BELOW, Y), (0, 1, 0, 1, 2, 3)),
        (each("set", opaque(FOR, (X, symbol("names"))), X), ("a", "b")),
        (opaque("len", (each("list", EVEN, constant(1)),)), 3),
        (opaque("sum of", (each("list", EVEN, X),)), 6),
        (opaque("max of", (each("list", EVEN, X),)), 4),
        (opaque("min of", (each("list", EVEN, opaque("sum of", (each("list", BELOW, Y),))),)), 0),
        (opaque("item", (symbol("names"), constant(1))), "b"),
        (opaque("len", (upto(constant(0)),)), 0),
        (opaque("product of", (each("list", EVEN, apply("+", X, constant(1))),)), 15),
        (opaque("product of", (upto(constant(0)),)), 1),
        (opaque("bisect_right", (each("list", EVEN, X), constant(2))), 2),
        (opaque("bisect_left", (each("list", EVEN, X), constant(2))), 1),
        (
            opaque(
                "bisect_right", (each("list", opaque(FOR, (X, upto(constant(10**12)))), apply("*", X, X)), constant(99))
            ),
            10,
        ),
    ],
)
def test_a_known_sequence_is_gone_through(term: Opaque, value: Value) -> None:
    assert iterate(term, lookup, EVALUATOR) == value


@pytest.mark.parametrize(
    "term",
    [
        each("list", opaque(FOR, (X, symbol("nothing"))), X),
        opaque("len", (each("list", opaque(FOR, (X, symbol("nothing"))), X),)),
        upto(symbol("nothing")),
        opaque("max of", (upto(constant(0)),)),
        opaque("bisect_left", (symbol("nothing"), constant(2))),
        opaque("bisect_left", (upto(symbol("n")), symbol("nothing"))),
        each("dict", EVEN, X, X),
        each("list", opaque(FOR, (X, upto(constant(10**9)))), X),
    ],
)
def test_what_is_not_known_is_no_number(term: Opaque) -> None:
    assert isinstance(iterate(term, lookup, EVALUATOR), Off)


def test_an_element_that_is_not_there_is_an_error() -> None:
    with pytest.raises(RaisedError, match="IndexError"):
        iterate(opaque("item", (symbol("names"), constant(7))), lookup, EVALUATOR)


def test_a_search_for_what_has_no_order_is_an_error() -> None:
    with pytest.raises(RaisedError, match="TypeError"):
        iterate(opaque("bisect_right", (symbol("names"), constant(2))), lookup, EVALUATOR)
