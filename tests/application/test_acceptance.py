"""What is accepted leaves the verdict, stays on record, and never hides more than was decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.adapters.versions import is_below
from analyzer.application.acceptance import accept
from analyzer.domain.report import DiffReport, Kind
from analyzer.domain.settings import Ignore, Settings
from tests.support.samples import report

FIRST, SECOND = report().changes


def accepted(settings: Settings | None = None, *baseline: str, found: DiffReport | None = None) -> DiffReport:
    """The sample report after what is accepted."""
    return accept(found or report(), settings or Settings(), baseline, is_below)


def ignoring(*ignores: Ignore) -> Settings:
    """Settings with `ignores`."""
    return Settings(ignores=ignores, place="analyzer.toml")


def test_nothing_accepted_changes_nothing() -> None:
    assert accepted() == report()


def test_an_accepted_change_leaves_the_verdict_and_stays_on_record() -> None:
    found = accepted(None, FIRST.fingerprint)
    assert found.changes == (SECOND,)
    assert found.verdict is Kind.ROUNDING
    [item] = found.accepted
    assert (item.change, item.reason) == (FIRST, "in the baseline")
    assert found.verdicts["cell_size"] == {"mha": Kind.IDENTICAL}
    assert found.verdicts["rest_memory"] == report().verdicts["rest_memory"]


def test_with_everything_accepted_the_weaker_kinds_are_left() -> None:
    found = accepted(None, FIRST.fingerprint, SECOND.fingerprint)
    assert (found.changes, found.verdict) == ((), Kind.REFACTOR)
    assert found.verdicts["rest_memory"] == {}


def test_a_quantity_that_another_change_moves_keeps_its_kind() -> None:
    other = replace(FIRST, fingerprint="other", kind=Kind.UNDECIDED)
    found = accepted(None, FIRST.fingerprint, found=replace(report(), changes=(FIRST, other)))
    assert found.verdicts["cell_size"]["mla"] is Kind.UNDECIDED
    assert found.verdict is Kind.UNDECIDED


def test_what_no_scenario_is_about_is_accepted_in_all_of_them() -> None:
    everywhere = replace(FIRST, quantity="default_mem_fraction_static", affects=(), scenarios=())
    verdicts = {"default_mem_fraction_static": {"mha": Kind.SEMANTIC, "mla": Kind.SEMANTIC}}
    found = replace(report(), changes=(everywhere,), verdicts=verdicts)
    assert accepted(found=found).verdict is Kind.SEMANTIC
    assert accepted(None, everywhere.fingerprint, found=found).verdict is Kind.IDENTICAL


def test_a_rule_is_ignored_with_its_reason() -> None:
    found = accepted(ignoring(Ignore(FIRST.rule, "reviewed in June")))
    assert [item.reason for item in found.accepted] == ["reviewed in June"]


def test_an_ignored_rule_can_be_for_some_quantities() -> None:
    assert accepted(ignoring(Ignore(FIRST.rule, "why", ("rest_memory",)))).accepted == ()
    assert len(accepted(ignoring(Ignore(FIRST.rule, "why", ("cell_size",)))).accepted) == 1


@pytest.mark.parametrize(
    ("version", "until", "holds"),
    [("0.5.11", "0.5.12", True), ("0.5.12", "0.5.12", False), ("0.5.13", "0.5.12", False), (None, "0.5.12", False)],
)
def test_an_ignored_rule_expires(version: str | None, until: str, holds: bool) -> None:  # noqa: FBT001 - a column
    head = replace(report().head, version=version)
    found = accepted(ignoring(Ignore(FIRST.rule, "why", until=until)), found=replace(report(), head=head))
    assert bool(found.accepted) is holds
    assert any("no longer ignored" in note for note in found.notes) is not holds


def test_a_lost_formula_is_not_accepted_by_its_fingerprint() -> None:
    lost = replace(FIRST, kind=Kind.LOST)
    found = accepted(None, lost.fingerprint, found=replace(report(), changes=(lost,), verdict=Kind.LOST))
    assert (found.accepted, found.verdict) == ((), Kind.LOST)


def test_levels_are_those_of_the_settings() -> None:
    found = accepted(Settings(levels={FIRST.rule: "note"}))
    assert [change.level for change in found.changes] == ["note", SECOND.level]
    assert found.verdict is report().verdict
