"""Extractions are done once for the same files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from analyzer.adapters.rules import load_rules
from analyzer.adapters.snapshots import SnapshotJson
from analyzer.application.analysis import Analysis, Request, is_immutable, without
from analyzer.domain.errors import AnalyzerError, ExtractionError
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import ROOTS, RUNNER, SETTINGS, RuleSet
from analyzer.domain.source import Revision, SourceFile
from analyzer.ports import SourceTree
from tests.support.samples import extraction, snapshot, write_rules

MANIFEST = extraction().manifest


@dataclass
class Tree:
    """A tree that knows its blobs only."""

    revision: Revision
    blobs: dict[str, str]
    prefix: str = "python/"

    def paths(self) -> Sequence[str]:
        return sorted(self.blobs)

    def blob(self, path: str) -> str | None:
        return self.blobs.get(path)

    def read(self, path: str) -> SourceFile | None:
        raise AssertionError(path)

    def display_path(self, path: str) -> str:
        return self.prefix + path


@dataclass
class Memory:
    """A store in a dictionary."""

    content: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def get(self, kind: str, key: str) -> bytes | None:
        return self.content.get((kind, key))

    def put(self, kind: str, key: str, value: bytes) -> None:
        self.content[kind, key] = value


class Harness:
    """An analysis that counts how often it extracts and opens trees."""

    def __init__(self, rules: RuleSet) -> None:
        self.store = Memory()
        self.rules = rules
        self.extracted = 0
        self.opened = 0
        self.together: list[int] = []
        self.analysis = self.make(rules)

    def make(self, rules: RuleSet, build: str = "1") -> Analysis:
        def extract(tree: SourceTree, rules: RuleSet, root: str) -> Extraction:
            del rules, root
            self.extracted += 1
            if not tree.paths():
                raise ExtractionError("there is nothing")
            return extraction()

        return Analysis(rules, self.store, SnapshotJson(), extract, self.run_all, build=build)

    def run_all(self, tasks: Sequence[Callable[[], bytes | AnalyzerError]]) -> list[bytes | AnalyzerError]:
        self.together.append(len(tasks))
        return [task() for task in tasks]

    def request(self, tree: Tree) -> Request:
        def opened() -> SourceTree:
            self.opened += 1
            return tree

        return Request(tree.revision, opened)

    def run(self, tree: Tree) -> Revision:
        found = self.analysis.snapshot(self.request(tree), (RUNNER,))
        assert found.extraction == extraction()
        return found.revision


def tree(commit: str, blobs: dict[str, str] | None = None, prefix: str = "python/") -> Tree:
    """A tree with the files that the sample extraction looked at."""
    same = {path: blob for path, blob in MANIFEST.items() if blob is not None}
    return Tree(Revision("ref", "ref", commit), same if blobs is None else blobs, prefix)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """A fresh store."""
    return Harness(load_rules(write_rules(tmp_path)))


def test_a_known_commit_is_not_opened_again(harness: Harness) -> None:
    for _ in range(2):
        harness.run(tree("1" * 40))
    assert (harness.extracted, harness.opened) == (1, 1)


def test_another_commit_with_the_same_files_is_not_extracted(harness: Harness) -> None:
    harness.run(tree("1" * 40))
    assert harness.run(tree("2" * 40)).commit == "2" * 40
    assert (harness.extracted, harness.opened) == (1, 2)


def test_a_file_that_appears_or_changes_counts(harness: Harness) -> None:
    harness.run(tree("1" * 40))
    path = next(iter(MANIFEST))
    harness.run(tree("2" * 40, {path: "f" * 40}))
    harness.run(tree("3" * 40, {**tree("").blobs, "sglang/srt/absent.py": "f" * 40}))
    assert harness.extracted == 3


def test_the_work_tree_is_looked_at_every_time(harness: Harness) -> None:
    harness.run(tree("WORKTREE"))
    harness.run(tree("WORKTREE"))
    assert (harness.extracted, harness.opened) == (1, 2)


def test_other_places_rules_and_builds_do_not_share(harness: Harness, tmp_path: Path) -> None:
    harness.run(tree("1" * 40))
    harness.run(tree("2" * 40, prefix=""))
    assert harness.extracted == 2
    harness.analysis = harness.make(load_rules(write_rules(tmp_path, {"units.toml": "[units]\n"})))
    harness.run(tree("1" * 40))
    harness.analysis = harness.make(load_rules(write_rules(tmp_path)), build="2")
    harness.run(tree("1" * 40))
    assert harness.extracted == 4


def test_a_damaged_entry_is_made_anew(harness: Harness) -> None:
    harness.run(tree("1" * 40))
    for key in harness.store.content:
        if key[0] == "snapshot":
            harness.store.content[key] = b"{"
    harness.run(tree("1" * 40))
    assert harness.extracted == 2


def test_what_is_not_known_yet_is_extracted_at_the_same_time(harness: Harness) -> None:
    old, new, nothing = (harness.request(tree(char * 40, blobs)) for char, blobs in (("1", None), ("2", {}), ("3", {})))
    harness.analysis.snapshot(old, (RUNNER,))
    harness.analysis.prepare((old, new, nothing), (RUNNER,))
    assert harness.together == [2]
    assert harness.analysis.snapshot(old, (RUNNER,)).extraction == extraction()
    with pytest.raises(ExtractionError):
        harness.analysis.snapshot(new, (RUNNER,))
    assert harness.extracted == 3
    harness.analysis.snapshot(harness.request(tree("4" * 40, {**tree("").blobs, "sglang/srt/absent.py": "f" * 40})))
    assert harness.together == [2, len(ROOTS)]


def test_settings_that_cannot_be_extracted_are_a_gap_of_no_formula(harness: Harness) -> None:
    found = without(snapshot(), SETTINGS, "no class of options", harness.rules).extraction
    assert found.gaps == extraction().gaps
    assert [gap.reason for gap in found.setting_gaps] == ["no class of options"]
    assert found.every_gap == found.gaps + found.setting_gaps


def test_only_object_ids_are_immutable() -> None:
    assert is_immutable(Revision("a", "a", "0f" * 20))
    assert not is_immutable(Revision("a", "a", "sglang-0.5.9-py3-none-any.whl"))
    assert not is_immutable(Revision("a", "a", "WORKTREE"))
