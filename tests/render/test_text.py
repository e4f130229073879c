"""Text output: the answer first, no line too wide, nothing unescaped."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from analyzer.domain.report import Change, DiffReport, Kind, MachineFraction, Side, Witness
from analyzer.domain.terms import Scalar
from analyzer.render.document import Document, Piece, wrap
from analyzer.render.formats import formats_of, render
from analyzer.render.marking import mark_difference
from analyzer.render.page import Page
from tests.render.test_json import COMMANDS, reports, rules
from tests.support.samples import many_changes, report

__all__ = ["rules"]

TITLES = {"mha": "models with plain attention", "mla": "models with latent attention"}


def diff_text(found: DiffReport, width: int = 80) -> str:
    """The text of a comparison on a page without colours."""
    return render("diff", "text", found, Page(width, scenario_titles=TITLES, audiences={"mla": "DeepSeek and others"}))


def test_a_word_of_any_length_is_folded() -> None:
    change = report().changes[0]
    assert change.before is not None
    long = "x" * 200_000
    change = replace(change, summary=f"{long} became y", before=replace(change.before, text=long))
    text = render("diff", "text", replace(report(), changes=(change,)), Page(80, full=True))
    assert len(text) < 20_000
    assert "199,600 characters" in text.replace("\n", "").replace("    ", "")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("command", [name for name in COMMANDS if "text" in formats_of(name)])
def test_lines_fit_and_are_plain(command: str, width: int, rules: Any) -> None:
    text = render(command, "text", reports(rules)[command], Page(width, scenario_titles=TITLES))
    assert max(map(len, text.splitlines())) <= width
    assert all(line == line.rstrip() for line in text.splitlines())
    assert all(char == "\n" or char.isprintable() for char in text)


def test_the_verdict_comes_first_and_then_who() -> None:
    lines = diff_text(report()).splitlines()
    assert lines[1] == "semantic: The formulas differ: the same inputs can give other results."
    assert lines[3] == "Who is affected"
    assert lines[4] == "  mla - DeepSeek and others: cell_size, rest_memory"


def test_a_change_shows_the_difference_the_numbers_and_the_place() -> None:
    text = diff_text(report())
    assert "num_layers * [-576-] * 2" in text
    assert "num_layers * {+656+} * 2" in text
    assert "before 70,272  after 80,032 byte/token  (+9,760, +13.9 %)" in text
    assert "unset: page_size" in text
    assert "Before at python/sglang/srt/model_executor/model_runner.py:412" in text
    assert "(#77)" in text


def test_wide_pages_have_both_formulas_side_by_side() -> None:
    line = next(line for line in diff_text(report(), 120).splitlines() if "576-]" in line)
    assert "{+656+}" in line


def test_source_text_is_neither_markup_nor_control() -> None:
    for colour in (False, True):
        text = render("diff", "text", report(), Page(100, colour))
        assert "[bold]Not markup[/bold]" in text
        assert "\x1b]0;evil" not in text
        assert "\x1b[31munknown" not in text


def test_colours_appear_on_request_only() -> None:
    assert "\x1b[" in render("diff", "text", report(), Page(100, colour=True))
    assert "\x1b" not in diff_text(report())


@pytest.mark.parametrize("kind", list(Kind))
def test_every_verdict_has_a_sentence(kind: Kind) -> None:
    found = replace(report(), verdict=kind, changes=(), verdicts={})
    assert diff_text(found).splitlines()[1].startswith(f"{kind.label}: The ") or kind is Kind.UNIT


def test_an_error_as_outcome_has_no_unit() -> None:
    assert "after RuntimeError\n" in diff_text(report())


def change_with(before: str, after: str) -> Change:
    """A change between two formulas."""
    sides = Side(before, "", "1"), Side(after, "", "1")
    return replace(report().changes[0], before=sides[0], after=sides[1], witness=Witness({}, (), 1.0, 1.0000001))


@pytest.mark.parametrize("width", [80, 120])
def test_long_formulas_are_cut_to_what_differs(width: int) -> None:
    common = " + ".join(f"symbol_{index} * {index}" for index in range(400))
    text = diff_text(replace(report(), changes=(change_with(f"{common} + a", f"{common} + b"),)), width)
    assert "[-a-]" in text
    assert "{+b+}" in text
    assert len(text.splitlines()) < 80
    assert max(map(len, text.splitlines())) <= width


def test_equal_texts_have_no_marks() -> None:
    left, right = mark_difference("a + b", "a + b", colour=False)
    assert "".join(piece.text for piece in left) == "".join(piece.text for piece in right) == "a + b"


def test_a_word_wider_than_the_page_is_broken() -> None:
    lines = wrap([Piece("x" * 50)], 20)
    assert [sum(len(piece.text) for piece in line) for line in lines] == [20, 20, 10]


def test_a_table_lines_up_and_wraps() -> None:
    document = Document(40)
    document.table([("a", "1"), ("longer", "word " * 10)])
    lines = ["".join(piece.text for piece in line) for line in document.lines]
    assert lines[0] == "  a       1"
    assert lines[2].startswith("          word")


def machines(*rows: tuple[Scalar, Scalar]) -> tuple[MachineFraction, ...]:
    """Two cards with two sizes of tensor parallelism each, and their fractions before and after."""
    cards = [(card, memory, ranks) for card, memory in (("24 GB", 24_564), ("80 GB", 81_559)) for ranks in (1, 8)]
    return tuple(MachineFraction(*card, *row) for card, row in zip(cards, rows, strict=True))


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_a_changed_default_is_a_table_of_machines(output: str) -> None:
    found = machines((0.88, 0.874), (0.83, 0.83), ("TypeError", 0.88), (0.9, None))
    text = render("diff", output, replace(report(), default_fractions=found), Page(80))
    rows = [re.split(r"\s{2,}|\s*\|\s*", line.strip("| ").replace("\\", "")) for line in text.splitlines()]
    assert ["24 GB", "0.88 -> 0.874", "0.83, unchanged"] in rows
    assert ["80 GB", "TypeError -> 0.88", "0.9 -> none"] in rows


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_a_default_that_no_common_machine_sees_change_is_one_sentence(output: str) -> None:
    text = render("diff", output, replace(report(), default_fractions=machines(*[(0.88, 0.88)] * 4)), Page(80))
    assert "unchanged on cards of 24 GB, 80 GB with tp_size 1 and 8" in text.replace("\\", "")
    assert "0.88" not in text


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_families_whose_default_differs_have_a_table_each(output: str) -> None:
    same, other = machines(*[(0.88, 0.88)] * 4), machines(*[(0.9, 0.886)] * 4)
    rows = [replace(row, scenarios=("mha", "swa")) for row in same] + [
        replace(row, scenarios=("mla",)) for row in other
    ]
    text = render("diff", output, replace(report(), default_fractions=tuple(rows)), Page(80)).replace("\\", "")
    text = text[text.index("common machines") :]
    first, second = text.index("mha, swa:"), text.index("mla:")
    assert first < text.index("unchanged on cards") < second < text.index("0.9 -> 0.886")
    alone = render("diff", output, replace(report(), default_fractions=tuple(rows[:4])), Page(80))
    assert "mha, swa:" not in alone


def _many(*, full: bool) -> list[str]:
    page = Page(full=full)
    return render("diff", "text", many_changes(parts=3, outside=40), page).splitlines()


def test_what_no_scenario_shows_has_one_line_and_comes_last() -> None:
    lines = _many(full=False)
    heading = lines.index("Outside every scenario (40 changes)")
    folded = lines[heading + 1 : heading + 41]
    assert [line.split(".")[0].strip() for line in folded] == [str(number) for number in range(4, 44)]
    assert all(line.endswith("...") and len(line) <= Page().width for line in folded)
    assert "--quantity NAME" in lines[heading + 41]
    assert lines.index("  Also 2-3: semantic (coefficient-changed): mla") < heading


def test_what_changes_in_one_quantity_is_told_once() -> None:
    lines = _many(full=False)
    assert sum(line.startswith("  Example:") for line in lines) == 1
    assert "  Also 2-3: semantic (coefficient-changed): mla" in lines


def test_formulas_are_cut_to_what_differs_unless_asked_for_in_full() -> None:
    brief, full = _many(full=False), _many(full=True)
    assert len(brief) < 120
    assert len(full) > 3 * len(brief)
    assert any("{+num_kv_heads+}" in line for line in brief)
