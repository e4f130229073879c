"""Differences beside snapshots: exact, and taken for no other snapshots, rules or program than their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.adapters.shipped_differences import ShippedDifferences
from analyzer.application.diff import all_differences
from analyzer.application.scope import Scope
from analyzer.compare import Differences
from analyzer.domain.report import Witness
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from tests.support.samples import formula, snapshot, write_rules


def _pair() -> tuple[Snapshot, Snapshot]:
    base = snapshot(Revision("v0.4.0", "v0.4.0", "a" * 40, "0.4.0"))
    head = snapshot(Revision("v0.5.0", "v0.5.0", "b" * 40, "0.5.0"))
    cell = formula("num_layers * (656 if use_mla_backend else 4096) * 2", "byte/token")
    return base, replace(head, extraction=replace(head.extraction, definitions={"cell_size": cell}))


@pytest.fixture
def rules(tmp_path: Path) -> RuleSet:
    return load_rules(write_rules(tmp_path / "rules"))


@pytest.fixture
def written(tmp_path: Path, rules: RuleSet) -> ShippedDifferences:
    """The differences of the pair, written."""
    base, head = _pair()
    shipped = ShippedDifferences(tmp_path)
    shipped.write(base, head, rules, all_differences(base, head, rules, Scope()))
    return shipped


def _file(folder: Path) -> Path:
    (path,) = (folder / "differences").glob("*.json")
    return path


def test_they_say_what_comparing_says(written: ShippedDifferences, rules: RuleSet) -> None:
    base, head = _pair()
    found = written.find(base, head, rules)
    assert found is not None
    assert found.findings
    expected = all_differences(base, head, rules, Scope()).in_words(rules)
    words = found.in_words(rules)
    assert words == expected
    assert [change.before and change.before.locations for change in words.changes] == [
        change.before and change.before.locations for change in expected.changes
    ]


def test_how_the_refs_were_written_does_not_matter(written: ShippedDifferences, rules: RuleSet) -> None:
    base, head = _pair()
    other = replace(base, revision=replace(base.revision, spec="0.4.0", note="0.4.0 is v0.4.0"), tool_version="9")
    assert written.find(other, head, rules) is not None


def test_another_formula_is_not_known(written: ShippedDifferences, rules: RuleSet) -> None:
    base, head = _pair()
    cell = formula("num_layers * 4", "byte/token")
    other = replace(head, extraction=replace(head.extraction, definitions={"cell_size": cell}))
    assert written.find(base, other, rules) is None
    assert written.find(head, base, rules) is None
    assert written.find(base, replace(base, revision=head.revision), rules) is None


def test_under_other_rules_nothing_is_known(written: ShippedDifferences, rules: RuleSet) -> None:
    base, head = _pair()
    assert written.find(base, head, replace(rules, digest="other")) is None


def test_for_another_program_nothing_is_known(
    written: ShippedDifferences, rules: RuleSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzer.adapters.shipped_differences.program_digest", lambda: "other")
    assert written.find(*_pair(), rules) is None


@pytest.mark.parametrize("keep", [0, 1, 60, 400, -2])
def test_a_damaged_file_counts_as_none(written: ShippedDifferences, rules: RuleSet, tmp_path: Path, keep: int) -> None:
    path = _file(tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    assert written.find(*_pair(), rules) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"semantic"', '"worse"'),
        ('"nodes":[', '"nodes":[["no operator",1],'),
        ('"notes":[]', '"notes":[1]'),
        ('"cell_size"', '"cell_sise"'),
    ],
)
def test_a_file_that_makes_no_sense_counts_as_none(
    written: ShippedDifferences, rules: RuleSet, tmp_path: Path, old: str, new: str
) -> None:
    path = _file(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert written.find(*_pair(), rules) is None


def test_no_number_loses_its_type_or_a_digit(tmp_path: Path, rules: RuleSet) -> None:
    base, head = _pair()
    found = all_differences(base, head, rules, Scope())
    inputs = {"a": 2**70, "b": 1.0, "c": 1, "d": True, "e": None, "f": "text", "g": (1, 2.0, 2**60), "h": float("inf")}
    witness = Witness(inputs, ("x",), 2**64, -0.0)
    made = Differences(found.verdicts, (replace(found.findings[0], witness=witness),), found.notes)
    shipped = ShippedDifferences(tmp_path)
    shipped.write(base, head, rules, made)
    read = shipped.find(base, head, rules)
    assert read is not None
    assert repr(read.findings[0].witness) == repr(witness)


def test_pairs_that_are_gone_are_deleted(written: ShippedDifferences, tmp_path: Path) -> None:
    base, head = _pair()
    written.keep_only([(base.revision, head.revision)])
    assert _file(tmp_path).name == "v0.4.0-v0.5.0.json"
    written.keep_only([])
    assert not list((tmp_path / "differences").iterdir())
