"""`analyzer timeline --coverage`: how much of each release was followed."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from analyzer.domain.coverage import CoverageReport, OpaqueCall, ReleaseCoverage
from analyzer.domain.extraction import Coverage, Gap
from analyzer.render.formats import formats_of, render
from analyzer.render.page import Page
from tests.cli.conftest import Run
from tests.cli.test_timeline import add_release
from tests.support.samples import snapshot

GAP = Gap("python/sglang/a.py", 12, "loop:n", "a loop over a sequence of unknown length", ("cell_size",))
FOUND = Coverage(3, 7, 5, 2, ("check_gguf_file()", "json.loads"))


def add_covered_release(version: str) -> None:
    """Add a release with one gap and two opaque calls."""
    extraction = replace(snapshot().extraction, gaps=(GAP,), coverage=FOUND)
    add_release(version, replace(snapshot(), extraction=extraction))


def test_every_release_has_its_numbers_gaps_and_calls_with_reasons(analyzer: Run) -> None:
    add_covered_release("0.4.6")
    Path("snapshots/v0.4.7.json").write_text("{")
    found = analyzer("timeline", "--coverage", "--from", "v0.4.6", "--to", "v0.4.7", "--format", "json")
    assert found.code == 0, found.err
    report = json.loads(found.out)
    schema = json.loads(files("analyzer.render").joinpath("schema/coverage.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)
    followed, lost = report["releases"]
    assert followed["coverage"]["guards_undecided"] == 2
    assert [(gap["line"], gap["affects"]) for gap in followed["gaps"]] == [(12, ["cell_size"])]
    assert {call["name"]: bool(call["reason"]) for call in followed["opaque_calls"]} == dict.fromkeys(
        FOUND.opaque_calls, True
    )
    assert (lost["coverage"], "damaged" in lost["lost"]) == (None, True)


def test_the_text_says_what_was_not_followed_once(analyzer: Run) -> None:
    for version in ("0.4.6", "0.4.7"):
        add_covered_release(version)
    shown = analyzer("timeline", "--coverage", "--from", "v0.4.6", "--to", "v0.4.7").out
    assert "At most 3 open ends in a release; none in 0 of 2." in shown
    assert shown.count("loop:n in a.py: a loop over a sequence of unknown length") == 1
    assert "affects cell_size, in every release" in shown
    assert "json.loads: a function of Python's library, of what is given when the server starts" in shown


@pytest.mark.parametrize("option", [("--quantity", "cell_size"), ("--set", "tp_size=2"), ("--scenario", "mla")])
def test_what_describes_a_server_does_not_go_with_it(analyzer: Run, option: tuple[str, str]) -> None:
    found = analyzer("timeline", "--coverage", *option)
    assert found.code == 2
    assert "--coverage is about the formulas" in found.err


def test_where_no_formula_can_be_had_the_exit_code_says_so(analyzer: Run) -> None:
    for version in ("0.4.0", "0.5.0"):
        Path(f"snapshots/v{version}.json").write_text("{")
    found = analyzer("timeline", "--coverage")
    assert found.code == 3
    assert "The formulas of none of these releases could be had." in found.out


@pytest.mark.parametrize("name", formats_of("coverage"))
def test_what_comes_from_the_source_is_no_markup_and_no_terminal_code(name: str) -> None:
    gap = replace(GAP, construct="\x1b[31m<b>", reason="[x](y) | `z`")
    release = ReleaseCoverage("v1", None, FOUND, (gap,), (OpaqueCall("<i>\x1b]0;", "why"),))
    shown = render("coverage", name, CoverageReport((release,)), Page())
    assert "\x1b" not in shown
    if name == "markdown":
        assert "<b>" not in shown.replace("\\<", "")
        assert "[x](y)" not in shown
