"""Terms as a list of nodes: a node refers to its operands by index, so sharing is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from analyzer.domain.operators import OPERATORS
from analyzer.domain.terms import (
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
    atom,
    constant,
    handle,
    opaque,
    post_order,
    raising,
    raw_apply,
    raw_conditional,
    symbol,
)

# JSON readers other than ours hold numbers as doubles.
_EXACT_INTEGER: Final = 2**53


class NodeTable:
    """Collects terms; every distinct sub-term becomes one row, operands before their users."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self._indexes: dict[Term, int] = {}

    def index(self, term: Term) -> int:
        """The row of `term`, added with its sub-terms when it is new."""
        if term not in self._indexes:
            for node in post_order(term):
                if node not in self._indexes:
                    self._indexes[node] = len(self.nodes)
                    self.nodes.append(self._row(node))
        return self._indexes[term]

    def _row(self, term: Term) -> list[Any]:
        match term:
            case Constant(value):
                return _constant_row(value)
            case Apply(op, args):
                return [op, *map(self._indexes.__getitem__, args)]
            case Conditional(guard, then, otherwise):
                return ["$if", *map(self._indexes.__getitem__, (guard, then, otherwise))]
            case Opaque(name, args):
                return ["$call", name, *map(self._indexes.__getitem__, args)]
            case Handle(kind, key):
                return ["$handle", kind, key]
            case Symbol(name):
                return ["$in", name]
            case Atom(name):
                return ["$atom", name]
            case Raise(exception):
                return ["$raise", exception]


def _constant_row(value: Scalar) -> list[Any]:
    if isinstance(value, float) and not math.isfinite(value):
        return ["$float", repr(value)]
    if isinstance(value, int) and abs(value) > _EXACT_INTEGER:
        return ["$int", str(value)]
    return ["$", value]


def read_nodes(rows: Sequence[Sequence[Any]]) -> list[Term]:
    """The terms of a table, by index. Raises LookupError, TypeError or ValueError when it is damaged."""
    terms: list[Term] = []
    for row in rows:
        terms.append(_READERS.get(row[0], _read_apply)(terms, row))
    return terms


def _read_apply(terms: list[Term], row: Sequence[Any]) -> Term:
    if row[0] not in OPERATORS:
        message = f"unknown operator {row[0]!r}"
        raise ValueError(message)
    return raw_apply(row[0], [terms[index] for index in row[1:]])


def _read_conditional(terms: list[Term], row: Sequence[Any]) -> Term:
    _, guard, then, otherwise = row
    return raw_conditional(terms[guard], terms[then], terms[otherwise])


def _read_opaque(terms: list[Term], row: Sequence[Any]) -> Term:
    return opaque(row[1], [terms[index] for index in row[2:]])


# What is no operator begins with a dollar sign.
_READERS: Final[dict[str, Callable[[list[Term], Sequence[Any]], Term]]] = {
    "$if": _read_conditional,
    "$call": _read_opaque,
    "$": lambda _, row: constant(row[1]),
    "$float": lambda _, row: constant(float(row[1])),
    "$int": lambda _, row: constant(int(row[1])),
    "$in": lambda _, row: symbol(row[1]),
    "$atom": lambda _, row: atom(row[1]),
    "$raise": lambda _, row: raising(row[1]),
    "$handle": lambda _, row: handle(row[1], row[2]),
}
