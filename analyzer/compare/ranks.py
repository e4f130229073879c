"""The smallest of all ranks' values: where it may be taken earlier or later, and what it leaves unknown.

``rank_min(f(z))`` is ``f(rank_min(z))`` for every f that never falls and is the same on all ranks
(``torch.distributed.all_reduce`` with ``ReduceOp.MIN``). What is left is a value that the ranks
compute each for itself, so nothing is known of the smallest but that it is not above a rank's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Final, TypeGuard

from analyzer.domain.build import apply, conditional, rewrite
from analyzer.domain.rules import Domain, SymbolRule
from analyzer.domain.terms import Apply, Conditional, Constant, Opaque, Raise, Symbol, Term, constant, symbol, walk

RANK_MINIMUM: Final = "rank_min"
"""The operator that takes the smallest of all ranks' values."""
_STEPWISE: Final = frozenset({"int", "float", "floor", "ceil", "round", "float32"})
_WHOLE: Final = frozenset({"//", "int", "floor", "ceil", "len"})
# A server has a handful of values that its ranks agree on.
_MOST_VALUES: Final = 4


def _name(of: str, kind: str, number: int) -> str:
    return f"%{of} {kind} {number}"


UNKNOWNS: Final[Mapping[str, SymbolRule]] = {
    (name := _name(of, kind, number)): SymbolRule(name, "", "", Domain(kind, low, inf))
    for kind in ("integer", "real")
    for number in range(_MOST_VALUES)
    for of, low in (("own", -inf), ("spread", 0.0))
}
"""The symbols that stand for a rank's own value, and for how far it is above the smallest."""
_MEMORY: Final = "GiB"
_SPREAD: Final = "spread_over_ranks"
# Of tokens, GiB and bytes.
_SPREADS: Final = {
    "integer": Domain("integer", 0, 1 << 20, (1, 64, 1000)),
    "real": Domain("real", 0, 1 << 36, (0.5, 1 << 30)),
}


class Ranks:
    """Takes the minimum over ranks as far in as it goes; `symbols` say which inputs all ranks share."""

    def __init__(self, symbols: Mapping[str, SymbolRule]) -> None:
        self._symbols = symbols
        self._shared: dict[Term, bool] = {}
        self._pushed: dict[Term, Term] = {}

    def generalised(self, terms: Iterable[Term]) -> tuple[Term, ...] | None:
        """`terms` over unknowns for what each rank computes for itself; None where all take the same minima.

        Equal for all values of the unknowns means equal; the converse does not hold.
        """
        terms = tuple(terms)
        if len({frozenset(_minima(term)) for term in terms}) < len(terms):
            return None
        pushed = [rewrite(term, self._pushed_in) for term in terms]
        minima = dict.fromkeys(minimum for term in pushed for minimum in _minima(term))
        if len(minima) > _MOST_VALUES or any(isinstance(part, Raise) for value in minima for part in walk(value)):
            return None
        unknown: dict[Term, Term] = {}
        for number, minimum in enumerate(minima):
            (value,) = minimum.args
            kind = self._kind(value)
            own, spread = (symbol(_name(of, kind, number)) for of in ("own", "spread"))
            unknown[value] = own
            unknown[minimum] = apply("-", own, spread)
        return tuple(rewrite(term, unknown.get) for term in pushed)

    def apart(self, before: Term, after: Term) -> tuple[Term, Term, SymbolRule] | None:
        """The pair where another rank has less of the one value whose minimum is taken, and how much less.

        None where there are several: how those hang together on the other ranks is not known. None as well where it
        is only made of memory that the ranks may have agreed on before.
        """
        pushed = [rewrite(term, self._pushed_in) for term in (before, after)]
        minima = {minimum for term in pushed for minimum in _minima(term)}
        if len(minima) != 1:
            return None
        (minimum,) = minima
        (value,) = minimum.args
        if not any(self._differs_by_rank(part) for part in walk(value)):
            return None
        # A rank that has less still has something where this one has.
        least = apply("min", value, constant(1))
        lower: dict[Term, Term] = {minimum: apply("max", apply("-", value, symbol(_SPREAD)), least)}
        one, other = (rewrite(term, lower.get) for term in pushed)
        return one, other, SymbolRule(_SPREAD, "", "how much less another rank has", _SPREADS[self._kind(value)])

    def _pushed_in(self, term: Term) -> Term | None:
        if not _is_minimum(term):
            return None
        (value,) = term.args
        return self._smallest(rewrite(value, self._pushed_in))

    def _smallest(self, value: Term) -> Term:
        if value not in self._pushed:
            self._pushed[value] = self._taken_in(value)
        return self._pushed[value]

    def _taken_in(self, value: Term) -> Term:
        if self._is_shared(value):
            return value
        match value:
            case Conditional(guard, then, otherwise) if self._is_shared(guard):
                return conditional(guard, self._smallest(then), self._smallest(otherwise))
            case Apply(op, (inner,)) if op in _STEPWISE:
                return apply(op, self._smallest(inner))
            case Apply("min", args) if len(args) > 1:
                return apply("min", *map(self._smallest, args))
            case Apply("max", args) if len(args) > 1 and sum(not self._is_shared(arg) for arg in args) == 1:
                return apply("max", *map(self._smallest, args))
            case Apply("+" | "-" as op, (left, right)) if self._is_shared(right):
                return apply(op, self._smallest(left), right)
            case Apply("+", (left, right)) if self._is_shared(left):
                return apply("+", left, self._smallest(right))
            case Apply("*" | "/" | "//" as op, (left, right)) if self._is_shared(right) and self._is_positive(right):
                return apply(op, self._smallest(left), right)
            case Apply("*", (left, right)) if self._is_shared(left) and self._is_positive(left):
                return apply("*", left, self._smallest(right))
            case _:
                pass
        return apply(RANK_MINIMUM, value)

    def _is_shared(self, term: Term) -> bool:
        """Whether all ranks have the same value here: literals and the server's own arguments."""
        if term not in self._shared:
            self._shared[term] = all(
                self._is_argument(part) if isinstance(part, Symbol) else not isinstance(part, Opaque)
                for part in walk(term)
            )
        return self._shared[term]

    def _kind(self, value: Term) -> str:
        """The kind of numbers that a value is one of."""
        if isinstance(value, Symbol):
            rule = self._symbols.get(value.name)
            return "integer" if rule is not None and rule.domain.kind == "integer" else "real"
        return "integer" if isinstance(value, Apply) and value.op in _WHOLE else "real"

    def _differs_by_rank(self, part: Term) -> bool:
        if isinstance(part, Opaque):
            return True
        return isinstance(part, Symbol) and not self._is_shared(part) and not self._is_memory(part)

    def _is_memory(self, part: Symbol) -> bool:
        rule = self._symbols.get(part.name)
        return rule is not None and rule.unit == _MEMORY

    def _is_argument(self, part: Symbol) -> bool:
        rule = self._symbols.get(part.name)
        return rule is not None and bool(rule.arguments)

    def _is_positive(self, term: Term) -> bool:
        match term:
            case Constant(int() | float() as value):
                return value > 0
            case Symbol(name):
                domain = self._symbols[name].domain
                return domain.kind in ("integer", "real", "memory") and domain.low > 0 and not domain.optional
            case _:
                return False


def _is_minimum(term: Term) -> TypeGuard[Apply]:
    return isinstance(term, Apply) and term.op == RANK_MINIMUM


def _minima(term: Term) -> list[Apply]:
    return [part for part in walk(term) if _is_minimum(part)]
