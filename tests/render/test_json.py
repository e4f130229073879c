"""JSON output is what the published schemas say."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analyzer.adapters.rules import load_rules
from analyzer.application.catalogue import catalogue
from analyzer.application.evaluate import evaluate_cases
from analyzer.application.graph import graph
from analyzer.application.show import show
from analyzer.application.trace import trace
from analyzer.domain.effect import Server, ServerEffect
from analyzer.domain.evaluation import Case, EvaluationReport, Result
from analyzer.domain.report import Accepted, Kind
from analyzer.domain.rules import RuleSet
from analyzer.domain.solution import Solution
from analyzer.render.formats import FORMATS, formats_of, render
from analyzer.render.page import Page
from tests.support.samples import REVISION, extraction, judgement, log_report, report, snapshot, write_rules

COMMANDS = ("diff", "show", "trace", "eval", "rules", "graph", "check", "log")


def schema(command: str) -> dict[str, Any]:
    """The published schema of one command."""
    text = files("analyzer.render").joinpath(f"schema/{command}.schema.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The sample rules."""
    return load_rules(write_rules(Path(tmp_path_factory.mktemp("rules"))))


def reports(rules: RuleSet) -> dict[str, Any]:
    """One report per command."""
    found = extraction()
    cases = [Case({"rest_memory": 2.0, "cell_size": 3, "page_size": 1}), Case({"x": 1}), Case({}, "mla+eagle")]
    cases.append(Case({"rest_memory": float("inf"), "cell_size": 1}))
    results = evaluate_cases(found, rules, cases, tuple(found.quantities))
    return {
        "diff": report(),
        "show": show(snapshot(), rules, ("mha", "mla"), (*found.quantities, "cell_size")),
        "trace": trace(snapshot()),
        "eval": EvaluationReport(REVISION, tuple(results)),
        "rules": catalogue(rules, ()),
        "graph": graph(snapshot()),
        "check": judgement(),
        "log": log_report(),
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_output_is_valid(command: str, rules: RuleSet) -> None:
    Draft202012Validator.check_schema(schema(command))
    text = render(command, "json", reports(rules)[command], Page())
    document = json.loads(text, parse_constant=pytest.fail)
    Draft202012Validator(schema(command)).validate(document)
    assert text.isascii()
    assert text.endswith("\n")


def test_a_lost_head_is_valid_too() -> None:
    lost = replace(report(), coverage={"base": extraction().coverage}, head_path=(), verdict=Kind.LOST)
    document = json.loads(render("diff", "json", lost, Page()))
    Draft202012Validator(schema("diff")).validate(document)


def test_what_is_accepted_is_valid_too() -> None:
    found = replace(report(), changes=(), accepted=tuple(Accepted(change, "why") for change in report().changes))
    document = json.loads(render("diff", "json", found, Page()))
    Draft202012Validator(schema("diff")).validate(document)
    assert [item["reason"] for item in document["accepted"]] == ["why", "why"]


def test_effects_are_valid_too() -> None:
    server = Server("s", "mla", {"num_layers": 61, "architectures": ("A",)})
    failed = ServerEffect(
        "x",
        Result(3, "token"),
        Result(unit="token", error="RuntimeError"),
        server,
        ("x < -1%",),
        keeping=Solution("fraction", 0.9, "1", 4),
    )
    missing = ServerEffect("x", Result(unit="token", missing=("y",)), Result(3.5, "token"), server)
    document = json.loads(render("diff", "json", replace(report(), effects=(failed, missing)), Page()))
    Draft202012Validator(schema("diff")).validate(document)


def test_the_schema_names_every_kind_in_order() -> None:
    assert schema("diff")["$defs"]["kind"]["enum"] == [kind.label for kind in Kind]


def test_a_change_has_the_keys_of_the_contract() -> None:
    document = json.loads(render("diff", "json", report(), Page()))
    change = document["changes"][0]
    assert change["witness"]["delta"] == 80032 - 70272
    assert change["witness"]["relative"] == pytest.approx(0.1389, abs=1e-4)
    assert change["commits"][0]["pr"] == 77
    assert document["verdicts"]["cell_size"] == {"mha": "identical", "mla": "semantic"}
    assert document["base"] == {"ref": "v0.4", "resolved": "v0.4.0", "commit": "a" * 40, "version": "0.4.0"}


def test_a_value_says_what_is_missing_only_when_it_is_none(rules: RuleSet) -> None:
    cases = json.loads(render("eval", "json", reports(rules)["eval"], Page()))
    assert cases[0]["quantities"]["max_total_num_tokens"] == {"value": 2**31 // 3, "unit": "token"}
    assert cases[2]["quantities"]["rest_memory"]["missing"]
    assert cases[1]["problem"].startswith("unknown symbol 'x'")


def test_every_format_has_a_renderer_for_every_command_it_claims() -> None:
    for name, form in FORMATS.items():
        for command in form.commands:
            assert callable(getattr(import_module(form.module), f"render_{command}"))
            assert name in formats_of(command)
