"""How to go through the values of a conditional: branch by branch, or value by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from analyzer.domain.build import map_leaves
from analyzer.domain.terms import FALSE, TRUE, Conditional, Term

# A conditional whose branches share their values is gone through value by value once it has this many more paths.
_PATHS_PER_VALUE: Final = 4
_MOST_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class _Shape:
    """How many paths lead through a term, and the values at their ends in order of evaluation; () for too many."""

    paths: int
    values: tuple[Term, ...]


class Shapes:
    """Splits conditionals in two, so that going on with both parts visits every value.

    Conditionals are graphs: a few values can end thousands of paths, and what happens to a value is the
    same on each.
    """

    def __init__(self) -> None:
        self._known: dict[Term, _Shape] = {}

    def split(self, term: Conditional) -> tuple[Term, Term, Term]:
        """A guard, and what `term` is where the guard holds and elsewhere."""
        shape = self._shape(term)
        if not shape.values or shape.paths <= _PATHS_PER_VALUE * len(shape.values):
            return term.guard, term.then, term.otherwise
        value, second, *more = shape.values
        guard = map_leaves(term, lambda leaf: TRUE if leaf is value else FALSE)
        # Elsewhere the paths of `value` are closed, so that any other value may stand at their ends.
        rest = map_leaves(term, lambda leaf: second if leaf is value else leaf) if more else second
        return guard, value, rest

    def _shape(self, term: Term) -> _Shape:
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = self._measure(term)
        return known

    def _measure(self, term: Term) -> _Shape:
        if not isinstance(term, Conditional):
            return _Shape(1, (term,))
        then, otherwise = self._shape(term.then), self._shape(term.otherwise)
        values: tuple[Term, ...] = ()
        if then.values and otherwise.values:
            values = tuple(dict.fromkeys((*then.values, *otherwise.values)))
        return _Shape(then.paths + otherwise.paths, values if len(values) <= _MOST_VALUES else ())
