"""The pull-request comment: what it says, and that nothing of the source becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from analyzer.domain.judgement import CheckReport
from analyzer.domain.report import Change, CommitReference, DiffReport, Kind, Side
from analyzer.domain.source import Revision, Span
from analyzer.render.formats import render
from analyzer.render.markup import code, prose
from analyzer.render.page import Page
from tests.support.hostile import HOSTILE, hostile_judgement, hostile_report
from tests.support.samples import many_changes, report
from tests.support.terms import rule_set

PAGE = Page(audiences={"mla": "DeepSeek and others"}, rules=rule_set().every_rule())
_COMMENT_LIMIT = 65_536


def comment(found: DiffReport) -> str:
    """The comment of a comparison."""
    return render("diff", "markdown", found, PAGE)


def test_the_verdict_comes_first_and_then_a_row_per_affected_scenario() -> None:
    lines = comment(report()).splitlines()
    assert lines[0] == "## KV-cache sizing of SGLang: semantic"
    assert "> **semantic**: The formulas differ: the same inputs can give other results." in lines
    row = next(line for line in lines if line.startswith("| **mla**"))
    assert "DeepSeek and others" in row
    assert r"cell\_size: 70,272 → 80,032 (+13.9 %)" in row


def test_formulas_are_mathematics_that_github_accepts() -> None:
    side = Side("f(x)", r"\operatorname{f}\left(x\right)", "1")
    found = comment(replace(report(), changes=(replace(report().changes[0], before=side, after=side),)))
    assert "```math\n\\mathrm{f}\\left(x\\right)\n```" in found
    assert "operatorname" not in found


def test_a_formula_too_long_for_mathematics_shows_what_differs() -> None:
    long = " + ".join(f"symbol_{index}" for index in range(400))
    sides = [Side(f"{long} + {end}", r"\mathrm{x}" * 400, "1") for end in "ab"]
    found = comment(replace(report(), changes=(replace(report().changes[0], before=sides[0], after=sides[1]),)))
    assert re.search(r"^- .* \+ a$", found, re.MULTILINE)
    assert re.search(r"^\+ .* \+ b$", found, re.MULTILINE)


def test_links_lead_to_the_commit_the_line_and_the_pull_request() -> None:
    found = comment(report())
    assert f"https://github.com/sgl-project/sglang/compare/{'a' * 40}...{'b' * 40}" in found
    path = "python/sglang/srt/model_executor/model_runner.py"
    assert f"https://github.com/sgl-project/sglang/blob/{'a' * 40}/{path}#L412-L418" in found
    assert "https://github.com/sgl-project/sglang/pull/77" in found


def test_a_wheel_links_to_its_release_and_a_folder_to_nothing() -> None:
    span = Span("sglang/srt/utils.py", 3, 3)
    change = replace(report().changes[0], before=Side("a", "a", "1", (span,)), after=Side("b", "b", "1", (span,)))
    wheel = Revision("v0.5.9", "sglang-0.5.9.whl", "sglang-0.5.9.whl", "0.5.9")
    folder = Revision(".", "WORKTREE", "WORKTREE")
    found = comment(replace(report(), base=wheel, head=folder, changes=(change,)))
    assert "/blob/v0.5.9/python/sglang/srt/utils.py#L3)" in found
    assert found.count("/utils.py#L3") == 1


def test_a_rule_says_why_and_what_to_do_in_the_folded_details() -> None:
    change = replace(report().changes[0], rule="SGM106")
    found = comment(replace(report(), changes=(change,)))
    details = found[found.index("<summary>Details</summary>") :]
    assert "Another factor scales the result" in details


@pytest.mark.parametrize("kind", list(Kind))
def test_every_verdict_has_an_alert(kind: Kind) -> None:
    found = comment(replace(report(), verdict=kind, changes=(), verdicts={}))
    assert re.search(r"^> \[!(NOTE|WARNING|CAUTION)\]$", found, re.MULTILINE)


def test_a_comment_is_never_too_long_for_github() -> None:
    change = report().changes[0]
    many = tuple(
        replace(change, quantity=f"quantity_{index}", fingerprint=str(index), summary="x" * 100_000)
        for index in range(300)
    )
    found = comment(replace(report(), changes=many))
    assert len(found) < _COMMENT_LIMIT
    assert "more changes not shown here" in found


@pytest.mark.parametrize(("command", "hostile"), [("diff", hostile_report()), ("check", hostile_judgement())])
def test_source_text_is_never_markup(command: str, hostile: DiffReport | CheckReport) -> None:
    found = render(command, "markdown", hostile, PAGE)
    assert len(found) < _COMMENT_LIMIT
    assert not re.search(r"(?<!\\)@\w", _outside_code(found))
    assert all(char == "\n" or char.isprintable() or char == "\N{WORD JOINER}" for char in found)
    page = _Page()
    page.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(found))
    assert page.tags <= _OUR_TAGS
    assert all(address.startswith("https://github.com/sgl-project/sglang/") for address in page.addresses)
    assert page.depth == 0


_OUR_TAGS = {"h2", "h3", "p", "code", "pre", "a", "blockquote", "strong", "ul", "li", "details", "summary"} | {
    *("table", "thead", "tbody", "tr", "th", "td")
}


class _Page(HTMLParser):
    """What a page consists of: its tags, where its links lead, and how many folds stay open."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]
        self.depth += tag == "details"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "details"


def _outside_code(text: str) -> str:
    """The text without fenced blocks, code spans and what is escaped."""
    text = re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\\.|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_holds_anything(text: str) -> None:
    span = code(text)
    opening = re.match("`+", span)
    assert opening is not None
    inner = span[len(opening[0]) : -len(opening[0])]
    assert span.endswith(opening[0])
    assert opening[0] not in re.findall("`+", inner)
    assert inner.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_has_no_live_markup(text: str) -> None:
    found = prose(text)
    assert found.replace("\N{WORD JOINER}", "").isprintable()
    assert not set("`*_[]<>|&@$") & set(re.sub(r"\\.", "", found))


@pytest.mark.parametrize("text", ["- item", "1. item", "# head", "https://evil.example", "www.evil.example", "a@b.c"])
def test_prose_is_neither_block_nor_address(text: str) -> None:
    rendered = MarkdownIt("commonmark", {"linkify": False}).render(prose(text))
    assert rendered.replace("\N{WORD JOINER}", "") == f"<p>{text}</p>\n"
    assert "https://" not in prose(text)
    assert "www." not in prose(text)


def test_plain_words_stay_plain() -> None:
    assert (
        prose("cell-size: factor 0.95, see v0.3.5 (5 % less) # x")
        == "cell-size: factor 0.95, see v0.3.5 (5 % less) # x"
    )


def test_commit_subjects_are_code() -> None:
    commit = CommitReference("e" * 40, "2025-01-02", "Fix <script> @all `x` [a](b)", 5)
    change: Change = replace(report().changes[0], commits=(commit,))
    found = comment(replace(report(), changes=(change,)))
    assert "`` Fix <script> @all `x` [a](b) ``" in found or "``Fix <script> @all `x` [a](b)``" in found


def test_an_error_is_not_written_as_mathematics() -> None:
    found = report()
    side = Side("raises UnboundLocalError", r"\text{raises UnboundLocalError}", "token")
    text = render("diff", "markdown", replace(found, changes=(replace(found.changes[0], after=side),)), Page())
    assert r"\text{raises" not in text
    assert "+ raises UnboundLocalError" in text


def test_a_comment_folds_what_no_scenario_shows() -> None:
    text = render("diff", "markdown", many_changes(parts=2, outside=40), Page())
    assert "<summary>40 changes outside every scenario</summary>" in text
    assert len(text) < 20_000
