"""`analyzer solve`: the unknown that reaches a target, and what `eval` says of it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from tests.cli.conftest import Run

START = ("--scenario", "mla", "--set", "num_layers=61", "--set", "pre_model_load_memory=94.04")
LOADED = (*START, "--set", "available_gpu_memory=21.71")
FRACTION = ("--set", "mem_fraction_static=0.88")


def solve(analyzer: Run, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """The solutions, checked against the schema."""
    found = analyzer("solve", "v0.4.0", *arguments, "--format", "json")
    assert found.code == code, found.err
    report = json.loads(found.out)
    schema = json.loads(files("analyzer.render").joinpath("schema/solve.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)
    solutions: list[dict[str, Any]] = report["solutions"]
    return solutions


def tokens(analyzer: Run, *arguments: str) -> int:
    """What `eval` computes."""
    found = analyzer("eval", "v0.4.0", *arguments, "--format", "json")
    value: int = json.loads(found.out)[0]["quantities"]["max_total_num_tokens"]["value"]
    return value


def test_the_fraction_is_the_smallest_that_reaches_the_target(analyzer: Run) -> None:
    [solution] = solve(analyzer, "--target-tokens", "200000", *LOADED)
    assert solution["value"] == 0.909
    assert solution["tokens"] == tokens(analyzer, *LOADED, "--set", "mem_fraction_static=0.909") >= 200_000
    assert tokens(analyzer, *LOADED, "--set", "mem_fraction_static=0.908") < 200_000


def test_the_weights_are_the_largest_that_leave_enough(analyzer: Run) -> None:
    [solution] = solve(analyzer, "--target-tokens", "200000", "--for", "weights", *START, *FRACTION)
    free = 94.04 - solution["value"]
    assert tokens(analyzer, *START, *FRACTION, "--set", f"available_gpu_memory={free}") >= 200_000
    assert tokens(analyzer, *START, *FRACTION, "--set", f"available_gpu_memory={free - 0.01}") < 200_000


def test_what_cannot_be_reached_is_said(analyzer: Run) -> None:
    [solution] = solve(analyzer, "--target-tokens", "900000", *LOADED, code=1)
    assert (solution["value"], solution["tokens"]) == (None, 330_287)
    [solution] = solve(analyzer, "--target-tokens", "1", *START, code=1)
    assert solution["missing"] == ["available_gpu_memory"]
    found = analyzer("solve", "v0.4.0", "--target-tokens", "900000", *LOADED)
    assert "no --mem-fraction-static gives 900,000 tokens; the most is" in found.out


def test_wrong_inputs_are_one_line(analyzer: Run) -> None:
    found = analyzer("solve", "v0.4.0", "--target-tokens", "1", *LOADED, "--set", "num_layer=1")
    assert found.code == 2
    assert "did you mean num_layers" in found.err
    endless = analyzer("solve", "v0.4.0", "--target-tokens", "1", *LOADED, "--set", "page_size=NaN", "--for", "cap")
    assert (endless.code, "page_size must be a finite number" in endless.err) == (2, True)
    huge = analyzer("solve", "v0.4.0", "--target-tokens", "1", "--for", "weights", "--gpu-memory", "1e300", *FRACTION)
    assert (huge.code, "must be between 0 and" in huge.err) == (2, True)
