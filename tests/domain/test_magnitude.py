"""What would take all memory is never computed: not when terms are made, evaluated or compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.adapters.expressions import parse_expression
from analyzer.domain import build
from analyzer.domain.iteration import iterate
from analyzer.domain.report import Kind
from analyzer.domain.semantics import Evaluator, OversizedError
from analyzer.domain.terms import Constant, Opaque, Symbol, Term, constant, opaque, symbol
from tests.support.comparing import compare_extractions
from tests.support.terms import extraction, formula, rule_set

_EXPLODING = [
    "9 ** 9 ** 9",
    "1 << 10 ** 9",
    "1 << 10 ** 11",
    "2 ** -(10 ** 9)",
    "round(7, -(10 ** 9))",
    "(1 << 4000) * (1 << 4000)",
    "len('a' * 10 ** 11)",
    "'%999999999d' % 5",
    "(0,) * 10 ** 11",
]


@pytest.mark.parametrize("text", _EXPLODING)
def test_it_is_not_folded(text: str) -> None:
    assert not isinstance(parse_expression(text), Constant)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("text", _EXPLODING)
def test_it_is_not_evaluated(text: str, *, exact: bool) -> None:
    with pytest.raises(OversizedError, match="more than 4096 bits"):
        Evaluator(exact=exact).value(parse_expression(text), lambda _: 1)


def test_a_chain_of_squares_is_not_evaluated() -> None:
    squared: Term = symbol("x")
    for _ in range(60):
        squared = build.apply("*", squared, squared)
    with pytest.raises(OversizedError):
        Evaluator().value(squared, lambda _: 3)


def test_sums_of_fractions_are_not_evaluated_without_end() -> None:
    grown: Term = symbol("x")
    for _ in range(60):
        grown = build.apply("+", grown, build.apply("/", constant(1), grown))
    with pytest.raises(OversizedError):
        Evaluator(exact=True).value(grown, lambda _: 3)


@pytest.mark.parametrize("reduction", ["sum of", "max of", "any"])
def test_a_long_range_is_not_walked(reduction: str) -> None:
    def lookup(term: Symbol | Opaque) -> object:
        assert isinstance(term, Opaque)
        return iterate(term, lookup, evaluator)

    evaluator = Evaluator()
    with pytest.raises(OversizedError):
        evaluator.value(opaque(reduction, (opaque("range", (constant(10**12),)),)), lookup)


def test_what_a_formula_needs_is_computed() -> None:
    assert parse_expression("1 << 4000") is constant(1 << 4000)
    assert parse_expression("'ab' * 3") is constant("ababab")
    assert Evaluator(exact=True).value(parse_expression("x / 3 * 3"), lambda _: 2**64) == 2**64


@pytest.mark.parametrize(
    "step",
    ["({0}) * ({0}) + 1", "(3 * ({0})) * ({0})", "({0}) + 1 / ({0})"],
    ids=["squares", "numbers", "fractions"],
)
def test_a_formula_that_grows_is_undecided(step: str) -> None:
    once = parse_expression(step.format("num_layers"))
    grown = once
    for _ in range(24):
        grown = build.substitute(once, {"num_layers": grown})
    base = extraction({"cell_size": "num_layers"})
    head = extraction({"cell_size": replace(formula("num_layers"), term=grown)})
    found = compare_extractions(base, head, rule_set(), scenarios=("mha",), quantities=())
    assert found.verdict in (Kind.SEMANTIC, Kind.UNDECIDED)
