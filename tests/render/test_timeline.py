"""A timeline as text: the plot, and what counts as worse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.domain.evaluation import Result
from analyzer.domain.source import Revision
from analyzer.domain.timeline import Moment, TimelineReport
from analyzer.render.document import Document
from analyzer.render.formats import render
from analyzer.render.page import Page
from analyzer.render.plot import Mark, draw_plot
from analyzer.render.timeline_text import is_worse


def moment(name: str, value: int | None, before: int | None = None, *, changed: bool = False) -> Moment:
    result = Result(value, "token", error=None if value is not None else "RuntimeError")
    return Moment(name, Revision(name, name, "a" * 40), "mha", result, before=before, changed=changed)


def report(*moments: Moment, unit: str = "token") -> TimelineReport:
    return TimelineReport("x", unit, "mha", {}, moments, {})


def plot(marks: list[Mark], width: int = 60) -> list[str]:
    document = Document(width)
    draw_plot(document, marks)
    return ["".join(piece.text for piece in line) for line in document.lines]


@pytest.mark.parametrize("width", [40, 100])
def test_a_plot_fits_its_width_and_shows_every_value(width: int) -> None:
    marks = [Mark(value) for value in range(158)]
    lines = plot(marks, width)
    assert max(map(len, lines)) <= width
    assert all("*" in line for line in lines[:-1] if "|" in line)


def test_what_has_no_number_is_in_the_plot_too() -> None:
    lines = plot([Mark(1), Mark(None), Mark(9, letter="a")], width=22)
    assert [line for line in lines if "x" in line] == ["  none |    xxxx    "]
    assert lines[-1].endswith("+--------a---")


def test_one_value_is_no_plot() -> None:
    assert plot([Mark(1), Mark(1), Mark(None)]) == []


def test_which_way_is_worse_depends_on_the_quantity() -> None:
    fell, rose = moment("b", 5, 9, changed=True), moment("b", 9, 5, changed=True)
    assert (is_worse(fell, report(fell)), is_worse(rose, report(rose))) == (True, False)
    cost = report(rose, unit="byte/token")
    assert (is_worse(fell, cost), is_worse(rose, cost)) == (False, True)
    refused = moment("b", None, 9, changed=True)
    assert is_worse(refused, report(refused))
    assert not is_worse(replace(fell, changed=False), report(fell))


def test_colours_are_for_terminals() -> None:
    found = report(moment("v1", 9), moment("v2", 5, 9, changed=True))
    assert "\x1b" not in render("timeline", "text", found, Page())
    assert "\x1b[1;31m*" in render("timeline", "text", found, Page(colour=True))


def test_a_release_that_sizes_the_model_otherwise_says_so() -> None:
    old = replace(moment("v1", 9), scenario="swa")
    assert "v1  9  sized as swa" in " ".join(
        render("timeline", "text", report(old, moment("v2", 9)), Page()).split("   ")
    )


def test_hostile_names_are_text() -> None:
    found = report(replace(moment("v1|x\x1b[31m", 9), lost="**x** <b>\x1b]0;t\x07", result=None), moment("v2", 5, 9))
    for name in ("text", "markdown"):
        assert "\x1b" not in render("timeline", name, found, Page())
    assert "<b>" not in render("timeline", "markdown", found, Page()).replace("\\<", "")
