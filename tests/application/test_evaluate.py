"""Evaluation of cases on the made-up release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.adapters.expressions import parse_expression
from analyzer.adapters.rules import load_rules
from analyzer.application.evaluate import all_quantities, evaluate_cases
from analyzer.domain.build import apply, conditional
from analyzer.domain.evaluation import Case, CaseResult, Value
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.terms import NONE, constant, opaque, raising, symbol
from tests.support.samples import (
    extraction,
    formula,
    not_enough_memory,
    snapshot,
    with_default_fraction,
    write_rules,
)
from tests.support.terms import parse

START: dict[str, Value] = {
    "available_gpu_memory": 21.71,
    "pre_model_load_memory": 94.04,
    "mem_fraction_static": 0.88,
    "num_layers": 61,
}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The sample rules."""
    return load_rules(write_rules(Path(tmp_path_factory.mktemp("rules"))))


def evaluate(rules: RuleSet, *cases: Case, quantities: tuple[str, ...] = ()) -> list[CaseResult]:
    """The results of `cases`."""
    found = extraction()
    return evaluate_cases(found, rules, cases, quantities or tuple(found.quantities))


def test_the_numbers_are_pythons(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case(START, "mla"))
    rest = result.quantities["rest_memory"]
    assert rest.unit == "GiB"
    assert rest.value == pytest.approx(10.4252)
    assert result.quantities["max_total_num_tokens"].value == 159294
    assert type(result.quantities["max_total_num_tokens"].value) is int
    assert result.error is None


def test_a_set_quantity_replaces_its_formula(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case({"rest_memory": 1.0, "num_layers": 1}, "mla"))
    assert result.quantities["rest_memory"].value == 1.0
    assert result.quantities["max_total_num_tokens"].value == 2**30 // 1152
    [result] = evaluate(rules, Case({"rest_memory": 1.0, "cell_size": 1024}))
    assert result.quantities["max_total_num_tokens"].value == 2**20


def test_what_is_missing_is_named_where_it_can_be_given(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case({"available_gpu_memory": 2.0}))
    assert result.quantities["rest_memory"].missing == ("mem_fraction_static", "pre_model_load_memory")
    assert result.quantities["max_total_num_tokens"].missing == (
        "mem_fraction_static",
        "num_layers",
        "pre_model_load_memory",
    )
    assert result.error is None


def test_an_error_of_sglang_keeps_what_came_before(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case({**START, "available_gpu_memory": 1.0}))
    assert result.error == "RuntimeError"
    assert result.quantities["rest_memory"].value is not None
    assert result.quantities["max_total_num_tokens"].value is None
    assert result.quantities["max_total_num_tokens"].missing == ()
    [result] = evaluate(rules, Case({**START, "cell_size": 0}))
    assert result.error == "ZeroDivisionError"


def test_what_stops_the_options_stops_all_that_hangs_on_the_fraction(rules: RuleSet) -> None:
    found = with_default_fraction(snapshot()).extraction
    default = found.quantities["default_mem_fraction_static"]
    stopped = conditional(parse_expression("tp_size > 8"), raising("TypeError"), NONE)
    found = replace(
        found, quantities={**found.quantities, "default_mem_fraction_static": replace(default, error=stopped)}
    )
    open_fraction = {name: value for name, value in START.items() if name != "mem_fraction_static"}
    cases = [
        Case({**open_fraction, "tp_size": 16}),
        Case({**open_fraction, "tp_size": 8}),
        Case({**START, "tp_size": 16}),
    ]
    names = ("max_total_num_tokens", "cell_size", "default_mem_fraction_static")
    unknown, known, given = evaluate_cases(found, rules, cases, names)
    assert unknown.error == unknown.error_of("max_total_num_tokens") == "TypeError"
    assert unknown.error_of("default_mem_fraction_static") == "TypeError"
    assert unknown.quantities["cell_size"].value == 61 * 4096 * 2
    assert unknown.defaults == {}
    assert known.error is None
    assert known.defaults == {"mem_fraction_static": 0.85}
    assert given.quantities["max_total_num_tokens"].value is not None


def test_a_default_that_fails_on_its_inputs_is_that_error_for_its_readers(rules: RuleSet) -> None:
    found = with_default_fraction(snapshot(), "0.9 if page_size < 64 else 0.8").extraction
    case = Case({"available_gpu_memory": 21.0, "pre_model_load_memory": 94.0, "page_size": None})
    [result] = evaluate_cases(found, rules, [case], ("rest_memory",))
    assert (result.error, result.quantities["rest_memory"].missing) == ("TypeError", ())


def test_an_option_left_to_sglang_on_another_device_is_told_where_it_matters(tmp_path: Path) -> None:
    symbols = """
[symbol.device]
unit = "1"
description = "kind of device"
domain = { kind = "choice", choices = ["cuda", "hip"] }
default = "'cuda'"

[symbol.attention_backend]
unit = "1"
description = "the backend"
domain = { kind = "choice", choices = ["triton", "aiter"], optional = true }
default = "None"
"""
    anchors = '[anchors]\nmeasure = ["get_available_gpu_memory"]\nkept_options = ["attention_backend"]\n'
    chosen = load_rules(write_rules(tmp_path, {"anchors.toml": anchors, "symbols/backend.toml": symbols}))
    default = "0.7 if attention_backend == 'aiter' and tp_size > 1 else 0.8"
    found = with_default_fraction(snapshot(), default).extraction
    hip: dict[str, Value] = {"device": "hip", "tp_size": 8}
    given = {**hip, "attention_backend": "triton"}
    cuda: dict[str, Value] = {**hip, "device": "cuda"}
    cases: list[dict[str, Value]] = [hip, given, {"device": "hip"}, cuda, {"tp_size": 8}]
    results = evaluate_cases(found, chosen, [Case(inputs) for inputs in cases], ("default_mem_fraction_static",))
    assert [result.quantities["default_mem_fraction_static"].value for result in results] == [0.8] * 5
    assert [dict(result.left_open) for result in results] == [{"attention_backend": ("aiter",)}, {}, {}, {}, {}]


def test_a_bad_case_fails_alone(rules: RuleSet) -> None:
    bad = [
        Case(problem="not an object"),
        Case({"num_layer": 1}),
        Case({"num_layers": "many"}),
        Case({"use_mla_backend": 1}),
        Case({}, "mlaa"),
        Case({}, "mla+eagel"),
    ]
    results = evaluate(rules, Case(START), *bad, Case(START))
    assert [result.problem is None for result in results] == [True, *[False] * len(bad), True]
    assert results[2].problem == "unknown symbol 'num_layer'; did you mean num_layers?"
    assert "did you mean" in str(results[5].problem)
    assert "did you mean" in str(results[6].problem)


def test_a_default_is_the_same_by_itself_and_inside_another_quantity(rules: RuleSet) -> None:
    found = extraction()
    own = formula("0.8 if use_mla_backend else 0.9", "1")
    given = formula("default_mem_fraction_static", "1")
    read = replace(
        found,
        quantities={**found.quantities, "default_mem_fraction_static": own},
        definitions={**found.definitions, "mem_fraction_static": given},
    )
    quantities = ("default_mem_fraction_static", "rest_memory")
    memory: dict[str, Value] = {"available_gpu_memory": 50.0, "pre_model_load_memory": 80.0}
    cases = [Case(memory), Case({**memory, "use_mla_backend": True}), Case(memory, "mla"), Case(memory, "mla+eagle")]
    results = evaluate_cases(read, rules, cases, quantities)
    assert [result.quantities["default_mem_fraction_static"].value for result in results] == [0.9, 0.8, 0.8, 0.8]
    assert [result.defaults["mem_fraction_static"] for result in results] == [0.9, 0.8, 0.8, 0.8]
    rest = [result.quantities["rest_memory"].value for result in results]
    assert rest == [pytest.approx(50 - 80 * (1 - fraction)) for fraction in (0.9, 0.8, 0.8, 0.8)]


def guessing(rules: RuleSet) -> RuleSet:
    """`rules` with an input that is None when nothing tells."""
    domain = replace(rules.symbols["page_size"].domain, choices=(128,), optional=True)
    window = replace(rules.symbols["page_size"], name="window", domain=domain, sources=("R.window",), default=NONE)
    return replace(rules, symbols={**rules.symbols, "window": window})


def raising_when(text: str) -> Extraction:
    """A release that counts 7 tokens unless `text` raises."""
    found = extraction()
    count = replace(formula("7 * page_size", "token"), error=parse(text))
    return replace(found, quantities={"max_total_num_tokens": count})


@pytest.mark.parametrize(
    ("error", "given", "expected"),
    [
        ("raises('AssertionError') if window is None else None", {}, (None, ("window",))),
        ("raises('AssertionError') if window is None else None", {"window": None}, ("AssertionError", ())),
        ("raises('AssertionError') if window is None else None", {"window": 128}, (None, ())),
        ("raises('A') if window is None else raises('A')", {}, ("A", ())),
        ("raises('A') if page_size > 0 else None", {}, ("A", ())),
        ("None if num_layers > 3 else raises('A')", {}, (None, ())),
        ("raises('A') if num_layers > 3 else raises('A')", {}, ("A", ())),
    ],
)
def test_what_nobody_told_is_needed_and_no_reason_for_a_crash(
    rules: RuleSet, error: str, given: dict[str, Value], expected: tuple[str | None, tuple[str, ...]]
) -> None:
    [result] = evaluate_cases(raising_when(error), guessing(rules), [Case(given)], ("max_total_num_tokens",))
    found = result.quantities["max_total_num_tokens"]
    assert (found.error, found.missing) == expected
    assert result.error == expected[0]


def test_declared_inputs_that_are_not_read_are_listed(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case({**START, "page_size": 1, "tp_size": 2}), quantities=("rest_memory",))
    assert result.ignored == ("num_layers", "page_size", "tp_size")


def test_what_no_case_may_give_is_not_asked_for(rules: RuleSet) -> None:
    found = extraction()
    definitions = {
        **found.definitions,
        "kv_element_size": replace(formula("1", "byte"), term=apply("//", symbol("hf_config.bits"), constant(8))),
        "num_layers": replace(formula("1", "layer"), term=apply("+", opaque("reading"), symbol("context_len"))),
    }
    changed = replace(
        found, definitions=definitions, quantities={"cell_size": formula("kv_element_size * num_layers", "byte/token")}
    )
    [result] = evaluate_cases(changed, rules, [Case({}, "mha")], ("cell_size",))
    assert result.quantities["cell_size"].missing == ("kv_element_size", "num_layers")


def test_a_quantity_the_ref_does_not_have_is_missing(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case(START), quantities=("swa_max_total_num_tokens",))
    assert result.quantities["swa_max_total_num_tokens"].value is None


def test_null_is_a_value(rules: RuleSet) -> None:
    [result] = evaluate(rules, Case({**START, "page_size": None}, "mla"))
    assert result.error == "TypeError"


def test_a_part_that_a_count_merges_from_branches_can_be_given(rules: RuleSet) -> None:
    family = "(available_gpu_memory - pre_model_load_memory * {}) * 2**30 // (num_layers * {})"
    tokens = f"{family.format(0.1, 576)} if use_mla_backend else {family.format(0.2, 4096)}"
    found = extraction()
    count = formula(tokens, "token", error=not_enough_memory())
    merged = replace(found, quantities={**found.quantities, "max_total_num_tokens": count})
    case = Case({"available_gpu_memory": 3.0, "pre_model_load_memory": 10.0, "cell_size": 1024}, "mla")
    [result] = evaluate_cases(merged, rules, [case], ("max_total_num_tokens",))
    assert result.quantities["max_total_num_tokens"].value == 2 * 2**20
    [result] = evaluate_cases(merged, rules, [replace(case, scenario="mha")], ("max_total_num_tokens",))
    assert result.quantities["max_total_num_tokens"].value == 2**20
    [result] = evaluate_cases(
        merged, rules, [Case({"rest_memory": 2.0, "cell_size": 2}, "mla")], tuple(merged.quantities)
    )
    assert result.quantities["max_total_num_tokens"].value == 2**30


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"rest_memory": "auto"}, "rest_memory must be a number"),
        ({"max_total_num_tokens": (1, 2)}, "max_total_num_tokens must be a number"),
        ({"available_gpu_memory": float("inf")}, "available_gpu_memory must be a finite number"),
        ({"num_layers": float("nan")}, "num_layers must be a finite number"),
        ({"num_layers": -1}, "num_layers cannot be negative"),
    ],
)
def test_what_no_server_could_have_is_refused_before_it_is_computed_with(
    rules: RuleSet, inputs: dict[str, Value], said: str
) -> None:
    [result] = evaluate_cases(extraction(), rules, [Case(inputs)], ["max_total_num_tokens"])
    assert said in str(result.problem)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"gpu_mem": 80}, "gpu_mem is in MiB, and 80 MiB are no such thing"),
        ({"gpu_mem": 81559 * 2**20}, "gpu_mem is in MiB"),
        ({"gpu_mem": -81559}, "gpu_mem cannot be negative"),
        ({"gpu_mem": "80GB"}, "gpu_mem must be a number, or null for none"),
        ({"device": "HIP"}, "device is never 'HIP'; did you mean hip?"),
        ({"gpu_mem": None, "device": "other"}, None),
        ({"gpu_mem": 24564.0, "device": "hip"}, None),
    ],
)
def test_a_slip_of_unit_sign_or_spelling_is_not_computed_with(inputs: dict[str, Value], said: str | None) -> None:
    names = ["default_mem_fraction_static"]
    [result] = evaluate_cases(extraction(), load_rules(), [Case(inputs)], names)
    assert result.problem is None if said is None else said in str(result.problem)


def test_a_report_on_everything_leaves_out_a_default_that_nobody_uses() -> None:
    found = extraction()
    names = tuple(name for name in found.quantities if name != "default_mem_fraction_static")
    assert all_quantities(found, [Case(START)]) == names
    assert all_quantities(found, [Case(START), Case()]) == tuple(found.quantities)
    assert all_quantities(found, [Case({**START, "gpu_mem": 81559})]) == tuple(found.quantities)


def _guarded_by(rules: RuleSet, guard: str, **inputs: Value) -> CaseResult:
    """A case of a count before which SGLang raises where `guard` holds."""
    found = extraction()
    error = conditional(parse_expression(guard), raising("RuntimeError"), NONE)
    count = replace(found.quantities["max_total_num_tokens"], error=error)
    guarded = replace(found, quantities={**found.quantities, "max_total_num_tokens": count})
    [result] = evaluate_cases(guarded, rules, [Case({**START, **inputs}, "mla")], ("max_total_num_tokens",))
    return result


@pytest.mark.parametrize(
    ("guard", "needed"),
    [
        ("kv_lora_rank > 0", ("kv_lora_rank",)),
        ("kv_lora_rank > 0 and rest_memory > 0", ("kv_lora_rank",)),
        ("not (kv_lora_rank > 0 or rest_memory < 0)", ("kv_lora_rank",)),
        ("kv_lora_rank > 0 if rest_memory > 0 else rest_memory < 0", ("kv_lora_rank",)),
    ],
)
def test_what_would_tell_whether_sglang_raises_is_named_beside_the_value(
    rules: RuleSet, guard: str, needed: tuple[str, ...]
) -> None:
    declared = replace(rules, symbols={**rules.symbols, "kv_lora_rank": rules.symbols["num_layers"]})
    result = _guarded_by(declared, guard)
    assert result.error is None
    assert result.quantities["max_total_num_tokens"].value == 159294
    assert result.quantities["max_total_num_tokens"].error_missing == needed


@pytest.mark.parametrize(
    ("guard", "error"),
    [
        ("kv_lora_rank > 0 and rest_memory < 0", None),
        ("kv_lora_rank > 0 or rest_memory > 0", "RuntimeError"),
        ("rest_memory > 0 if kv_lora_rank > 0 else rest_memory > 0", "RuntimeError"),
    ],
)
def test_what_decides_whatever_the_unknown_is_decides(rules: RuleSet, guard: str, error: str | None) -> None:
    declared = replace(rules, symbols={**rules.symbols, "kv_lora_rank": rules.symbols["num_layers"]})
    result = _guarded_by(declared, guard)
    assert result.error == error
    assert result.quantities["max_total_num_tokens"].error_missing == ()


def test_what_is_left_open_does_not_matter_where_it_is_not_read(rules: RuleSet) -> None:
    optional = replace(rules.symbols["num_layers"], default=NONE)
    family = replace(rules.scenarios["mla"], open=("kv_lora_rank",))
    declared = replace(
        rules,
        symbols={**rules.symbols, "kv_lora_rank": optional},
        scenarios={**rules.scenarios, "mla": family},
    )
    guard = "(rest_memory if rest_memory > 0 else kv_lora_rank) > 0"
    assert _guarded_by(declared, guard).error == "RuntimeError"


def test_what_a_scenario_leaves_open_decides_nothing_until_it_is_given(rules: RuleSet) -> None:
    optional = replace(rules.symbols["num_layers"], default=NONE)
    family = replace(rules.scenarios["mla"], open=("kv_lora_rank",))
    opened = replace(
        rules,
        symbols={**rules.symbols, "kv_lora_rank": optional},
        scenarios={**rules.scenarios, "mla": family},
    )
    guard = "kv_lora_rank is None or rest_memory <= 0"
    assert _guarded_by(opened, guard).quantities["max_total_num_tokens"].error_missing == ("kv_lora_rank",)
    assert _guarded_by(opened, guard, kv_lora_rank=512).quantities["max_total_num_tokens"].error_missing == ()
    assert _guarded_by(opened, guard, available_gpu_memory=1.0).error == "RuntimeError"


def test_a_raise_behind_a_condition_stays_when_a_part_of_the_count_is_given(rules: RuleSet) -> None:
    found = extraction()
    pages = conditional(parse_expression("page_size % 128 == 0"), NONE, raising("AssertionError"))
    tokens = "available_gpu_memory * 2**30 // (num_layers * 576)"
    merged = replace(
        found, quantities={**found.quantities, "max_total_num_tokens": formula(tokens, "token", error=pages)}
    )
    for page_size, error in ((256, None), (1, "AssertionError")):
        case = Case({"available_gpu_memory": 3.0, "cell_size": 1024, "page_size": page_size}, "mla")
        [result] = evaluate_cases(merged, rules, [case], ("max_total_num_tokens",))
        assert result.error == error
        assert result.ignored == ()


def test_a_value_of_any_size_is_a_problem_of_its_case(rules: RuleSet) -> None:
    found = extraction()
    cell = replace(found.quantities["rest_memory"], term=parse_expression("2 ** num_layers"))
    found = replace(found, quantities={"cell_size": cell})
    large, small = evaluate_cases(found, rules, [Case({"num_layers": n}) for n in (10**9, 10)], ["cell_size"])
    assert large.problem is not None
    assert "cell_size cannot be computed" in large.problem
    assert small.problem is None
    assert small.quantities["cell_size"].value == 1024 / 2**30
