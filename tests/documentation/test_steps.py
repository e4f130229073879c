"""A formula taken apart into the steps that a reader follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.application.docs.settled import Settled
from analyzer.application.docs.steps import Formulas
from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from tests.support.samples import extraction, formula, write_rules

_REST = "available_gpu_memory - pre_model_load_memory * (1 - mem_fraction_static)"


def _steps(folder: Path, found: Extraction, scenario: str = "mha") -> list[tuple[str, str, str]]:
    rules = load_rules(write_rules(folder))
    steps = Formulas(found, rules, Settled(found, rules, scenario).term).steps()
    return [(step.stage, step.name, to_text(step.term)) for step in steps]


def _release(quantities: Mapping[str, str], units: Mapping[str, str]) -> Extraction:
    formulas = {name: formula(text, units[name]) for name, text in quantities.items()}
    return replace(extraction(), quantities=formulas, definitions={})


_UNITS = {"rest_memory": "GiB", "max_total_num_tokens": "token", "cell_size": "byte/token"}


def test_every_step_is_named_and_reads_the_ones_before(tmp_path: Path) -> None:
    tokens = "min(int(rest_memory * 2**30 // cell_size), tp_size * 4096)"
    found = _release({"rest_memory": _REST, "cell_size": "num_layers * 4", "max_total_num_tokens": tokens}, _UNITS)
    assert _steps(tmp_path, found) == [
        ("headroom", "headroom", "pre_model_load_memory * (1 - mem_fraction_static)"),
        ("budget", "rest_memory", _REST),
        ("cost", "cell_size", "num_layers * 4"),
        ("bytes", "budget_bytes", "rest_memory * 2**30"),
        ("tokens", "tokens_1", "int(budget_bytes // cell_size)"),
        ("clamp", "max_total_num_tokens", "min(tokens_1, 4096)"),
    ]


def test_a_clamp_by_an_input_is_a_step_of_its_own(tmp_path: Path) -> None:
    tokens = "min(int(rest_memory * 2**30 // cell_size), num_layers * 9) // cap * cap"
    found = _release({"rest_memory": _REST, "max_total_num_tokens": tokens}, _UNITS)
    steps = _steps(tmp_path, found)[-3:]
    assert steps == [
        ("tokens", "tokens_1", "int(budget_bytes // cell_size)"),
        ("clamp", "tokens_2", "min(tokens_1, num_layers * 9)"),
        ("clamp", "max_total_num_tokens", "tokens_2 // cap * cap"),
    ]


def test_what_is_set_aside_is_told_from_what_stays_free(tmp_path: Path) -> None:
    found = _release({"rest_memory": f"{_REST} - num_layers / 1024"}, _UNITS)
    assert _steps(tmp_path, found) == [
        ("headroom", "headroom", "pre_model_load_memory * (1 - mem_fraction_static)"),
        ("reservation", "reservation_1", "num_layers / 1024"),
        ("budget", "rest_memory", f"{_REST} - reservation_1"),
    ]


def test_a_budget_inside_the_count_gets_its_name(tmp_path: Path) -> None:
    tokens = f"int(({_REST}) * 2**30) // (num_layers * 4)"
    found = _release({"rest_memory": _REST, "cell_size": "num_layers * 4", "max_total_num_tokens": tokens}, _UNITS)
    assert _steps(tmp_path, found)[-2:] == [
        ("bytes", "budget_bytes", "int(rest_memory * 2**30)"),
        ("tokens", "max_total_num_tokens", "budget_bytes // cell_size"),
    ]


@pytest.mark.parametrize(("scenario", "factor"), [("mha", 4096), ("mla", 576)])
def test_the_scenario_settles_its_guards(tmp_path: Path, scenario: str, factor: int) -> None:
    text = "num_layers * (576 if use_mla_backend else 4096)"
    found = _release({"cell_size": text}, _UNITS)
    assert _steps(tmp_path, found, scenario) == [("cost", "cell_size", f"num_layers * {factor}")]


def test_what_adds_nothing_by_default_is_left_out_and_named_as_a_switch(tmp_path: Path) -> None:
    rules = load_rules(write_rules(tmp_path))
    found = _release({"rest_memory": "available_gpu_memory - (0.5 if use_mla_backend else 0.0)"}, _UNITS)
    found = replace(found, definitions={"use_mla_backend": formula("unknown_option", "1")})
    settled = Settled(found, rules, "+eagle")
    term = found.quantities["rest_memory"].term
    assert to_text(settled.term(term)) == "available_gpu_memory"
    assert settled.switches(term) == {"use_mla_backend"}
