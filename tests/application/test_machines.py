"""The default fraction on common machines, family by family."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.application.machines import common_machines
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RuleSet
from tests.support.samples import extraction, formula, write_rules


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The sample rules."""
    return load_rules(write_rules(Path(tmp_path_factory.mktemp("rules"))))


def release(default: str) -> Extraction:
    """One with this default."""
    found = extraction()
    return replace(found, quantities={**found.quantities, "default_mem_fraction_static": formula(default, "1")})


def test_families_with_the_same_defaults_are_told_together(rules: RuleSet) -> None:
    alike = common_machines(release("0.88"), release("0.87 if tp_size > 1 else 0.88"), rules, ("mha", "mla"))
    assert {row.scenarios for row in alike} == {("mha", "mla")}
    assert {(row.tp_size, row.before, row.after) for row in alike} == {(1, 0.88, 0.88), (8, 0.88, 0.87)}
    apart = common_machines(release("0.88"), release("0.85 if use_mla_backend else 0.88"), rules, ("mha", "mla"))
    assert {(row.scenarios, row.after) for row in apart} == {(("mha",), 0.88), (("mla",), 0.85)}
    assert len(apart) == 2 * len(alike)


def test_a_release_may_leave_the_fraction_out(rules: RuleSet) -> None:
    rows = common_machines(release("0.88"), release("None if tp_size > 1 else 0.88"), rules, ("mha",))
    assert {(row.tp_size, row.before, row.after) for row in rows} == {(1, 0.88, 0.88), (8, 0.88, None)}
