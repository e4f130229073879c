"""Laws of the normal form: it is worth what its term is worth, and algebra does not change it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.compare.normalize import Normaliser
from analyzer.domain.build import apply, conditional, negate
from analyzer.domain.semantics import Evaluator, RaisedError
from analyzer.domain.terms import Opaque, Symbol, Term, constant, symbol
from tests.support.forms import FormError, value_of
from tests.support.strategies import points, terms
from tests.support.terms import rule_set

_SYMBOLS = rule_set().symbols


def _exact(term: Term, point: Mapping[str, Any]) -> Any:
    def lookup(leaf: Symbol | Opaque) -> Any:
        value = point[leaf.name]
        return Fraction(repr(value)) if isinstance(value, float) else value

    return Evaluator(exact=True).value(term, lookup)


@settings(max_examples=600, deadline=None)
@given(terms(), st.lists(points(), min_size=3, max_size=3))
def test_the_normal_form_is_worth_what_its_term_is_worth(term: Term, places: list[dict[str, object]]) -> None:
    normaliser = Normaliser(_SYMBOLS)
    for point in places:
        try:
            expected = _exact(term, point)
        except RaisedError:
            # The algebra may forget that a part which does not matter would have raised.
            continue
        for form in (normaliser.form(term), normaliser.pruned(term)):
            try:
                assert value_of(form, point) == expected
            except FormError:
                raise AssertionError(term) from None


@settings(max_examples=200, deadline=None)
@given(terms(8), terms(8), st.sampled_from(["+", "*", "min", "max"]))
def test_order_of_operands_does_not_matter(left: Term, right: Term, op: str) -> None:
    normaliser = Normaliser(_SYMBOLS)
    assert normaliser.form(apply(op, left, right)) is normaliser.form(apply(op, right, left))


@settings(max_examples=200, deadline=None)
@given(terms(8), terms(8))
def test_an_inverted_condition_with_swapped_branches_is_the_same(left: Term, right: Term) -> None:
    normaliser = Normaliser(_SYMBOLS)
    guard = apply("<", symbol("a"), symbol("n"))
    assert normaliser.form(conditional(guard, left, right)) is normaliser.form(conditional(negate(guard), right, left))


@settings(max_examples=200, deadline=None)
@given(terms(8), st.sampled_from([2, 1024, 0.5, 1 << 30]))
def test_scaling_and_scaling_back_is_nothing(term: Term, factor: float) -> None:
    normaliser = Normaliser(_SYMBOLS)
    scaled = apply("/", apply("*", term, constant(factor)), constant(factor))
    assert normaliser.equal(scaled, apply("+", term, constant(0)))


@settings(max_examples=100, deadline=None)
@given(terms())
def test_a_normal_form_is_the_same_in_every_process(term: Term) -> None:
    assert Normaliser(_SYMBOLS).form(term).key == Normaliser(_SYMBOLS).form(term).key
