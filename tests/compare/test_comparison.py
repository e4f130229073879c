"""Whole comparisons: scenarios, sub-quantities, defaults, units, places, and what is reported once."""

from __future__ import annotations

import pytest

from analyzer.compare import Comparison
from analyzer.domain.extraction import Extraction, Formula, Gap, Hop
from analyzer.domain.report import Kind
from tests.support.comparing import compare_extractions
from tests.support.terms import extraction, formula, rule_set

_RULES = rule_set()
_ALL = tuple(_RULES.quantities)
_CELL = "num_kv_heads * head_dim * num_layers * 2 * kv_element_size"


def _compare(base: Extraction, head: Extraction, *scenarios: str) -> Comparison:
    return compare_extractions(base, head, _RULES, scenarios=scenarios or ("mha", "mla"), quantities=())


def _one(text: str | Formula, quantity: str = "cell_size") -> Extraction:
    return extraction({quantity: text})


def test_nothing_changes_between_a_version_and_itself() -> None:
    found = _compare(_one(_CELL), _one(_CELL))
    assert found.verdict is Kind.IDENTICAL
    assert found.changes == ()
    assert found.verdicts == {"cell_size": {"mha": Kind.IDENTICAL, "mla": Kind.IDENTICAL}}


def test_a_change_in_one_branch_is_reported_for_its_scenario_only() -> None:
    head = f"576 * kv_element_size if use_mla_backend else {_CELL}"
    found = _compare(_one(f"512 * kv_element_size if use_mla_backend else {_CELL}"), _one(head))
    assert found.verdicts["cell_size"] == {"mha": Kind.IDENTICAL, "mla": Kind.SEMANTIC}
    (change,) = found.changes
    assert change.scenarios == ("mla",)
    assert change.summary == "cell_size: factor 512 became 576"


def test_one_change_in_several_scenarios_is_one_change() -> None:
    found = _compare(_one(_CELL), _one(_CELL.replace("* 2", "* 3")))
    (change,) = found.changes
    assert change.scenarios == ("mha", "mla")


def test_a_change_outside_every_scenario_says_under_which_condition() -> None:
    found = _compare(_one("n"), _one("n + 5 if device == 'cpu' else n"))
    assert found.verdicts["cell_size"]["mha"] is Kind.IDENTICAL
    assert found.verdict is Kind.SEMANTIC
    (change,) = found.changes
    assert (change.scenarios, change.guard) == ((), "device == 'cpu'")


def test_an_option_that_nobody_sets_is_off_in_every_scenario() -> None:
    found = _compare(_one("n"), _one("n * 2 if server.new_option else n"))
    assert set(found.verdicts["cell_size"].values()) == {Kind.IDENTICAL}
    (change,) = found.changes
    assert change.guard == "server.new_option"


def test_the_order_in_which_formulas_are_held_does_not_matter() -> None:
    texts = {
        "max_total_num_tokens": "rest_memory * 1024 ** 3 // cell_size",
        "rest_memory": "available_gpu_memory - pre_model_load_memory * (1 - mem_fraction_static)",
        "cell_size": _CELL,
    }
    changed = {**texts, "cell_size": f"{_CELL} + 8", "rest_memory": "available_gpu_memory * mem_fraction_static"}
    first = _compare(extraction(texts), extraction(changed))
    turned = [extraction(dict(reversed(sides.items()))) for sides in (texts, changed)]
    second = _compare(turned[0], turned[1])
    assert second == first
    assert list(second.verdicts) == list(first.verdicts)
    assert len(first.changes) > 1


def test_another_file_with_the_same_formula_is_moved() -> None:
    found = _compare(_one(formula(_CELL, path="old.py")), _one(formula(_CELL, path="new.py")))
    assert found.verdict is Kind.MOVED
    assert [change.rule for change in found.changes] == ["SGM129"]


def test_another_way_of_the_measurement_is_moved() -> None:
    old = Hop("argument", "load", "profile", "total", "total", "a.py", 3)
    new = Hop("argument", "load", "profile", "total", "before", "a.py", 3)
    sides = [extraction({"pre_model_load_memory": "measure()"}, hops=(hop,)) for hop in (old, new)]
    assert _compare(sides[0], sides[1]).verdict is Kind.MOVED


def test_bytes_that_became_gib_are_a_unit_change() -> None:
    old = formula("available_gpu_memory * (1 << 30) - n * (1 << 30)", unit="GiB", source_unit="byte")
    new = formula("available_gpu_memory - n", unit="GiB")
    found = _compare(_one(old, "rest_memory"), _one(new, "rest_memory"))
    assert found.verdict is Kind.UNIT
    assert [change.rule for change in found.changes] == ["SGM130"]


def test_bytes_called_gib_are_semantic() -> None:
    old = formula("available_gpu_memory * (1 << 30)", unit="GiB", source_unit="byte")
    new = formula("available_gpu_memory * (1 << 30)", unit="GiB")
    assert _compare(_one(old, "rest_memory"), _one(new, "rest_memory")).verdict is Kind.SEMANTIC


class TestSubQuantities:
    """A definition is reported once and colours what reads it."""

    def test_a_changed_definition_is_one_change_that_affects_its_readers(self) -> None:
        base = extraction({"cell_size": _CELL}, {"num_kv_heads": "num_key_value_heads // tp_size"})
        head = extraction({"cell_size": _CELL}, {"num_kv_heads": "max(1, num_key_value_heads // tp_size)"})
        found = _compare(base, head)
        (change,) = found.changes
        assert (change.quantity, change.affects, change.action) == ("num_kv_heads", ("cell_size",), "added")
        assert set(found.verdicts["cell_size"].values()) == {Kind.SEMANTIC}

    def test_naming_what_was_inlined_is_a_refactor(self) -> None:
        definition = "max(1, num_key_value_heads // tp_size)"
        base = extraction({"cell_size": f"{definition} * head_dim"})
        head = extraction({"cell_size": "num_kv_heads * head_dim"}, {"num_kv_heads": definition})
        assert _compare(base, head).verdict is Kind.REFACTOR
        assert _compare(head, base).verdict is Kind.REFACTOR

    def test_a_factor_that_moves_into_a_definition_is_a_refactor(self) -> None:
        base = extraction({"cell_size": "num_kv_heads * 2"}, {"num_kv_heads": "num_key_value_heads"})
        head = extraction({"cell_size": "num_kv_heads"}, {"num_kv_heads": "num_key_value_heads * 2"})
        found = _compare(base, head)
        assert found.verdict is Kind.REFACTOR

    def test_one_that_always_fails_makes_nothing_equal(self) -> None:
        width = {"width": "raises('UnboundLocalError')"}
        base = extraction({"max_total_num_tokens": "n // size"}, {**width, "size": "width * 2"})
        head = extraction({"max_total_num_tokens": "n // (width * 2) // 2"}, width)
        assert _compare(base, head).verdict is Kind.SEMANTIC

    def test_one_that_a_scenario_decides_is_no_constant_where_only_one_side_reads_it(self) -> None:
        definitions = {"context_len": "2048 if longest is None else longest"}
        base = extraction({"max_total_num_tokens": "n"}, definitions)
        head = extraction({"max_total_num_tokens": "n // 2 if context_len > 131072 else n"}, definitions)
        assert _compare(base, head).verdicts["max_total_num_tokens"]["mha"] is Kind.SEMANTIC

    def test_a_quantity_that_others_read_colours_them(self) -> None:
        base = extraction({"rest_memory": "available_gpu_memory - n", "max_total_num_tokens": "int(rest_memory)"})
        head = extraction({"rest_memory": "available_gpu_memory - m", "max_total_num_tokens": "int(rest_memory)"})
        found = _compare(base, head)
        (change,) = found.changes
        assert (change.quantity, change.affects) == ("rest_memory", ("max_total_num_tokens",))
        assert found.verdicts["max_total_num_tokens"]["mha"] is Kind.SEMANTIC

    def test_a_sub_quantity_that_the_scenario_decides_settles_guards(self) -> None:
        definitions = {"is_mla": "use_mla_backend"}
        base = extraction({"cell_size": "1 if is_mla else n"}, definitions)
        head = extraction({"cell_size": "2 if is_mla else n"}, definitions)
        verdicts = _compare(base, head).verdicts["cell_size"]
        assert verdicts == {"mha": Kind.IDENTICAL, "mla": Kind.SEMANTIC}


class TestOutside:
    """What no scenario asks for is told with its condition."""

    def test_a_size_that_no_rule_declares_is_no_condition(self) -> None:
        base = _one("n * (encoder if device == 'cpu' else 1)")
        head = _one("n * (encoder + 2 * decoder if device == 'cpu' else 1)")
        (change,) = _compare(base, head).changes
        assert change.after is not None
        assert (change.guard, change.after.text) == ("device == 'cpu'", "2 * decoder")


class TestDefaults:
    """What holds when the user sets nothing is part of the formula."""

    def test_a_changed_default_is_reported_once_with_the_input_unset(self) -> None:
        quantities = {"max_total_num_tokens": "int(ratio * n)", "max_num_reqs": "int(ratio * m)"}
        sides = [extraction(quantities, defaults={"ratio": value}) for value in ("0.2", "0.9")]
        found = _compare(sides[0], sides[1])
        (change,) = found.changes
        assert (change.quantity, change.affects, change.rule) == ("max_total_num_tokens", ("max_num_reqs",), "SGM121")
        assert change.witness is not None
        assert change.witness.unset == ("ratio",)
        assert "ratio" not in change.witness.inputs
        assert change.summary == "max_total_num_tokens: the default of ratio changed from 0.2 to 0.9"
        assert set(found.verdicts["max_num_reqs"].values()) == {Kind.SEMANTIC}

    def test_a_default_that_is_a_long_formula_is_told_by_an_example(self) -> None:
        ladder = " else ".join(f"{0.5 + step / 100} if tp_size >= {40 - step}" for step in range(12))
        base, head = (extraction({"default_mem_fraction_static": f"{ladder} else {last}"}) for last in ("0.88", "0.9"))
        found = compare_extractions(base, head, _RULES, scenarios=("mha",), quantities=())
        (change,) = found.changes
        assert "mem_fraction_static changed from 0.88 to 0.9, for example where tp_size = " in change.summary

    def test_the_default_of_an_input_that_stays_open_counts_too(self) -> None:
        sides = [extraction({"cell_size": "page_size * n"}, defaults={"page_size": value}) for value in ("1", "64")]
        found = _compare(sides[0], sides[1])
        assert [change.rule for change in found.changes] == ["SGM121"]

    def test_a_default_that_matters_in_no_scenario_is_told_with_its_condition(self) -> None:
        quantities = {"cell_size": "n * int(10 * ratio) if device == 'cpu' else n"}
        sides = [extraction(quantities, defaults={"ratio": value}) for value in ("0.2", "0.9")]
        found = _compare(sides[0], sides[1])
        assert set(found.verdicts["cell_size"].values()) == {Kind.IDENTICAL}
        (change,) = found.changes
        assert (change.rule, change.scenarios, change.guard) == ("SGM121", (), "device == 'cpu'")

    def test_a_default_that_nothing_depends_on_is_no_change(self) -> None:
        sides = [extraction({"cell_size": "n"}, defaults={"page_size": value}) for value in ("1", "64")]
        assert _compare(sides[0], sides[1]).verdict is Kind.IDENTICAL

    def test_the_fraction_is_taken_as_given(self) -> None:
        rest = "available_gpu_memory - pre_model_load_memory * (1 - mem_fraction_static)"
        sides = [
            extraction(
                {"rest_memory": rest, "default_mem_fraction_static": value}, defaults={"mem_fraction_static": value}
            )
            for value in ("0.88", "0.9")
        ]
        found = _compare(sides[0], sides[1])
        assert found.verdicts["rest_memory"]["mha"] is Kind.IDENTICAL
        assert found.verdicts["default_mem_fraction_static"]["mha"] is Kind.SEMANTIC
        (change,) = found.changes
        assert (change.quantity, change.affects) == ("default_mem_fraction_static", ("rest_memory",))


class TestWhatCannotBeCompared:
    """Loss, novelty and gaps are said, never taken for equality."""

    def test_a_quantity_that_head_lacks_is_lost(self) -> None:
        found = _compare(extraction({"cell_size": "n", "rest_memory": "x"}), extraction({"rest_memory": "x"}))
        assert found.verdict is Kind.LOST
        assert [(change.rule, change.action) for change in found.changes] == [("SGM132", "removed")]

    def test_a_quantity_that_base_lacks_is_added(self) -> None:
        found = _compare(extraction({"rest_memory": "x"}), extraction({"cell_size": "n", "rest_memory": "x"}))
        assert [(change.rule, change.action) for change in found.changes] == [("SGM131", "added")]
        assert found.verdicts["rest_memory"]["mha"] is Kind.IDENTICAL

    def test_a_gap_that_only_one_side_has_is_undecided(self) -> None:
        gap = Gap("a.py", 3, "loop", "a loop without a bound", ("cell_size",))
        found = _compare(_one("loop(n)"), extraction({"cell_size": "loop(n)"}, gaps=(gap,)))
        assert found.verdict is Kind.UNDECIDED
        assert [change.rule for change in found.changes] == ["SGM133"]

    def test_a_gap_behind_a_guard_that_the_scenario_closes_is_none_of_its_business(self) -> None:
        gap = Gap("a.py", 3, "loop", "a loop without a bound", ("cell_size",))
        assert _compare(_one("n"), extraction({"cell_size": "n"}, gaps=(gap,))).verdict is Kind.IDENTICAL

    def test_a_gap_that_both_sides_have_is_none_of_its_business(self) -> None:
        sides = [
            extraction({"cell_size": "n"}, gaps=(Gap("a.py", line, "while", "a loop", ("cell_size",)),))
            for line in (3, 9)
        ]
        assert _compare(sides[0], sides[1]).verdict is Kind.IDENTICAL


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        ("raises('A') if n > 5 else n", "raises('B') if n > 5 else n", "what raised A raises B now"),
        (
            "raises('A') if n > 5 else n",
            "raises('A') if n > 9 else raises('B') if n > 5 else n",
            "what raised A can raise B now",
        ),
        (
            "raises('A') if n > 9 else raises('B') if n > 5 else n",
            "raises('A') if n > 5 else n",
            "what raised B raises A now",
        ),
    ],
)
def test_exceptions_of_another_class_are_noted(before: str, after: str, note: str) -> None:
    found = _compare(_one(before), _one(after))
    assert found.verdict is Kind.REFACTOR
    assert found.notes == (f"{note}, under the same conditions",)


def test_an_error_before_the_value_counts() -> None:
    plain, strict = (
        formula("n", unit="byte/token"),
        formula("n", unit="byte/token", error="raises('E') if m > 3 else None"),
    )
    found = _compare(_one(plain), _one(strict))
    (change,) = found.changes
    assert (change.rule, change.witness and change.witness.after) == ("SGM122", "E")


def test_changes_come_strongest_first() -> None:
    base = extraction({"cell_size": "n * m", "rest_memory": "x + y", "max_num_reqs": "n"})
    head = extraction({"cell_size": "m * n", "rest_memory": "x - y", "max_num_reqs": "n // 2 * 2"})
    assert [change.kind for change in _compare(base, head).changes] == [Kind.SEMANTIC, Kind.ROUNDING, Kind.REFACTOR]
