"""Comprehensions as terms, and what they are worth once their sequences are known.

``each(kind, for(variable, iterable, *conditions), ..., *elements)`` is the canonical form of a
comprehension; loop variables are numbered, so that renaming one changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import mul
from typing import Any, Final, TypeGuard

from analyzer.domain.magnitude import MAX_ELEMENTS, TooLargeError, compute, is_too_large
from analyzer.domain.semantics import Evaluator, Lookup, MissingInputError, Off, OversizedError, RaisedError, Value
from analyzer.domain.terms import Constant, Opaque, Symbol, Term, constant, opaque, symbols_of, walk

EACH: Final = "each"
FOR: Final = "for"


def _product(factors: Sequence[Any]) -> Any:
    return reduce(lambda product, factor: compute("*", mul, (product, factor)), factors, 1)


_REDUCTIONS: Final[Mapping[str, Callable[[Sequence[Value]], Value]]] = {
    "len": len,
    "max of": max,
    "min of": min,
    "sum of": sum,
    "product of": _product,
    "any": any,
    "all": all,
}
_OF_NOTHING: Final[Mapping[str, Value]] = {"len": 0, "sum of": 0, "product of": 1, "any": False, "all": True}
# Where a value would go into a sequence in order: behind its equals, or before them.
BISECTIONS: Final = frozenset({"bisect_right", "bisect_left"})
ITERATIONS: Final = frozenset({EACH, "range", "item", *_REDUCTIONS, *BISECTIONS})


def loop_variable(depth: int) -> Opaque:
    """What the loop at `depth` binds."""
    return opaque(f"{EACH}#{depth}")


def is_loop_variable(term: Term) -> bool:
    """Whether `term` is what some loop binds."""
    return isinstance(term, Opaque) and term.name.startswith(f"{EACH}#")


def is_clause(term: Term) -> TypeGuard[Opaque]:
    """Whether `term` is a clause of a comprehension."""
    return isinstance(term, Opaque) and term.name == FOR


def is_of_loop(term: Term) -> bool:
    """Whether `term` is a loop variable or an uninterpreted function of one: each iteration has its value."""
    return is_loop_variable(term) or (isinstance(term, Opaque) and any(map(is_of_loop, term.args)))


def is_computable(term: Opaque) -> bool:
    """Whether `iterate` has the value of `term` once the inputs in it are known: nothing in it is uninterpreted."""
    return term.name in ITERATIONS and all(
        (part.name in (*ITERATIONS, FOR) and part.args) or is_loop_variable(part)
        for part in walk(term)
        if isinstance(part, Opaque)
    )


def computed(term: Opaque) -> Term:
    """What is computed over known values only, as a literal; any other term as it is."""
    if term.name == EACH or symbols_of(term) or not is_computable(term):
        return term
    evaluator = Evaluator()

    def lookup(part: Symbol | Opaque) -> Value:
        if isinstance(part, Opaque) and not is_loop_variable(part):
            return iterate(part, lookup, evaluator)
        # An outer loop binds it.
        raise MissingInputError(part.name)

    try:
        value = iterate(term, lookup, evaluator)
    except (MissingInputError, RaisedError):
        return term
    return constant(value) if isinstance(value, bool | int | float | str) else term


def iterate(term: Opaque, lookup: Lookup, evaluator: Evaluator) -> Value:
    """The value of a comprehension, a range, or what is computed over one; Off when it is not known.

    `evaluator` computes its parts. Raises MissingInputError and RaisedError, as that does.
    """
    if term.name == "item" and term.args[1:] == (constant(0),) and _is_list(term.args[0]):
        first = _comprehension(term.args[0], lookup, evaluator, most=1)
        return first if isinstance(first, Off) else first[0] if first else Off(term.name)
    if term.name in BISECTIONS:
        return _bisected(term, lookup, evaluator)
    values = [] if term.name == EACH else [evaluator.value(arg, lookup) for arg in term.args]
    off = next((value for value in values if isinstance(value, Off)), None)
    if off is not None:
        return off
    if term.name == EACH:
        # Without parts it stands for a sequence of which nothing is known.
        return _comprehension(term, lookup, evaluator) if term.args else Off(term.name)
    try:
        return _over(term, values)
    except TooLargeError as error:
        raise OversizedError(str(error)) from error
    except (ArithmeticError, TypeError, ValueError, IndexError) as error:
        raise RaisedError(type(error).__name__, deliberate=False) from error


def _over(term: Opaque, values: list[Value]) -> Value:
    """A range, an element or a reduction of known values; Off when they are no sequence."""
    if term.name == "range":
        return range(*values) if all(isinstance(value, int) for value in values) else Off(term.name)
    if term.name == "item":
        # A list that nobody gave is empty: its elements are unknown, not an error.
        return values[0][values[1]] if _is_sequence(values[0]) and values[0] else Off(term.name)
    if term.name != "len" and is_too_large(values[0]):
        raise TooLargeError
    return _REDUCTIONS[term.name](values[0]) if _is_sequence(values[0]) and values[0] else _of_nothing(term, values[0])


def _of_nothing(term: Opaque, sequence: Value) -> Value:
    return _OF_NOTHING[term.name] if term.name in _OF_NOTHING and _is_sequence(sequence) else Off(term.name)


def _is_list(term: Term) -> TypeGuard[Opaque]:
    """Whether a term is a comprehension of which the first elements can be told without the others."""
    return isinstance(term, Opaque) and term.name == EACH and term.args[:1] == (constant("list"),)


def _is_sequence(value: Value) -> bool:
    return isinstance(value, tuple | range)


def _comprehension(term: Opaque, lookup: Lookup, evaluator: Evaluator, most: int | None = None) -> Value:
    kind, *parts = term.args
    clauses = [part.args for part in parts if is_clause(part)]
    elements = parts[len(clauses) :]
    if len(elements) != 1 or not isinstance(kind, Constant) or kind.value not in ("list", "generator", "set"):
        return Off(term.name)
    try:
        turns = iter(range(MAX_ELEMENTS))
        found = islice(_rows(clauses, _Row(lookup, evaluator), turns), most)
        rows = [row.value(elements[0]) for row in found]
    except _UnknownSequenceError as unknown:
        return Off(unknown.name)
    return tuple(dict.fromkeys(rows)) if kind.value == "set" else tuple(rows)


def _bisected(term: Opaque, lookup: Lookup, evaluator: Evaluator) -> Value:
    """Where a value goes into a sequence: only the elements that a search asks for are computed."""
    keys, wanted = term.args
    value = evaluator.value(wanted, lookup)
    found = _keys(keys, _Row(lookup, evaluator))
    if found is None or isinstance(value, Off):
        return Off(term.name)
    count, key = found
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        other = key(middle)
        if isinstance(other, Off):
            return other
        if _belongs_before(term.name, value, other):
            high = middle
        else:
            low = middle + 1
    return low


def _belongs_before(bisection: str, value: Any, other: Any) -> bool:
    try:
        return bool(value < other if bisection == "bisect_right" else not other < value)
    except TypeError as error:
        raise RaisedError("TypeError", deliberate=False) from error


def _keys(term: Term, outer: _Row) -> tuple[int, Callable[[int], Value]] | None:
    """How many elements a sequence has, and each by its position; None for no sequence."""
    match term:
        case Opaque("each", (Constant("list"), Opaque("for", (Opaque() as variable, iterable)), element)):
            sequence = outer.value(iterable)
            found = (
                (lambda at: outer.bind(variable.name, sequence[at]).value(element)) if element is not variable else None
            )
        case _:
            sequence, found = outer.value(term), None
    return (len(sequence), found or sequence.__getitem__) if _is_sequence(sequence) else None


class _UnknownSequenceError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _rows(clauses: Sequence[tuple[Term, ...]], outer: _Row, turns: Iterator[int]) -> Iterator[_Row]:
    """One row for each combination of loop variables that the conditions let through; all loops share `turns`."""
    if not clauses:
        yield outer
        return
    variable, iterable, *conditions = clauses[0]
    assert isinstance(variable, Opaque)
    sequence = outer.value(iterable)
    if not _is_sequence(sequence) or (not isinstance(sequence, range) and is_too_large(sequence)):
        raise _UnknownSequenceError(sequence.name if isinstance(sequence, Off) else EACH)
    for value in sequence:
        if next(turns, None) is None:
            raise _UnknownSequenceError(EACH)
        row = outer.bind(variable.name, value)
        if all(map(row.value, conditions)):
            yield from _rows(clauses[1:], row, turns)


class _Row:
    """Values of the loop variables so far, in one turn of the loops."""

    def __init__(self, lookup: Lookup, evaluator: Evaluator, bound: Mapping[str, Value] | None = None) -> None:
        self._outer = lookup
        self._evaluator = evaluator
        self._bound = bound or {}
        self._known: dict[Term, Value] = {}

    def bind(self, variable: str, value: Value) -> _Row:
        """The row of one more loop."""
        return _Row(self._outer, self._evaluator, {**self._bound, variable: value})

    def value(self, term: Term) -> Value:
        """What `term` is worth in this turn."""
        return self._evaluator.value(term, self._lookup, self._known)

    def _lookup(self, term: Symbol | Opaque) -> Value:
        if isinstance(term, Opaque):
            if term.name in self._bound:
                return self._bound[term.name]
            if term.name in ITERATIONS:
                return iterate(term, self._lookup, self._evaluator)
        return self._outer(term)
