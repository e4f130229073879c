"""Telling two terms apart by their values at a few fixed points: cheaper than a proof that fails.

Every term is evaluated once for each point, whatever it is compared with (random simulation before
proving, as in SAT sweeping). Points where a value is not known refute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from hashlib import blake2b
from typing import Any, Final

from analyzer.compare.points import typical_values
from analyzer.compare.sampling import MISSING, Raised, differ
from analyzer.domain.iteration import is_computable, iterate
from analyzer.domain.rules import SymbolRule
from analyzer.domain.semantics import Evaluator, Lookup, MissingInputError, Off, RaisedError
from analyzer.domain.terms import Opaque, Symbol, Term

_POINTS: Final = 6
# For inputs that no rule declares; text or None would only make an operation fail.
_NUMBERS: Final = (8, 1, 3, 1000, 64, 5)


class Refutation:
    """Values of terms over `symbols` at a few points of their domains."""

    def __init__(self, symbols: Mapping[str, SymbolRule]) -> None:
        self._symbols = symbols
        self._evaluator = Evaluator(exact=True)
        self._known: list[dict[Term, Any]] = [{} for _ in range(_POINTS)]
        self._lookups = [self._lookup(number) for number in range(_POINTS)]
        self._values: dict[tuple[Term, int], Any] = {}

    def differ(self, before: Term, after: Term) -> bool:
        """Whether the two have different values at one of the points, or only one of them raises."""
        return any(differ(self._value(before, number), self._value(after, number)) for number in range(_POINTS))

    def _value(self, term: Term, number: int) -> Any:
        key = (term, number)
        if key not in self._values:
            self._values[key] = self._evaluate(term, number)
        return self._values[key]

    def _evaluate(self, term: Term, number: int) -> Any:
        try:
            value = self._evaluator.value(term, self._lookups[number], self._known[number])
        except RaisedError as error:
            # An operation may fail because the point has a value of another type than the input.
            return Raised(error.exception) if error.deliberate else MISSING
        except (MissingInputError, OverflowError, TypeError, ValueError):
            return MISSING
        return MISSING if isinstance(value, Off) else value

    def _lookup(self, number: int) -> Lookup:
        def lookup(term: Symbol | Opaque) -> Any:
            if isinstance(term, Symbol):
                return self._input(term.name, number)
            if is_computable(term):
                return iterate(term, lookup, self._evaluator)
            raise MissingInputError(term.name)

        return lookup

    def _input(self, name: str, number: int) -> Any:
        """What an input is worth at a point: values of its domain that go together in no plain way."""
        rule = self._symbols.get(name)
        values = _NUMBERS if rule is None else typical_values(rule.domain)
        if not values:
            raise MissingInputError(name)
        start = int.from_bytes(blake2b(f"{name} {number}".encode(), digest_size=4).digest())
        value = values[start % len(values)]
        return Fraction(repr(value)) if isinstance(value, float) else value
