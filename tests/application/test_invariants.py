"""Each invariant finds what it is about and leaves its neighbours alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.adapters.expressions import parse_expression
from analyzer.application.check import check
from analyzer.application.invariants import CHECKS
from analyzer.domain.build import conditional
from analyzer.domain.extraction import Coverage, Extraction, Formula, UnitConversion, UnitFinding
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Span
from analyzer.domain.terms import NONE, raising
from tests.support.project import extracted, shipped_rules
from tests.support.samples import REVISION

_PLACE = Span("python/sglang/srt/a.py", 3, 4)
_REST = "available_gpu_memory - pre_model_load_memory * (1 - mem_fraction_static)"
_TOKENS = "int(rest_memory * 2**30 // cell_size)"
_BOUNDED = "raises(RuntimeError) if {0} <= 0 else {0}"


def _extraction(**formulas: str) -> Extraction:
    """Formulas of some quantities, the others such that nothing is wrong with them."""
    sound = {
        "pre_model_load_memory": "rank_min(float32(pages))",
        "available_gpu_memory": "rank_min(float32(pages))",
        "rest_memory": _REST,
        "max_total_num_tokens": _BOUNDED.format(_TOKENS),
    }
    rules = shipped_rules().quantities
    quantities = {
        name: Formula(parse_expression(text), rules[name].unit, rules[name].unit, locations=(_PLACE,))
        for name, text in {**sound, **formulas}.items()
    }
    return Extraction("entry", quantities, {}, {}, (), (), Coverage(1, 1, 0, 0, ()), (), (), {})


def _found(extraction: Extraction) -> dict[str, tuple[str, str]]:
    """The quantity and the summary of each rule that was broken."""
    snapshot = Snapshot(REVISION, extraction, "0", "digest")
    report = check(snapshot, shipped_rules(), ("mha", "mla"))
    return {finding.rule: (finding.violation.quantity, finding.summary) for finding in report.findings}


def test_sound_formulas_break_nothing() -> None:
    assert _found(_extraction()) == {}


def test_the_formulas_of_a_whole_project_break_nothing_but_what_is_known() -> None:
    assert set(_found(extracted())) <= {"SGM202", "SGM206"}


def test_every_rule_has_a_check_and_every_check_a_rule() -> None:
    assert sorted(rule.check for rule in shipped_rules().invariants) == sorted(CHECKS)


@pytest.mark.parametrize(
    ("rule", "quantity", "text"),
    [
        ("SGM202", "max_total_num_tokens", _TOKENS),
        ("SGM202", "max_total_num_tokens", f"min({_TOKENS}, 1000)"),
        ("SGM203", "max_total_num_tokens", "max(int(rest_memory * 2**30) // cell_size, 0)"),
        ("SGM203", "max_total_num_tokens", "max(int(rest_memory * (1 << 30)) / cell_size, 0)"),
        ("SGM204", "max_total_num_tokens", "max(int(rest_memory) * 2**30 // cell_size, 0)"),
        ("SGM204", "max_total_num_tokens", "max(round(rest_memory * 1024) * 2**20 // cell_size, 0)"),
        ("SGM205", "max_total_num_tokens", "max(int(rest_memory * 10**9 // cell_size), 0)"),
        ("SGM205", "rest_memory", "available_gpu_memory * 1000000000 / 2**30"),
        ("SGM206", "available_gpu_memory", "float32(pages)"),
        ("SGM206", "pre_model_load_memory", "pages / 2**30"),
    ],
)
def test_a_violation_is_found_in_its_quantity(rule: str, quantity: str, text: str) -> None:
    found = _found(_extraction(**{quantity: text}))
    assert set(found) == {rule}
    assert found[rule][0] == quantity


@pytest.mark.parametrize(
    "text",
    [
        f"max({_TOKENS}, 0)",
        f"max({_TOKENS} // page_size * page_size, 0)",
        "max(int(rest_memory * 2**30 // cell_size) // 2, 0)",
        "max(int(rest_memory * 2**30 / cell_size), 0)",
        "max(int(rest_memory * 1000 * 1024 // cell_size), 0)",
        "max(10**9 // cell_size, 0)",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert _found(_extraction(max_total_num_tokens=text)) == {}


def test_units_come_from_the_extraction() -> None:
    found = replace(
        _extraction(),
        unit_findings=(UnitFinding("GiB added to bytes", _PLACE),),
        unit_conversions=(UnitConversion("rest / 10**9", "byte", "GB", _PLACE),),
    )
    assert _found(found)["SGM201"] == ("", "GiB added to bytes")
    assert "byte to GB" in _found(found)["SGM205"][1]


def test_a_reservation_needs_the_pool_that_takes_it() -> None:
    reserved = f"{_REST} - mamba_cache_per_req / 2**30"
    assert set(_found(_extraction(rest_memory=reserved))) == {"SGM207"}


def test_the_example_shows_the_numbers() -> None:
    snapshot = Snapshot(REVISION, _extraction(max_total_num_tokens=_TOKENS), "0", "digest")
    [finding] = check(snapshot, shipped_rules(), ("mha", "mla")).findings
    assert finding.violation.scenarios == ("mha", "mla")
    assert finding.violation.inputs["available_gpu_memory"] == 1.0
    assert finding.violation.locations == (_PLACE,)


def test_what_cannot_be_decided_is_said() -> None:
    snapshot = Snapshot(REVISION, _extraction(max_total_num_tokens="int(unknown_thing)"), "0", "digest")
    report = check(snapshot, shipped_rules(), ("mha",))
    assert [text[:6] for text in report.unjudged] == ["SGM202"]


def test_a_fingerprint_survives_moved_lines() -> None:
    prints = set()
    for place in (_PLACE, Span("other.py", 9, 9)):
        found = _extraction(max_total_num_tokens=_TOKENS)
        moved = {name: replace(formula, locations=(place,)) for name, formula in found.quantities.items()}
        snapshot = Snapshot(REVISION, replace(found, quantities=moved), "0", "digest")
        prints |= {finding.fingerprint for finding in check(snapshot, shipped_rules(), ("mha",)).findings}
    assert len(prints) == 1


def _refused(guard: str) -> Extraction:
    """A count that may be negative, and a raise where `guard` holds."""
    found = _extraction(max_total_num_tokens=_TOKENS)
    error = conditional(parse_expression(guard), raising("RuntimeError"), NONE)
    count = replace(found.quantities["max_total_num_tokens"], error=error)
    return replace(found, quantities={**found.quantities, "max_total_num_tokens": count})


@pytest.mark.parametrize(
    "guard",
    [
        "num_layers > 0 and rest_memory <= 0",
        "sliding_window_size is not None and sliding_window_size > 0 and rest_memory <= 0",
    ],
)
def test_a_server_that_is_refused_once_its_inputs_are_there_has_no_negative_count(guard: str) -> None:
    snapshot = Snapshot(REVISION, _refused(guard), "0", "digest")
    report = check(snapshot, shipped_rules(), ("swa",))
    assert (report.findings, report.unjudged) == ((), ())
