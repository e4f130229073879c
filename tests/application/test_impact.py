"""What a server gets from two releases, where pools of several kinds of layers share the budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.application.explain.formula import FormulaOf
from analyzer.application.impact import measure_impact
from analyzer.domain.evaluation import Inputs
from analyzer.domain.extraction import Formula
from analyzer.domain.source import Revision
from tests.support.project import MACHINE, extracted, shipped_rules
from tests.support.terms import parse

INPUTS = Inputs(dict(MACHINE))


def release(cell_size: str, *, is_split: bool) -> FormulaOf:
    """One that divides its budget by 1,000 bytes, whatever it calls the bytes per token."""
    found = extracted()
    quantities = {
        **found.quantities,
        "cell_size": Formula(parse(cell_size), "byte/token", "byte/token"),
        "max_total_num_tokens": Formula(parse("int(rest_memory * 2**30) // 1000"), "token", "token"),
        "swa_max_total_num_tokens": Formula(
            parse("max_total_num_tokens // 2" if is_split else "None"), "token", "token"
        ),
    }
    return FormulaOf(Revision("a", "a", "a" * 40, "1"), replace(found, quantities=quantities), shipped_rules(), "mha")


def test_no_size_of_the_cache_is_made_up_where_pools_share_the_budget() -> None:
    report = measure_impact(release("1000", is_split=True), release("900", is_split=True), INPUTS, INPUTS)
    assert "kv_cache" not in {effect.quantity for effect in report.effects}
    assert report.movements == ()
    plain = measure_impact(release("1000", is_split=False), release("1000", is_split=False), INPUTS, INPUTS)
    [size] = [effect for effect in plain.effects if effect.quantity == "kv_cache"]
    assert size.before.number == size.after.number
    assert size.before.number


def test_the_fraction_moves_what_shared_pools_hold() -> None:
    less = replace(INPUTS, values={**INPUTS.values, "mem_fraction_static": 0.8})
    report = measure_impact(release("1000", is_split=True), release("900", is_split=True), INPUTS, less)
    moved = {movement.term: movement.tokens for movement in report.movements}
    assert "bytes per token" not in moved
    assert moved["fraction in effect"] == pytest.approx(report.effects[0].delta, abs=2)
