"""What a path rules out is not asked again on it, however the question is put together."""

from __future__ import annotations

import pytest

from analyzer.domain.build import conjunction, disjunction, negate, truth
from analyzer.domain.terms import FALSE, TRUE, Term, symbol
from analyzer.symbolic.state import Frame, State

A, B, C = (truth(symbol(name)) for name in "abc")


def path(fact: Term, *, holds: bool) -> State:
    state = State(Frame("", "", 0, ""))
    state.assume(fact, holds=holds)
    return state


@pytest.mark.parametrize(
    ("fact", "holds", "asked", "answer"),
    [
        (conjunction(A, B), False, conjunction(A, B, C), FALSE),
        (conjunction(A, B), False, conjunction(C, B, A), FALSE),
        (conjunction(A, B), False, disjunction(conjunction(A, B, C), C), C),
        (disjunction(A, B), True, disjunction(A, C, B), TRUE),
        (conjunction(A, B), False, conjunction(A, C), conjunction(A, C)),
        (conjunction(A, B), True, conjunction(A, B, C), C),
        (disjunction(A, B), False, disjunction(A, B, C), C),
        (conjunction(A, B), False, disjunction(A, B), disjunction(A, B)),
        (disjunction(A, B), True, conjunction(A, B, C), conjunction(A, B, C)),
    ],
)
def test_a_question_is_decided_by_some_of_its_parts(fact: Term, asked: Term, answer: Term, *, holds: bool) -> None:
    assert negate(path(fact, holds=holds).decide(asked)) is negate(answer)
