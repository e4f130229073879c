"""Workflow annotations: one line each, escaped as the runner unescapes them."""

from __future__ import annotations

import re

import pytest

from analyzer.domain.judgement import CheckReport
from analyzer.domain.pin import Pin
from analyzer.domain.report import DiffReport
from analyzer.render.defuse import defuse
from analyzer.render.formats import render
from analyzer.render.github import annotation
from analyzer.render.page import Page
from tests.support.hostile import HOSTILE, hostile_judgement, hostile_report
from tests.support.samples import judgement, many_changes, report

_COMMAND = re.compile(r"::(?P<name>notice|warning|error) title=(?P<title>[^:,\r\n]*)::(?P<message>[^\r\n]*)")


def written(found: DiffReport) -> list[str]:
    """The annotations of a comparison, line by line."""
    return render("diff", "github", found, Page()).splitlines()


def test_the_verdict_and_every_change_that_matters() -> None:
    verdict, first, second = written(report())
    assert verdict.startswith("::notice title=SGLang memory%3A semantic::v0.4 (v0.4.0, ")
    assert first.startswith("::error title=coefficient-changed cell_size::Each token takes more bytes")
    assert "%0Afor example 70,272 -> 80,032 with num_layers = 61" in first
    assert second.startswith("::notice title=error-added rest_memory::")


def _unescape(text: str) -> str:
    """What the runner makes of a property or a message."""
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def test_percent_signs_and_separators_come_back() -> None:
    line = annotation("warning", "a: 5 %, b", "50 % of x::y\nsecond %0A line")
    found = _COMMAND.fullmatch(line)
    assert found is not None
    assert _unescape(found["title"]) == "a: 5 %, b"
    assert _unescape(found["message"]) == "50 % of x::y\nsecond %0A line"


@pytest.mark.parametrize("text", HOSTILE)
def test_the_name_of_a_file_is_only_a_property(text: str) -> None:
    line = annotation("error", "title", "message", Pin("v1", text, text, 3))
    place = re.fullmatch(r"::error file=(?P<file>[^:,\r\n]*),line=3,title=title::message", line)
    assert place is not None
    assert line.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_inside_its_command(text: str) -> None:
    line = annotation("error", text, text)
    assert _COMMAND.fullmatch(line)
    assert line.isprintable()
    assert len(line) < 10_000


def test_a_hostile_report_has_only_our_commands() -> None:
    lines = written(hostile_report())
    assert len(lines) == 3
    assert all(_COMMAND.fullmatch(line) for line in lines)


def test_a_judgement_has_its_findings_and_then_the_comparison() -> None:
    lines = render("check", "github", judgement(), Page()).splitlines()
    assert lines[0].startswith("::notice title=SGLang memory%3A judgement::v0.4 (v0.4.0, ")
    assert lines[1].startswith("::warning title=SGM202 max_total_num_tokens::The count becomes negative.")
    assert lines[2].startswith("::notice title=SGLang memory%3A semantic::")
    hostile = render("check", "github", hostile_judgement(), Page()).splitlines()
    assert all(_COMMAND.fullmatch(line) for line in hostile)


@pytest.mark.parametrize("name", ["text", "json", "markdown", "sarif"])
@pytest.mark.parametrize(("command", "hostile"), [("diff", hostile_report()), ("check", hostile_judgement())])
def test_no_other_format_holds_a_command(command: str, hostile: DiffReport | CheckReport, name: str) -> None:
    found = render(command, name, hostile, Page(40))
    assert not re.search(r"^\s*::", found, re.MULTILINE)
    assert "##[" not in found
    assert "\x1b" not in found


def test_only_what_begins_a_command_is_changed() -> None:
    assert defuse("a::b\n  ::error::x\n# ##[debug]\n") == "a::b\n  \\::error::x\n# #\\#[debug]\n"


def test_a_quantity_has_one_annotation_and_what_no_scenario_shows_one_in_all() -> None:
    first, second, *rest = written(many_changes(parts=4, outside=30))[1:]
    assert first.startswith("::error title=coefficient-changed cell_size::cell_size (semantic)")
    assert second.startswith("::notice title=SGLang memory%3A outside every scenario::30 changes")
    assert rest == []
