"""How two formulas relate: the same, proven equal, equal but for rounding, different, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final

from analyzer.compare.congruence import Congruence
from analyzer.compare.normalize import Normaliser
from analyzer.compare.points import SpaceBuilder
from analyzer.compare.sampling import Difference, Sampler, witness_of
from analyzer.domain.notation import to_text
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found out about a pair of formulas; `witness` also for a difference by rounding."""

    kind: Kind
    before: Term
    after: Term
    witness: Witness | None = None
    bound: str | None = None


class Judge:
    """Places pairs of terms on the ladder; every answer is remembered."""

    def __init__(self, symbols: Mapping[str, SymbolRule]) -> None:
        self._symbols = symbols
        self._exact = Normaliser(symbols)
        self._erased = Normaliser(symbols, erase_rounding=True)
        self._parts = Congruence(self._exact.equal)
        self._rounded_parts = Congruence(self._erased.equal)
        self._judged: dict[tuple[Term, Term, str], Judgement] = {}

    def equal(self, before: Term, after: Term) -> bool:
        """Whether the two are proven equal."""
        return before is after or self._parts.equal(before, after) or self._whole(self._exact, before, after)

    def _equal_but_for_rounding(self, before: Term, after: Term) -> bool:
        return self._rounded_parts.equal(before, after) or self._whole(self._erased, before, after)

    def _whole(self, normaliser: Normaliser, before: Term, after: Term) -> bool:
        small = self._parts.size(before) + self._parts.size(after) <= _LARGEST_WHOLE
        return small and normaliser.equal(before, after)

    def judge(self, before: Term, after: Term, unit: str, preferred: Mapping[str, Value]) -> Judgement:
        """The first rung that holds; `preferred` values are where the search for a witness starts."""
        key = (before, after, unit)
        if key not in self._judged:
            self._judged[key] = self._place(before, after, unit, preferred)
        return self._judged[key]

    def _place(self, before: Term, after: Term, unit: str, preferred: Mapping[str, Value]) -> Judgement:
        if before is after:
            return Judgement(Kind.IDENTICAL, before, after)
        if self.equal(before, after):
            return Judgement(Kind.REFACTOR, before, after)
        rounding = self._equal_but_for_rounding(before, after)
        sampler, names = self._sampler(before, after, preferred)
        found = sampler.search(exhaustive=rounding)
        if rounding:
            return self._by_rounding(before, after, unit, sampler, found, names)
        if found:
            return Judgement(Kind.SEMANTIC, before, after, witness_of(sampler.best(found), names))
        return Judgement(Kind.UNDECIDED, before, after)

    def _sampler(
        self, before: Term, after: Term, preferred: Mapping[str, Value]
    ) -> tuple[Sampler, dict[str, str]]:
        keys: dict[Opaque, str] = {}
        names: dict[str, str] = {}
        sides: list[set[str]] = []
        for term in (before, after):
            own = set()
            for part in walk(term):
                if isinstance(part, Opaque):
                    keys[part] = f"?{self._exact.form(part).key.hex()}"
                    names[keys[part]] = to_text(part)
                    own.add(keys[part])
            sides.append(own)
        space = SpaceBuilder(self._symbols, preferred, lambda term: keys[term]).build(before, after)
        return Sampler(before, after, space, keys, frozenset(sides[0] ^ sides[1])), names

    def _by_rounding(
        self, before: Term, after: Term, unit: str, sampler: Sampler, found: list[Difference], names: dict[str, str]
    ) -> Judgement:
        measured = found or sampler.search(exhaustive=True, exact=False)
        if not measured:
            return Judgement(Kind.ROUNDING, before, after, None, f"no difference on {sampler.tried} points")
        best = witness_of(sampler.best(measured[:3] if not found else measured), names)
        if not all(_is_rounding(difference, unit) for difference in measured):
            return Judgement(Kind.SEMANTIC, before, after, best)
        largest = max((d.size for d in measured), default=0.0)
        bound = f"at most {largest:.6g} {unit} (largest of {sampler.tried} points)"
        return Judgement(Kind.ROUNDING, before, after, best, bound)


def _is_rounding(difference: Difference, unit: str) -> bool:
    units = _ROUNDING_TOKENS if unit == "token" else _ROUNDING_UNITS
    return isfinite(difference.size) and (difference.size <= units or difference.relative <= _ROUNDING_SHARE)


def exceptions_of(term: Term) -> frozenset[str]:
    """The exception classes that `term` can raise."""
    return frozenset(part.exception for part in walk(term) if isinstance(part, Raise))
