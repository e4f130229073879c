"""What a path knows of guards, and what follows from it."""

from __future__ import annotations

from analyzer.domain.build import compare, conditional, conjunction, disjunction, negate
from analyzer.domain.terms import FALSE, TRUE, constant, symbol
from analyzer.symbolic.facts import NO_FACTS

A, B, C = (symbol(name) for name in "abc")
P, Q, S = (compare("==", term, constant(1)) for term in (A, B, C))


def test_the_parts_of_a_conjunction_that_holds_are_known() -> None:
    facts = NO_FACTS.assuming(conjunction(P, Q), holds=True)

    assert facts.decide(P) is TRUE
    assert facts.decide(negate(Q)) is FALSE
    assert facts.decide(S) is S


def test_of_a_conjunction_that_does_not_hold_no_part_is_known_but_all_that_need_it_are() -> None:
    facts = NO_FACTS.assuming(conjunction(P, Q), holds=False)

    assert facts.decide(P) is P
    assert facts.decide(conjunction(P, Q, S)) is FALSE


def test_a_disjunction_that_holds_decides_a_larger_one() -> None:
    facts = NO_FACTS.assuming(disjunction(P, Q), holds=True)

    assert facts.decide(disjunction(P, S, Q)) is TRUE
    assert facts.decide(disjunction(P, S)) is not TRUE


def test_branches_that_are_excluded_are_left_out() -> None:
    facts = NO_FACTS.assuming(P, holds=True).assuming(Q, holds=False)

    assert facts.refine(conditional(P, conditional(Q, A, B), C)) is B


def test_what_two_sides_of_a_branch_share_is_what_both_knew_before_it_and_learned_alike() -> None:
    before = NO_FACTS.assuming(S, holds=True)
    then, otherwise = before.assuming(P, holds=True), before.assuming(P, holds=False)

    assert then.common(otherwise).known == before.known
    learned = then.assuming(Q, holds=True).common(otherwise.assuming(Q, holds=True))
    assert learned.decide(Q) is TRUE
    assert learned.decide(P) is P


def test_states_that_know_more_leave_the_others_as_they_are() -> None:
    before = NO_FACTS.assuming(S, holds=True)
    before.assuming(P, holds=True)

    assert before.decide(P) is P
