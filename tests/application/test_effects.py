"""The effect on servers: numbers on both sides, limits, and the fraction that keeps today's tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.application.effects import add_effects
from analyzer.application.selection import audience
from analyzer.domain.effect import Limit, Server, ServerEffect, parse_limit
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Result, Value
from analyzer.domain.report import DiffReport, Kind
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot
from tests.support.samples import formula, report, snapshot, with_default_fraction, write_rules

INPUTS: dict[str, Value] = {
    "available_gpu_memory": 21.71,
    "pre_model_load_memory": 94.04,
    "mem_fraction_static": 0.88,
    "num_layers": 61,
    "page_size": 1,
}


@pytest.fixture
def rules(tmp_path: Path) -> RuleSet:
    return load_rules(write_rules(tmp_path / "rules"))


def with_cell(text: str) -> Snapshot:
    """The sample release with another cost of a token."""
    found = snapshot()
    cell = formula(text, "byte/token")
    return replace(found, extraction=replace(found.extraction, definitions={"cell_size": cell}))


def compared(verdict: Kind = Kind.SEMANTIC) -> DiffReport:
    """A comparison with one verdict about the tokens."""
    return replace(report(), verdicts={"max_total_num_tokens": {"mla": verdict}})


def effects(
    rules: RuleSet, head: Snapshot, *limits: str, inputs: dict[str, Value] | None = None, kind: Kind = Kind.SEMANTIC
) -> tuple[ServerEffect, ...]:
    """What changes from the sample release to `head` for one server."""
    server = Server("s", "mla", INPUTS if inputs is None else inputs)
    sides = with_default_fraction(snapshot()), head
    return add_effects(compared(kind), sides, rules, [server], [parse_limit(text) for text in limits]).effects


def test_the_fraction_that_keeps_the_tokens_does(rules: RuleSet) -> None:
    head = with_cell("num_layers * 656 * 2")
    [effect] = effects(rules, head, "max_total_num_tokens < -1%", "max_total_num_tokens > 0%")
    assert effect.relative == pytest.approx(576 / 656 - 1, abs=1e-4)
    assert effect.broken == ("max_total_num_tokens < -1%",)
    assert effect.keeping is not None
    assert effect.keeping.value is not None
    for fraction, enough in ((effect.keeping.value, True), (effect.keeping.value - 0.001, False)):
        [tried] = effects(rules, head, inputs={**INPUTS, "mem_fraction_static": fraction})
        assert tried.after.number is not None
        assert effect.before.number is not None
        assert (tried.after.number >= effect.before.number) is enough


def test_nothing_is_kept_where_nothing_changes(rules: RuleSet) -> None:
    [effect] = effects(rules, snapshot(), "max_total_num_tokens < -1%", "max_total_num_tokens > 1%")
    assert effect.before == effect.after
    assert (effect.broken, effect.keeping) == ((), None)


def test_a_growing_budget_breaks_the_other_limit(rules: RuleSet) -> None:
    [effect] = effects(
        rules, with_cell("num_layers * 500 * 2"), "max_total_num_tokens > 5%", "max_total_num_tokens < -1%"
    )
    assert effect.broken == ("max_total_num_tokens > 5%",)
    assert effect.keeping is not None
    assert effect.keeping.value is not None
    assert effect.keeping.value < 0.88


def test_what_cannot_be_compared_breaks_every_limit(rules: RuleSet) -> None:
    [effect] = effects(rules, snapshot(), "max_total_num_tokens < -1%", kind=Kind.UNDECIDED)
    assert effect.undecided
    assert effect.broken == ("max_total_num_tokens < -1%",)


def test_without_a_fraction_the_default_of_each_release_holds(rules: RuleSet) -> None:
    head = with_default_fraction(snapshot(), "0.86")
    inputs = {name: value for name, value in INPUTS.items() if name != "mem_fraction_static"} | {"tp_size": 1}
    tokens, default = effects(rules, head, "max_total_num_tokens < -1%", inputs=inputs)
    assert (default.quantity, default.before.value, default.after.value) == ("default_mem_fraction_static", 0.88, 0.86)
    assert tokens.broken
    assert tokens.keeping is not None
    assert tokens.keeping.value == 0.88


def test_a_missing_input_is_a_mistake_only_where_a_limit_needs_it(rules: RuleSet) -> None:
    inputs = {name: value for name, value in INPUTS.items() if name != "num_layers"}
    [effect] = effects(rules, snapshot(), inputs=inputs)
    assert effect.before.missing == ("num_layers",)
    with pytest.raises(UsageError, match=r"the server 's': max_total_num_tokens of .* needs num_layers"):
        effects(rules, snapshot(), "max_total_num_tokens < -1%", inputs=inputs)


@pytest.mark.parametrize(
    ("text", "before", "after", "broken"),
    [
        ("x < -1%", Result(1000), Result(990), False),
        ("x < -1%", Result(1000), Result(989), True),
        ("x > 0.5%", Result(1000), Result(1005), False),
        ("x > 0.5%", Result(1000), Result(1006), True),
        ("x < -1%", Result(1000), Result(error="RuntimeError"), True),
        ("x > 1%", Result(1000), Result(error="RuntimeError"), True),
        ("x < -1%", Result(error="RuntimeError"), Result(1000), False),
        ("x > 1%", Result(error="RuntimeError"), Result(1000), True),
        ("x < -1%", Result(error="RuntimeError"), Result(error="RuntimeError"), False),
        ("x > 1%", Result(0), Result(1), True),
        ("x < -1%", Result(0), Result(0), False),
    ],
)
def test_limits(text: str, before: Result, after: Result, broken: bool) -> None:  # noqa: FBT001 - a column of the table
    assert parse_limit(text).is_broken_by(before, after) is broken


def test_a_limit_is_read_exactly() -> None:
    assert parse_limit(" max_total_num_tokens<-1.5 % ") == Limit(
        "max_total_num_tokens < -1.5%", "max_total_num_tokens", above=False, share=parse_limit("x < -1.5%").share
    )


@pytest.mark.parametrize("text", ["", "x", "x < 1", "x <= 1%", "x < -1% or y", "1 < x%", "x < 1e9%", "x < \u0661%"])
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(UsageError, match="is not a limit"):
        parse_limit(text)


def test_who_is_affected_is_said_of_families_and_of_what_modifies_them(rules: RuleSet) -> None:
    assert audience("mla+eagle", rules) == "DeepSeek, on EAGLE users"
    assert audience("nothing", rules) == ""
