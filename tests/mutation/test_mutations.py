"""A change that alters a result is called semantic, with a witness; a change of text alone is not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import pytest

from analyzer.domain.report import Change, Kind
from analyzer.domain.rules import OPTIONS, RUNNER
from tests.mutation.subjects import Mutant, changes_results, compared, semantic, textual

pytestmark = pytest.mark.differential

_SIZES: Final = ("rest_memory", "cell_size", "max_total_num_tokens", "max_num_reqs", "effective_mem_fraction_static")
_WINDOW: Final = ("full_max_total_num_tokens", "swa_max_total_num_tokens", "cell_size")
# Releases, the family whose formula they have, and the quantities whose lines are changed.
_FEW: Final = (("0.4.3", "mha", _SIZES, 3), ("0.5.9", "swa", _WINDOW, 3))
_MANY: Final = (
    ("0.2.15", "mha", _SIZES, 20),
    ("0.4.3", "mla", _SIZES, 20),
    ("0.5.9", "mha", _SIZES, 20),
    ("0.5.9", "swa", _WINDOW, 15),
    ("0.5.9", "mamba", ("max_mamba_cache_size", "rest_memory", "max_num_reqs"), 15),
    ("0.5.11", "mha", _SIZES, 15),
)
_MANY_TEXTS: Final = (
    ("0.2.15", "mha", _SIZES, 12),
    ("0.4.3", "mla", _SIZES, 18),
    ("0.5.9", "mha", _SIZES, 40),
    ("0.5.9", "swa", _WINDOW, 20),
    ("0.5.9", "mamba", ("max_mamba_cache_size", "rest_memory", "max_num_reqs"), 15),
)
# What the harness does not run: the measurement, and the options; how many constants are changed, and how many of them
# change a number. The others decide an error of something else, or a bound that a filter behind it repeats.
_OTHERS: Final = (
    ("0.4.3", RUNNER, ("pre_model_load_memory", "available_gpu_memory"), 5, 2),
    ("0.5.9", OPTIONS, ("default_mem_fraction_static",), 12, 8),
    ("0.4.3", OPTIONS, ("default_mem_fraction_static",), 8, 8),
)
_WRONG: Final = (Kind.SEMANTIC, Kind.LOST)


@pytest.mark.parametrize(("version", "scenario", "quantities", "count"), _FEW)
def test_a_changed_result_is_found_with_a_witness(
    version: str, scenario: str, quantities: tuple[str, ...], count: int
) -> None:
    _all_found(version, scenario, quantities, count)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("version", "scenario", "quantities", "count"), _MANY)
def test_many_changed_results_are_found_with_a_witness(
    version: str, scenario: str, quantities: tuple[str, ...], count: int
) -> None:
    _all_found(version, scenario, quantities, count)


def _all_found(version: str, scenario: str, quantities: tuple[str, ...], count: int) -> None:
    mutants = (m for m in semantic(version, quantities, RUNNER, 1, executed=True) if changes_results(m, scenario))
    chosen = list(islice(mutants, count))
    assert len(chosen) == count, f"only {len(chosen)} changes alter a result"
    missed = []
    for mutant in chosen:
        verdict, changes = compared(mutant, scenario, RUNNER)
        if not _is_found(mutant, changes):
            missed.append(f"{verdict.name}: {mutant}")
    assert not missed, f"{len(missed)} of {count} missed:\n" + "\n".join(missed)


def _is_found(mutant: Mutant, changes: Iterable[Change]) -> bool:
    """Whether a change is shown with inputs that tell; where only a rounding is gone, with its bound."""
    return any(
        (change.kind is Kind.SEMANTIC and change.witness is not None)
        or (change.kind is Kind.ROUNDING and change.bound is not None and " // " in mutant.what)
        for change in changes
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(("version", "root", "quantities", "count", "effective"), _OTHERS)
def test_a_changed_constant_is_found_where_nothing_is_run(
    version: str, root: str, quantities: tuple[str, ...], count: int, effective: int
) -> None:
    mutants = [m for m in semantic(version, quantities, root, 1, executed=False) if "constant" in m.what][:count]
    verdicts = {mutant: compared(mutant, "mha", root) for mutant in mutants}
    missed = [f"{verdict.name}: {m}" for m, (verdict, changes) in verdicts.items() if not _is_found(m, changes)]
    assert len(mutants) == count
    assert count - len(missed) >= effective, f"{len(missed)} of {count} missed:\n" + "\n".join(missed)


@pytest.mark.parametrize(("version", "scenario", "quantities", "count"), _FEW)
def test_a_change_of_text_is_not_semantic(version: str, scenario: str, quantities: tuple[str, ...], count: int) -> None:
    _none_semantic(version, scenario, quantities, count)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("version", "scenario", "quantities", "count"), _MANY_TEXTS)
def test_many_changes_of_text_are_not_semantic(
    version: str, scenario: str, quantities: tuple[str, ...], count: int
) -> None:
    _none_semantic(version, scenario, quantities, count)


def _none_semantic(version: str, scenario: str, quantities: tuple[str, ...], count: int) -> None:
    # The harness knows some variables by their names: where it no longer finds one, nothing tells what a change does.
    mutants = (m for m in textual(version, quantities, RUNNER, 1, executed=True) if not changes_results(m, scenario))
    chosen = list(islice(mutants, count))
    assert len(chosen) == count, f"only {len(chosen)} changes"
    verdicts = {str(mutant): compared(mutant, scenario, RUNNER)[0] for mutant in chosen}
    wrong = [f"{verdict.name}: {name}" for name, verdict in verdicts.items() if verdict in _WRONG]
    assert not wrong, f"{len(wrong)} of {count} are called more than they are:\n" + "\n".join(wrong)
