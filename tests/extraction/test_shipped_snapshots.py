"""The snapshots that ship: there for every release, made by this program, and small."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from analyzer import __version__, api
from analyzer.adapters.rules import load_rules
from analyzer.adapters.snapshot_source import SnapshotSource, shipped_folder
from analyzer.compare.pairing import Side
from analyzer.domain.extraction import Formula
from analyzer.domain.notation import to_text
from analyzer.domain.scenario import scenario_inputs, scenario_values
from analyzer.domain.terms import Term
from tests.support.releases import wheel

_SOURCE: Final = SnapshotSource()
# One for each way in which the formula has been found; the newest ones take long.
_EXTRACTED_AGAIN: Final = ("0.1.6", "0.3.6", "0.4.0", "0.5.2", "0.5.9", "0.5.11")
_MOST_BYTES: Final = 8_000_000


def test_each_era_has_its_snapshots() -> None:
    names = _SOURCE.releases()
    assert len(names) == len(set(names)) >= 150
    assert {"v0.1.3", "v0.2.15", "v0.3.4.post1", "v0.4.10.post2", "v0.5.0rc0", "v0.5.18"} <= set(names)
    assert sum(path.stat().st_size for path in shipped_folder().glob("*.json")) < _MOST_BYTES


@pytest.mark.parametrize("name", _SOURCE.releases())
def test_a_snapshot_was_made_with_the_rules_and_by_the_version_it_ships_with(name: str) -> None:
    found = _SOURCE.load(name)
    assert found.rules_digest == load_rules().digest
    assert found.tool_version == __version__
    assert found.revision.resolved == name
    assert found.extraction.quantities.keys() >= {
        "available_gpu_memory",
        "cell_size",
        "default_mem_fraction_static",
        "max_num_reqs",
        "max_total_num_tokens",
        "pre_model_load_memory",
        "rest_memory",
    }


@pytest.mark.parametrize("name", _SOURCE.releases())
def test_free_memory_is_the_least_of_all_ranks(name: str) -> None:
    rules = load_rules()
    side = Side(_SOURCE.load(name).extraction, rules, scenario_values(rules, "mha"), scenario_inputs(rules, "mha"))
    for quantity in ("pre_model_load_memory", "available_gpu_memory"):
        term = side.term(quantity)
        assert term is not None
        assert "rank_min(" in to_text(term)


@pytest.mark.releases
@pytest.mark.parametrize("version", _EXTRACTED_AGAIN)
def test_a_snapshot_is_what_this_program_finds_in_the_release(
    version: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SGLANG_ANALYZER_CACHE", str(tmp_path))
    shipped = _SOURCE.load(version).extraction
    list(api.snapshot((str(wheel(version)),), tmp_path / "made"))
    found = SnapshotSource(tmp_path / "made").load(version).extraction
    assert _terms(found.quantities) == _terms(shipped.quantities)
    assert _terms(found.definitions) == _terms(shipped.definitions)
    assert _terms(found.settings) == _terms(shipped.settings)
    assert [(gap.construct, gap.reason) for gap in found.gaps] == [(gap.construct, gap.reason) for gap in shipped.gaps]
    assert found.coverage == shipped.coverage


def _terms(formulas: Mapping[str, Formula]) -> dict[str, tuple[Term, Term | None, str]]:
    return {name: (formula.term, formula.error, formula.unit) for name, formula in formulas.items()}


@pytest.mark.parametrize("scenario", ["mha", "mla", "dsa", "mamba"])
def test_a_sizing_that_moved_and_was_written_anew_is_proven_to_count_the_same_tokens(scenario: str) -> None:
    # Other files, classes and units, and the minimum over ranks, the user's limit and pages in another order.
    options = api.Options(source="snapshot", use_cache=False)
    found = api.diff("v0.5.9", "v0.5.11", scenarios=(scenario,), options=options)
    kinds = {quantity: by_scenario[scenario].label for quantity, by_scenario in found.verdicts.items()}
    assert kinds["max_total_num_tokens"] == "refactor"
    assert {kinds["rest_memory"], kinds["cell_size"]} <= {"moved", "refactor"}
    assert kinds["max_num_reqs"] == "semantic"
