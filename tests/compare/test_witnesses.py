"""Witnesses replay, comparisons mirror, and a proof survives every point tried on it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.compare import Comparison
from analyzer.compare.ladder import Judge
from analyzer.compare.pairing import quantity_symbols
from analyzer.domain.build import apply, conditional
from analyzer.domain.extraction import Formula
from analyzer.domain.iteration import EACH, FOR, loop_variable
from analyzer.domain.report import Kind
from analyzer.domain.semantics import Evaluator, RaisedError
from analyzer.domain.terms import UNSET, Opaque, Symbol, Term, constant, opaque, symbol
from tests.support.comparing import compare_extractions
from tests.support.project import shipped_rules
from tests.support.strategies import points, terms
from tests.support.terms import extraction, parse, rule_set

_RULES = rule_set()
_MIRROR: Final = {"added": "removed", "removed": "added", "changed": "changed"}


def _compare(before: Term, after: Term) -> Comparison:
    base, head = (extraction({"cell_size": Formula(term, "byte/token", "byte/token")}) for term in (before, after))
    return compare_extractions(base, head, _RULES, scenarios=("mha",), quantities=("cell_size",))


def _value(term: Term, point: Mapping[str, Any], *, exact: bool = False) -> Any:
    def lookup(leaf: Symbol | Opaque) -> Any:
        # An input that a witness leaves out is unset.
        value = point.get(leaf.name)
        return Fraction(repr(value)) if exact and isinstance(value, float) else value

    try:
        return Evaluator(exact=exact).value(term, lookup)
    except RaisedError as error:
        return error.exception


@settings(max_examples=150, deadline=None)
@given(terms(), terms())
def test_a_witness_gives_what_it_says(before: Term, after: Term) -> None:
    for change in _compare(before, after).changes:
        witness = change.witness
        if witness is None:
            continue
        assert _value(before, witness.inputs) == witness.before
        assert _value(after, witness.inputs) == witness.after
        assert witness.before != witness.after


def test_what_is_not_set_is_no_input() -> None:
    rank = apply("+", symbol("n"), conditional(symbol("p"), symbol("m"), UNSET))
    (change,) = _compare(rank, apply("*", rank, constant(2))).changes
    assert change.witness is not None
    assert change.witness.inputs.keys() == {"n", "m", "p"}


def test_another_rank_that_has_less_is_part_of_the_witness() -> None:
    (change,) = _compare(parse("n * 2"), parse("rank_min(n * 2) if tp_size > 1 else n * 2")).changes
    witness = change.witness
    assert witness is not None
    n, spread = witness.inputs["n"], witness.inputs["spread_over_ranks"]
    assert isinstance(n, int)
    assert isinstance(spread, int)
    assert (witness.before, witness.after) == (2 * n, 2 * (n - spread))


@settings(max_examples=150, deadline=None)
@given(terms(), terms(), st.lists(points(), min_size=20, max_size=20))
def test_what_is_proven_equal_is_equal_everywhere(before: Term, after: Term, places: list[dict[str, object]]) -> None:
    if _compare(before, after).verdict > Kind.REFACTOR:
        return
    for point in places:
        old, new = (_value(term, point, exact=True) for term in (before, after))
        assert old == new or isinstance(old, str) or isinstance(new, str)


@settings(max_examples=80, deadline=None)
@given(terms())
def test_a_formula_is_identical_to_itself(term: Term) -> None:
    found = _compare(term, term)
    assert (found.verdict, found.changes) == (Kind.IDENTICAL, ())


@settings(max_examples=150, deadline=None)
@given(terms(), terms())
def test_swapping_the_sides_mirrors_the_report(before: Term, after: Term) -> None:
    there, back = _compare(before, after), _compare(after, before)
    assert there.verdicts == back.verdicts
    mirrored = {(_MIRROR[change.action], change.after, change.before) for change in there.changes}
    assert mirrored == {(change.action, change.before, change.after) for change in back.changes}


def _counted(limit: int) -> Term:
    """How many layers a comprehension counts, those from `limit` on."""
    layer = loop_variable(0)
    clause = opaque(FOR, (layer, opaque("range", (symbol("num_layers"),)), apply(">=", layer, constant(limit))))
    return opaque("len", (opaque(EACH, (constant("list"), clause, layer)),))


def test_a_comprehension_is_computed_and_not_guessed() -> None:
    [change] = _compare(_counted(2), _counted(3)).changes
    assert change.kind is Kind.SEMANTIC
    assert change.witness is not None
    assert isinstance(change.witness.before, int)
    assert isinstance(change.witness.after, int)
    assert change.witness.before == change.witness.after + 1


def test_loading_weights_leaves_less_memory_than_there_was() -> None:
    rules = shipped_rules()
    names = ("available_gpu_memory", "pre_model_load_memory")
    symbols = {**quantity_symbols(rules), **rules.symbols}
    before = parse("int(available_gpu_memory * 2**30) // 7 * 3 // 5 - pre_model_load_memory")
    after = parse("int(available_gpu_memory * 2**30) * 3 // 35 - pre_model_load_memory")
    found = Judge(symbols).judge(before, after, "token", {names[0]: 60, names[1]: 22.5})
    assert found.witness is not None
    after_loading, before_loading = (found.witness.inputs[name] for name in names)
    assert isinstance(after_loading, int | float)
    assert isinstance(before_loading, int | float)
    assert after_loading <= before_loading


def test_what_only_one_side_sets_may_be_set_on_the_other_by_models_nobody_knows() -> None:
    found = _compare(symbol("n"), UNSET)
    assert found.verdict is Kind.UNDECIDED
