"""Proving two large formulas equal part by part: shared parts need no proof, small ones are cheap.

A formula of thousands of nodes is mostly the same in two versions. Where the two part, the parts
are proven equal by their normal forms; where all parts agree, so do the wholes.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from itertools import islice
from typing import Final

from analyzer.domain.semantics import deep_recursion
from analyzer.domain.terms import Apply, Conditional, Opaque, Term, children, post_order, walk

_COMMUTATIVE: Final = frozenset({"+", "*", "min", "max", "and", "or", "==", "is", "gcd", "lcm"})
# Above a place that differs, this many levels are tried: regrouping a sum shows one level up.
_LEVELS_TRIED: Final = 3
_PROOFS_TRIED: Final = 120
# Bigger parts are left to the proof of the whole.
_LARGEST_PART: Final = 240
_LARGEST_COUNT: Final = 1_300


class Congruence:
    """Equality of terms from the equality of their parts; `prove` settles small parts, `refute` says that it cannot."""

    def __init__(self, prove: Callable[[Term, Term], bool], refute: Callable[[Term, Term], bool]) -> None:
        self._prove = prove
        self._refute = refute
        # How many levels below the nearest difference lies; 0 where there is none.
        self._apart: dict[tuple[Term, Term], int] = {}
        self._sizes: dict[Term, int] = {}
        self._skeletons: dict[Term, bytes] = {}
        self._left = 0

    def equal(self, before: Term, after: Term) -> bool:
        """Whether all parts in which the two differ are proven equal."""
        if self._same(before, after):
            return True
        if self._refute(before, after):
            return False
        self._left = _PROOFS_TRIED
        with deep_recursion():
            return self._distance(before, after) == 0

    def _distance(self, before: Term, after: Term) -> int:
        if self._same(before, after):
            return 0
        key = (before, after)
        known = self._apart.get(key)
        if known is None:
            known = self._find_distance(before, after)
            self._apart[key] = known
        return known

    def _find_distance(self, before: Term, after: Term) -> int:
        pairs = self._paired(before, after)
        distance = 1
        if pairs is not None:
            below = [self._distance(*pair) for pair in pairs]
            if not any(below):
                return 0
            distance = 1 + max(below)
        if distance <= _LEVELS_TRIED and self._is_proven(before, after):
            return 0
        return distance

    def _is_proven(self, before: Term, after: Term) -> bool:
        if self._left <= 0 or self.size(before) + self.size(after) > _LARGEST_PART:
            return False
        if self._refute(before, after):
            return False
        self._left -= 1
        return self._prove(before, after)

    def _same(self, before: Term, after: Term) -> bool:
        """Whether the two differ in nothing but the order of operands where it does not matter."""
        return before is after or self.skeleton(before) == self.skeleton(after)

    def size(self, term: Term) -> int:
        """How many distinct nodes `term` has; counting stops where the number no longer matters."""
        if term not in self._sizes:
            self._sizes[term] = sum(1 for _ in islice(walk(term), _LARGEST_COUNT))
        return self._sizes[term]

    def skeleton(self, root: Term) -> bytes:
        """A digest that does not see the order of operands where it does not matter."""
        known = self._skeletons
        if root not in known:
            for term in post_order(root, known):
                parts = [known[child] for child in children(term)]
                if isinstance(term, Apply) and term.op in _COMMUTATIVE:
                    parts.sort()
                head = "\0".join(_shape(term)) if parts else f"leaf {type(term).__name__} {term!r}"
                known[term] = blake2b(b"".join((head.encode(), b"(", *parts)), digest_size=16).digest()
        return known[root]

    def _paired(self, before: Term, after: Term) -> list[tuple[Term, Term]] | None:
        """The operands of the same operation, side by side; None for different operations."""
        first, second = children(before), children(after)
        if not first or len(first) != len(second) or _shape(before) != _shape(after):
            return None
        if not (isinstance(before, Apply) and before.op in _COMMUTATIVE):
            return list(zip(first, second, strict=True))
        shared = {self.skeleton(term) for term in first} & {self.skeleton(term) for term in second}
        left, right = ([term for term in side if self.skeleton(term) not in shared] for side in (first, second))
        return list(zip(left, right, strict=True)) if len(left) == len(right) else None


def _shape(term: Term) -> tuple[str, str]:
    match term:
        case Apply(op, _):
            return ("apply", op)
        case Opaque(name, _):
            return ("opaque", name)
        case Conditional():
            return ("conditional", "")
        case _:
            return ("leaf", "")
