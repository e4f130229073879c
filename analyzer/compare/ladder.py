"""How two formulas relate: the same, proven equal, equal but for rounding, different, or unknown."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Final

from analyzer.compare.congruence import Congruence
from analyzer.compare.equalities import without_equalities
from analyzer.compare.normalize import Normaliser
from analyzer.compare.points import SpaceBuilder
from analyzer.compare.ranks import UNKNOWNS, Ranks
from analyzer.compare.refutation import Refutation
from analyzer.compare.sampling import Difference, Sampler, witness_of
from analyzer.compare.solver import Answer, solve
from analyzer.domain.report import Kind, Value, Witness
from analyzer.domain.rules import SymbolRule
from analyzer.domain.terms import Opaque, Raise, Term, walk

# Rounding moves a result by a unit or by little of it; what moves it more is a change of meaning.
_ROUNDING_UNITS: Final = 1.0
_ROUNDING_SHARE: Final = 0.01
# Tokens are handed out in pages, so rounding to pages moves a count by up to a page.
_ROUNDING_TOKENS: Final = 256.0
# The normal form of a larger pair costs more than it finds; its parts have been tried by then.
_LARGEST_WHOLE: Final = 1_200
_LARGEST_FIRST: Final = 160
_LARGEST_REWRITTEN: Final = 400
_QUICK_POINTS: Final = 90
_HINTS: Final = 6


Probe = Callable[[Term], object]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found out about a pair of formulas; `witness` also for a difference by rounding.

    `probe` tells what a part of either formula is worth at the witness.
    """

    kind: Kind
    before: Term
    after: Term
    witness: Witness | None = None
    bound: str | None = None
    probe: Probe | None = field(default=None, compare=False)

    @property
    def mirrored(self) -> Judgement:
        """The judgement of the same two the other way round."""
        seen = self.witness
        witness = None if seen is None else replace(seen, before=seen.after, after=seen.before)
        return replace(self, before=self.after, after=self.before, witness=witness)


class Judge:
    """Places pairs of terms on the ladder; every answer is remembered."""

    def __init__(self, symbols: Mapping[str, SymbolRule]) -> None:
        self._symbols = symbols
        self._with_unknowns = {**symbols, **UNKNOWNS}
        self._exact = Normaliser(self._with_unknowns)
        self._ranks = Ranks(symbols)
        self._erased = Normaliser(symbols, erase_rounding=True)
        self._refuted = Refutation(symbols).differ
        self._parts = Congruence(self._exact.equal, self._refuted)
        # Values that differ may be equal but for rounding.
        self._rounded_parts = Congruence(self._erased.equal, lambda _before, _after: False)
        # Where quantities judged earlier differ, later ones are likely to differ too.
        self._hints: deque[Mapping[str, object]] = deque(maxlen=_HINTS)
        self._judged: dict[tuple[Term, Term, str], Judgement] = {}

    def alike(self, before: Term, after: Term) -> bool:
        """Whether the two are proven equal part by part."""
        return before is after or self._parts.equal(before, after)

    def equal(self, before: Term, after: Term) -> bool:
        """Whether the two are proven equal."""
        return self.alike(before, after) or self._whole_equal(before, after)

    def close(self, before: Term, after: Term) -> bool:
        """Whether the two are proven equal with little effort."""
        return self.alike(before, after) or (
            self._size(before, after) <= _LARGEST_FIRST and self._whole_equal(before, after)
        )

    def equal_but_for_rounding(self, before: Term, after: Term) -> bool:
        """Whether the two are proven equal once nothing is rounded."""
        return self._rounded_parts.equal(before, after) or self._whole(self._erased, before, after)

    def _whole_equal(self, before: Term, after: Term) -> bool:
        return not self._refuted(before, after) and self._whole(self._exact, before, after)

    def _whole(self, normaliser: Normaliser, before: Term, after: Term) -> bool:
        return self._size(before, after) <= _LARGEST_WHOLE and normaliser.equal(before, after)

    def _size(self, before: Term, after: Term) -> int:
        return self._parts.size(before) + self._parts.size(after)

    def _equal_after_all(self, before: Term, after: Term) -> bool:
        """Whether the two are proven equal by what a normal form does not know: equal values, all ranks."""
        sides = (before, after)
        if self._size(*sides) > _LARGEST_REWRITTEN:
            return False
        chosen = tuple(without_equalities(term, self.close) for term in sides)
        if chosen != sides and self._whole_equal(*chosen):
            return True
        unknown = self._ranks.generalised(chosen)
        return unknown is not None and self._whole(self._exact, *unknown)

    def judge(self, before: Term, after: Term, unit: str, preferred: Mapping[str, Value]) -> Judgement:
        """The first rung that holds; `preferred` values are where the search for a witness starts."""
        key = (before, after, unit)
        if key not in self._judged:
            # Always in the same order, so that a comparison the other way round finds the same example.
            if self._rank(before) <= self._rank(after):
                self._judged[key] = self._place(before, after, unit, preferred)
            else:
                self._judged[key] = self._place(after, before, unit, preferred).mirrored
        return self._judged[key]

    def _rank(self, term: Term) -> tuple[int, bytes]:
        return self._parts.size(term), self._parts.skeleton(term)

    def _place(self, before: Term, after: Term, unit: str, preferred: Mapping[str, Value]) -> Judgement:
        if before is after:
            return Judgement(Kind.IDENTICAL, before, after)
        if self._parts.equal(before, after):
            return Judgement(Kind.REFACTOR, before, after)
        sampler, calls = self._sampler(before, after, preferred, self._symbols)
        found: list[Difference] = []
        if self._size(before, after) > _LARGEST_FIRST:
            # A difference is found sooner than a large proof fails.
            found = sampler.search(points=_QUICK_POINTS)
        if not found and self._whole_equal(before, after):
            return Judgement(Kind.REFACTOR, before, after)
        found = found or sampler.search()
        if found and not all(_is_rounding(difference, unit) for difference in found):
            return self._semantic(before, after, sampler, found, calls)
        if not found and self._equal_after_all(before, after):
            return Judgement(Kind.REFACTOR, before, after)
        if self.equal_but_for_rounding(before, after):
            return self._by_rounding(before, after, unit, sampler, calls)
        # Before giving up, look where the first search did not get to.
        found = found or sampler.search_on()
        if found:
            return self._semantic(before, after, sampler, found, calls)
        return (
            self._by_solver(before, after, sampler, calls)
            or self._across_ranks(before, after, preferred)
            or Judgement(Kind.UNDECIDED, before, after)
        )

    def _by_solver(self, before: Term, after: Term, sampler: Sampler, calls: Mapping[str, Opaque]) -> Judgement | None:
        """What a solver proves or finds an example against; None where it is not there or does not know."""
        answer = self._solved(before, after)
        if answer is None:
            return None
        if answer.equal:
            return Judgement(Kind.REFACTOR, before, after)
        difference = sampler.at(answer.inputs)
        return None if difference is None else self._semantic(before, after, sampler, [difference], calls)

    def _solved(self, before: Term, after: Term) -> Answer | None:
        """What the solver says, of the formulas or of what the ranks leave of them."""
        one, other = self._ranks.generalised((before, after)) or (before, after)
        return solve(one, other, self._with_unknowns)

    def _across_ranks(self, before: Term, after: Term, preferred: Mapping[str, Value]) -> Judgement | None:
        """Semantic where the sides differ as soon as another rank has less."""
        apart = self._ranks.apart(before, after)
        if apart is None:
            return None
        one, other, spread = apart
        sampler, calls = self._sampler(one, other, preferred, {**self._symbols, spread.name: spread})
        found = sampler.search()
        if not found:
            return None
        return Judgement(Kind.SEMANTIC, before, after, witness_of(sampler.best(found), calls))

    def _semantic(
        self, before: Term, after: Term, sampler: Sampler, found: list[Difference], calls: Mapping[str, Opaque]
    ) -> Judgement:
        best = sampler.best(found)
        self._hints.append({key: best.point[key] for key in best.read})
        return Judgement(Kind.SEMANTIC, before, after, witness_of(best, calls), probe=sampler.probe(best))

    def _sampler(
        self, before: Term, after: Term, preferred: Mapping[str, Value], symbols: Mapping[str, SymbolRule]
    ) -> tuple[Sampler, dict[str, Opaque]]:
        first, second = (dict.fromkeys(part for part in walk(t) if isinstance(part, Opaque)) for t in (before, after))
        keys = {part: self._call_key(part, shared=part in first and part in second) for part in (*first, *second)}
        calls = {key: part for part, key in keys.items()}
        space = SpaceBuilder(symbols, preferred, keys.__getitem__).build(before, after)
        unknown = {keys[part] for part in first} ^ {keys[part] for part in second}
        return Sampler((before, after), space, keys, frozenset(unknown), self._hints), calls

    def _call_key(self, part: Opaque, *, shared: bool) -> str:
        """What two calls have in common that give the same value."""
        digest = self._parts.skeleton(part) if shared else self._exact.form(part).key
        return f"?{part.name}#{digest.hex()}"

    def _by_rounding(
        self, before: Term, after: Term, unit: str, sampler: Sampler, calls: dict[str, Opaque]
    ) -> Judgement:
        """Equal without rounding: how far apart rounding brings them, or semantic where that is far."""
        found = sampler.search(exhaustive=True) or sampler.search(exhaustive=True, exact=False)
        if not found:
            if not sampler.has_values():
                return Judgement(Kind.UNDECIDED, before, after)
            unseen = Judgement(Kind.ROUNDING, before, after, None, f"no difference on {sampler.tried} points")
            return self._by_solver(before, after, sampler, calls) or unseen
        best = witness_of(sampler.best(found), calls)
        if not all(_is_rounding(difference, unit) for difference in found):
            return Judgement(Kind.SEMANTIC, before, after, best)
        largest = max(difference.size for difference in found)
        bound = f"at most {largest:.6g} {unit} (largest of {sampler.tried} points)"
        return Judgement(Kind.ROUNDING, before, after, best, bound)


def _is_rounding(difference: Difference, unit: str) -> bool:
    units = _ROUNDING_TOKENS if unit == "token" else _ROUNDING_UNITS
    return isfinite(difference.size) and (difference.size <= units or difference.relative <= _ROUNDING_SHARE)


def exceptions_of(term: Term) -> frozenset[str]:
    """The exception classes that `term` can raise."""
    return frozenset(part.exception for part in walk(term) if isinstance(part, Raise))
