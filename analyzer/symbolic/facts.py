"""What is known of guards on a path."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_not
from typing import Final

from analyzer.domain.build import compared, conjunction, differ, negate
from analyzer.domain.terms import FALSE, TRUE, Apply, Conditional, Constant, Term, children


class Facts:
    """Guards that are known to hold, or not to; immutable, so that the states of a path share it."""

    __slots__ = ("_decided", "_equal", "_joined", "_known", "_last")

    def __init__(self, known: Mapping[Term, bool], last: tuple[Facts, Term] | None = None) -> None:
        self._known: Final = known
        # Of these, some parts decide over all of them: `a or b` that holds, `a and b` that does not.
        self._joined: Final = _joined(known)
        # What is known to equal a literal equals no other.
        self._equal: Final = dict(filter(None, map(_equality, known.items())))
        self._decided: Final[dict[Term, Term]] = {}
        # What was known before the guard that was assumed last.
        self._last: Final = last

    @property
    def known(self) -> Mapping[Term, bool]:
        """Whether each of the guards holds."""
        return self._known

    def assuming(self, guard: Term, *, holds: bool) -> Facts:
        """These, with what is known of `guard` and what follows from it."""
        known = dict(self._known)
        _assume(known, guard, holds=holds)
        _propagate(known)
        return Facts(known, (self, guard))

    def beside(self, other: Facts) -> Facts:
        """These and `other`, which is right where they contradict each other."""
        return Facts({**self._known, **other.known})

    def common(self, other: Facts) -> Facts:
        """What is known in both."""
        if other is self:
            return self
        if self._last is not None and other._last == self._last:
            return self._last[0]
        theirs = other.known
        return Facts({fact: holds for fact, holds in self._known.items() if theirs.get(fact) is holds})

    def refine(self, term: Term) -> Term:
        """`term` without the branches that these exclude."""
        while isinstance(term, Conditional):
            guard = self.decide(term.guard)
            if guard is TRUE:
                term = term.then
            elif guard is FALSE:
                term = term.otherwise
            else:
                break
        return term

    def decide(self, guard: Term) -> Term:
        """`guard` reduced by these."""
        if not self._known or guard is TRUE or guard is FALSE:
            return guard
        known = self._known.get(guard)
        if known is not None:
            return TRUE if known else FALSE
        if not isinstance(guard, Apply):
            return guard
        if guard.op not in ("not", "and", "or"):
            return FALSE if self._excludes(guard) else guard
        decided = self._decided.get(guard)
        if decided is None:
            decided = self._decided[guard] = self._decide_parts(guard)
        return decided

    def _decide_parts(self, guard: Apply) -> Term:
        if guard.op == "not":
            return negate(self.decide(guard.args[0]))
        parts = tuple(map(self.decide, guard.args))
        is_new = any(map(is_not, parts, guard.args))
        if guard.op == "or":
            if self._is_settled("or", parts):
                return TRUE
            return negate(conjunction(*map(negate, parts))) if is_new else guard
        reduced = conjunction(*parts) if is_new else guard
        is_several = isinstance(reduced, Apply) and reduced.op == "and"
        return FALSE if is_several and self._is_settled("and", children(reduced)) else reduced

    def _excludes(self, guard: Apply) -> bool:
        """Whether this is a comparison with another literal than the one that the same term is known to equal."""
        asked = compared(guard, "==")
        return asked is not None and differ(self._equal.get(asked[0]), asked[1])

    def _is_settled(self, op: str, parts: tuple[Term, ...]) -> bool:
        """Whether some of the `parts` decide over all of them: `a and b and c` where `a and b` does not hold."""
        asked = set(parts)
        return any(fact.op == op and asked.issuperset(fact.args) for fact in self._joined)


def _joined(known: Mapping[Term, bool]) -> list[Apply]:
    """The facts of which some parts decide over all of them."""
    return [fact for fact, holds in known.items() if isinstance(fact, Apply) and fact.op == ("or" if holds else "and")]


def _equality(fact: tuple[Term, bool]) -> tuple[Term, Constant] | None:
    """The term that a fact says to equal a literal, and that literal."""
    guard, holds = fact
    return compared(guard, "==" if holds else "!=")


def _propagate(known: dict[Term, bool]) -> None:
    """Add what is left to hold: `b` where `a or b` holds and `a` does not."""
    pending = True
    while pending:
        pending = False
        for fact in _joined(known):
            decisive = fact.op == "or"
            if any(known.get(part) is decisive for part in fact.args):
                continue
            left = [part for part in fact.args if part not in known]
            if len(left) == 1:
                _assume(known, left[0], holds=decisive)
                pending = True


def _assume(known: dict[Term, bool], guard: Term, *, holds: bool) -> None:
    known[guard] = holds
    if not isinstance(guard, Apply):
        return
    if guard.op == "not":
        _assume(known, guard.args[0], holds=not holds)
    elif guard.op == ("and" if holds else "or"):
        for part in guard.args:
            _assume(known, part, holds=holds)
    else:
        opposite = negate(guard)
        if isinstance(opposite, Apply) and opposite.op != "not":
            known[opposite] = not holds


NO_FACTS: Final = Facts({})
