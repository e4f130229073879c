"""Why the gate of a project fails, and that nothing is said when it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.application.gate import judge_gate
from analyzer.domain.effect import Server, ServerEffect
from analyzer.domain.evaluation import Result
from analyzer.domain.report import Accepted, DiffReport, Kind
from analyzer.render.formats import render
from analyzer.render.page import Page
from tests.support.samples import report

_BROKEN = ServerEffect("cell_size", Result(100), Result(50), Server("chat", "mla"), ("cell_size < -1%",))


def _accepted() -> DiffReport:
    """A comparison whose changes are all accepted, and that a limit fails all the same."""
    found = report()
    accepted = tuple(Accepted(change, "in the baseline") for change in found.changes)
    return replace(found, verdict=Kind.IDENTICAL, verdicts={}, changes=(), accepted=accepted, effects=(_BROKEN,))


def test_a_kind_below_the_threshold_fails_nothing() -> None:
    assert judge_gate(report(), Kind.LOST, "--fail-on").failures == ()


def test_every_reason_is_given_with_what_sets_it() -> None:
    found = judge_gate(replace(report(), effects=(_BROKEN,)), Kind.UNDECIDED, "fail_on in analyzer.toml")
    assert found.failures == (
        "the verdict is semantic, and fail_on in analyzer.toml fails from undecided on",
        "chat: cell_size < -1%",
    )


@pytest.mark.parametrize("output", ["text", "markdown", "github", "json"])
def test_a_headline_agrees_with_the_exit_code(output: str) -> None:
    text = render("diff", output, judge_gate(_accepted(), Kind.LOST, "the gate"), Page()).replace("\\", "")
    assert "chat: cell_size < -1%" in text.replace("%25", "%").replace("&lt;", "<").replace("%3A", ":")
    if output in ("text", "markdown"):
        assert "but not what they do to a server" in " ".join(text.split())
