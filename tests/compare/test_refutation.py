"""Values at fixed points tell terms apart before a proof is tried, and never where the terms are equal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from analyzer.compare.normalize import Normaliser
from analyzer.compare.refutation import Refutation
from analyzer.domain.terms import Term, raw_apply
from tests.support.strategies import terms
from tests.support.terms import parse, rule_set

_SYMBOLS = rule_set().symbols


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("n * 2", "n * 3"),
        ("n // m", "n // m + 1"),
        ("raises('E') if n > 0 else a", "a"),
        ("undeclared + 1", "undeclared + 2"),
        ("max_total_tokens is None", "max_total_tokens is not None"),
    ],
)
def test_terms_with_other_values_are_told_apart(one: str, other: str) -> None:
    assert Refutation(_SYMBOLS).differ(parse(one), parse(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("n * 2", "n + n"),
        ("z * 0.1 + z * 0.2", "z * 0.3"),
        ("f(n)", "g(n)"),
        ("raises('E') if n > 0 else a", "raises('F') if n > 0 else a"),
        # Whatever the input is, an operation that fails on a wrong type says nothing.
        ("len(n)", "0"),
    ],
)
def test_what_may_be_equal_is_not_told_apart(one: str, other: str) -> None:
    assert not Refutation(_SYMBOLS).differ(parse(one), parse(other))


def test_an_element_that_is_there_under_a_guard_has_no_value_of_its_own() -> None:
    one, other = (raw_apply("maybe", (parse("p"), parse(text))) for text in ("n", "n + 1"))
    assert not Refutation(_SYMBOLS).differ(one, other)


@settings(max_examples=200, deadline=None)
@given(terms(max_leaves=6), terms(max_leaves=6))
def test_nothing_that_is_proven_equal_is_told_apart(one: Term, other: Term) -> None:
    refutation, normaliser = Refutation(_SYMBOLS), Normaliser(_SYMBOLS)
    assert not refutation.differ(one, one)
    assert not (refutation.differ(one, other) and normaliser.equal(one, other))
