"""Terms as rows of nested lists: what is used once stands where it is used, what is shared is a row of its own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from analyzer.domain.operators import OPERATORS
from analyzer.domain.terms import (
    FALSE,
    NONE,
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
    atom,
    children,
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
# A line of a snapshot is there to be read.
_DEEPEST: Final = 6


class NodeTable:
    """Rows for `roots` and for every term that is used more than once, operands before their users.

    An operand is the number of a row, the name of an input, true, false, null, or the node itself.
    """

    def __init__(self, roots: Sequence[Term]) -> None:
        self.nodes: list[list[Any]] = []
        self._rows: dict[Term, int] = {}
        self._inline: dict[Term, Any] = {}
        self._depths: dict[Term, int] = {}
        order = list(dict.fromkeys(node for root in dict.fromkeys(roots) for node in post_order(root)))
        uses = Counter(child for node in order for child in children(node))
        tops = frozenset(roots)
        for node in order:
            self._add(node, shared=uses[node] > 1, top=node in tops)

    def row(self, root: Term) -> int:
        """The row of one of the roots."""
        return self._rows[root]

    def _add(self, node: Term, *, shared: bool, top: bool) -> None:
        encoded = self._encode(node)
        depth = 1 + max((self._depths[child] for child in children(node)), default=0)
        brief = isinstance(node, Symbol) or node in _BARE
        if brief or not (shared or depth > _DEEPEST):
            self._inline[node] = _operand(node, encoded)
            self._depths[node] = depth
        if top or node not in self._inline:
            self._rows[node] = len(self.nodes)
            self.nodes.append(encoded)
            self._depths.setdefault(node, 0)

    def _reference(self, term: Term) -> Any:
        return self._inline[term] if term in self._inline else self._rows[term]

    def _encode(self, term: Term) -> list[Any]:
        match term:
            case Constant(value):
                return constant_row(value)
            case Apply(op, args):
                return [op, *map(self._reference, args)]
            case Conditional(guard, then, otherwise):
                return ["$if", *map(self._reference, (guard, then, otherwise))]
            case Opaque(name, args):
                return ["$call", name, *map(self._reference, args)]
            case Handle(kind, key):
                return ["$handle", kind, key]
            case Symbol(name):
                return ["$in", name]
            case Atom(name):
                return ["$atom", name]
            case Raise(exception):
                return ["$raise", exception]


_BARE: Final = frozenset({TRUE, FALSE, NONE})


def _operand(node: Term, encoded: list[Any]) -> Any:
    """How a node is written where it is used."""
    match node:
        case Symbol(name):
            return name
        case Constant(value) if node in _BARE:
            return value
        case _:
            return encoded


def constant_row(value: Scalar) -> list[Any]:
    """The row of a literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return ["$float", repr(value)]
    if isinstance(value, int) and abs(value) > _EXACT_INTEGER:
        return ["$int", str(value)]
    return ["$", value]


def read_nodes(rows: Sequence[Sequence[Any]]) -> list[Term]:
    """The terms of a table, by row. Raises LookupError, TypeError or ValueError when it is damaged."""
    terms: list[Term] = []
    for row in rows:
        terms.append(_read(terms, row))
    return terms


def term_at(row: int, terms: Sequence[Term]) -> Term:
    """The term in `row`. Raises IndexError."""
    if row < 0:
        raise IndexError(row)
    return terms[row]


def _read(terms: list[Term], operand: Any) -> Term:
    match operand:
        case None | True | False:
            return constant(operand)
        case int():
            return term_at(operand, terms)
        case str():
            return symbol(operand)
        case _:
            return _READERS.get(operand[0], _read_apply)(terms, operand)


def _read_apply(terms: list[Term], row: Sequence[Any]) -> Term:
    if row[0] not in OPERATORS or not OPERATORS[row[0]].takes(len(row) - 1):
        message = f"no operator {row[0]!r} of {len(row) - 1} operands"
        raise ValueError(message)
    return raw_apply(row[0], [_read(terms, operand) for operand in row[1:]])


def _read_conditional(terms: list[Term], row: Sequence[Any]) -> Term:
    _, guard, then, otherwise = row
    return raw_conditional(_read(terms, guard), _read(terms, then), _read(terms, otherwise))


def _read_opaque(terms: list[Term], row: Sequence[Any]) -> Term:
    return opaque(_text(row[1]), [_read(terms, operand) for operand in row[2:]])


def _text(value: object) -> str:
    if not isinstance(value, str):
        message = f"not a name: {value!r}"
        raise TypeError(message)
    return value


def _scalar(value: object) -> Scalar:
    if value is not None and not isinstance(value, str | int | float):
        message = f"not a literal: {value!r}"
        raise TypeError(message)
    return value


# What is no operator begins with a dollar sign.
_READERS: Final[dict[str, Callable[[list[Term], Sequence[Any]], Term]]] = {
    "$if": _read_conditional,
    "$call": _read_opaque,
    "$": lambda _, row: constant(_scalar(row[1])),
    "$float": lambda _, row: constant(float(_text(row[1]))),
    "$int": lambda _, row: constant(int(_text(row[1]))),
    "$in": lambda _, row: symbol(_text(row[1])),
    "$atom": lambda _, row: atom(_text(row[1])),
    "$raise": lambda _, row: raising(_text(row[1])),
    "$handle": lambda _, row: handle(_text(row[1]), _text(row[2])),
}
