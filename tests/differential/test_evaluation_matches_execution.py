"""What the analyzer says a release computes is what the release computes, number by number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.adapters.wheel import ArchiveTree
from analyzer.application.evaluate import evaluate_cases
from analyzer.application.extract import extract
from analyzer.domain.evaluation import Case, CaseResult
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RUNNER, RuleSet
from analyzer.domain.source import Revision
from tests.differential.configurations import draw
from tests.differential.execution import Outcome, release
from tests.differential.releases_covered import MODIFIED, MORE_MODIFIED, MORE_RELEASES, covered
from tests.support.releases import wheel

pytestmark = pytest.mark.differential

_CONFIGURATIONS: Final = 200
_SEED: Final = 20
_SHOWN: Final = 5

# Errors are looked for in everything that is asked, so all of these are always asked.
_EVERYWHERE: Final = ("max_total_num_tokens", "max_num_reqs", "rest_memory", "cell_size")
_COMPARED: Final = {
    "mha": _EVERYWHERE,
    "mla": _EVERYWHERE,
    "dsa": _EVERYWHERE,
    "swa": (*_EVERYWHERE, "full_max_total_num_tokens", "swa_max_total_num_tokens"),
    "mamba": (*_EVERYWHERE, "max_mamba_cache_size"),
    "dsv4": (*_EVERYWHERE, "full_max_total_num_tokens", "swa_max_total_num_tokens"),
    "minimax": _EVERYWHERE,
}
_NEWEST: Final = ("0.5.21", "0.5.23")
_BYTE: Final = 1 / (1 << 30)


@cache
def _rules() -> RuleSet:
    return load_rules()


@cache
def _extraction(version: str) -> Extraction:
    revision = Revision(spec=version, resolved=version, commit=f"wheel {version}", version=version)
    return extract(ArchiveTree(revision, wheel(version)), _rules(), RUNNER)


@pytest.mark.parametrize(("version", "scenario"), [*covered(*_COMPARED), *MODIFIED])
def test_evaluation_is_what_the_release_computes(version: str, scenario: str) -> None:
    _check(version, scenario)


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", _NEWEST)
def test_every_size_exists_in_releases_newer_than_the_tool(version: str) -> None:
    rules = _rules()
    sizes = {name for name, rule in rules.quantities.items() if rule.root == RUNNER}
    assert _extraction(version).quantities.keys() >= sizes


@pytest.mark.exhaustive
@pytest.mark.parametrize(("version", "scenario"), [*covered(*_COMPARED, releases=MORE_RELEASES), *MORE_MODIFIED])
def test_evaluation_is_what_every_other_era_computes(version: str, scenario: str) -> None:
    _check(version, scenario)


def _check(version: str, scenario: str) -> None:
    compared = _COMPARED[scenario.partition("+")[0]]
    configurations = draw(scenario, _CONFIGURATIONS, _SEED)
    cases = [Case(inputs, scenario) for inputs in configurations]
    results = evaluate_cases(_extraction(version), _rules(), cases, compared)
    found = [
        f"{difference} for {inputs}"
        for inputs, result in zip(configurations, results, strict=True)
        for difference in _differences(_executed(version, inputs, scenario), result, compared)
    ]
    assert not found, f"{len(found)} differences, first:\n" + "\n".join(found[:_SHOWN])


def _executed(version: str, inputs: Mapping[str, Any], scenario: str) -> Outcome:
    return release(version, inputs.get("device", "cuda")).run(inputs, scenario)


def _differences(executed: Outcome, evaluated: CaseResult, compared: Sequence[str]) -> Iterator[str]:
    if evaluated.problem is not None:
        yield f"refused: {evaluated.problem}"
        return
    if executed.error != evaluated.error:
        yield f"raises {evaluated.error}, the release {executed.error}"
    for name in compared:
        if name in executed.quantities:
            expected, actual = executed.quantities[name], evaluated.quantities[name].value
            if not _same(name, expected, actual):
                yield f"{name} is {actual!r}, in the release {expected!r}"


def _same(name: str, expected: Any, actual: Any) -> bool:
    if actual is None:
        return False
    if name == "rest_memory":
        # Some releases hand it on in whole bytes.
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=_BYTE)
    return bool(expected == actual)
