"""The differences that ship: there for every pair of neighbours, of this very program, and what comparing finds."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Final

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.adapters.shipped_differences import ShippedDifferences
from analyzer.adapters.snapshot_source import SnapshotSource, shipped_folder
from analyzer.application.diff import all_differences
from analyzer.application.docs.timeline import same_formula
from analyzer.application.scope import Scope
from analyzer.compare import Comparison
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Span

_SOURCE: Final = SnapshotSource()
_SHIPPED: Final = ShippedDifferences(shipped_folder())
# Of each kind one that is compared soon; the newest ones take long.
_COMPARED_AGAIN: Final = ("v0.2.15", "v0.3.5", "v0.4.1", "v0.4.7.post1", "v0.4.9", "v0.5.3.post2", "v0.5.10rc0")
_MOST_BYTES: Final = 150_000
_RENEW: Final = "renew it with: analyzer snapshot --compare -o snapshots"


@cache
def _load(name: str) -> Snapshot:
    return _SOURCE.load(name)


@cache
def _pairs() -> list[tuple[str, str]]:
    """Neighbours whose formulas are not the same."""
    names = _SOURCE.releases()
    return [
        (base, head)
        for base, head in pairwise(names)
        if not same_formula(_load(base).extraction, _load(head).extraction)
    ]


def test_every_step_has_its_differences_and_nothing_else_is_there() -> None:
    rules = load_rules()
    unknown = [(old, new) for old, new in _pairs() if _SHIPPED.find(_load(old), _load(new), rules) is None]
    assert unknown == [], f"stale or missing; {_RENEW}"
    files = {path.name for path in (shipped_folder() / "differences").iterdir()}
    assert files == {f"{base}-{head}.json" for base, head in _pairs()}, _RENEW


def test_a_file_of_differences_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (shipped_folder() / "differences").iterdir()}
    assert [name for name, size in sizes.items() if size > _MOST_BYTES] == []


@pytest.mark.parametrize("head", _COMPARED_AGAIN)
def test_they_are_what_comparing_finds(head: str) -> None:
    _compare_again(head)


@pytest.mark.exhaustive
@pytest.mark.parametrize("head", _SOURCE.releases()[1:])
def test_they_are_what_comparing_finds_everywhere(head: str) -> None:
    _compare_again(head)


def _compare_again(head: str) -> None:
    rules, names = load_rules(), _SOURCE.releases()
    pair = _load(names[names.index(head) - 1]), _load(head)
    computed = all_differences(*pair, rules, Scope()).in_words(rules)
    if same_formula(pair[0].extraction, pair[1].extraction):
        assert computed.changes == ()
        return
    shipped = _SHIPPED.find(*pair, rules)
    assert shipped is not None, f"stale or missing; {_RENEW}"
    words = shipped.in_words(rules)
    assert words == computed, _RENEW
    assert _places(words) == _places(computed)


def _places(found: Comparison) -> list[tuple[Span, ...]]:
    """Where the sides are, which comparing them leaves out."""
    return [side.locations for change in found.changes for side in (change.before, change.after) if side is not None]
