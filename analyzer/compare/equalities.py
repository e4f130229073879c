"""Choices by equality that are none: both branches say the same where the two values are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from analyzer.domain.build import rewrite
from analyzer.domain.terms import FALSE, TRUE, Apply, Constant, Term, children, walk

# A formula asks few such questions; each costs a proof.
_MOST_QUESTIONS: Final = 6


def without_equalities(term: Term, prove: Callable[[Term, Term], bool]) -> Term:
    """`term` without the questions ``a == b`` whose answer makes no difference.

    Where ``a == b`` holds, `a` may stand for `b` in either answer: if the answers are then proven
    equal, the answer for unequal values holds for all.
    """
    for question in [part for part in walk(term) if _asks_equal(part)][:_MOST_QUESTIONS]:
        equal, unequal = (rewrite(term, {question: answer}.get) for answer in (TRUE, FALSE))
        left, right = children(question)
        for old, new in ((left, right), (right, left)):
            if prove(*(rewrite(answer, {old: new}.get) for answer in (equal, unequal))):
                term = unequal
                break
    return term


def _asks_equal(term: Term) -> bool:
    """Whether `term` asks if two computed values are equal."""
    return isinstance(term, Apply) and term.op == "==" and not any(isinstance(arg, Constant) for arg in term.args)
