"""Where a ref is looked for, and what the public functions make of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from analyzer import __version__, api
from analyzer.adapters.rules import load_rules
from analyzer.adapters.snapshot_source import write_snapshot
from analyzer.api.workspace import Silent
from analyzer.domain.errors import AnchorNotFoundError
from analyzer.domain.extraction import Extraction, with_settings
from analyzer.domain.relevance import Relevance
from analyzer.domain.rules import RUNNER, RuleSet
from analyzer.domain.source import Revision
from analyzer.ports import SourceTree
from tests.support.samples import extraction, settings, snapshot, write_rules

FILE = "python/sglang/srt/model_executor/model_runner.py"


@dataclass
class Notes:
    """A progress that keeps what it is told."""

    lines: list[str] = field(default_factory=list)

    def note(self, message: str) -> None:
        self.lines.append(message)

    def track(self, items: Iterable[str], total: int, label: str) -> Iterable[str]:
        del total, label
        return items


class World:
    """A folder with rules, a clone and snapshots, and a count of extractions."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.rules = write_rules(root / "rules")
        self.extracted: list[str] = []
        self.lost: set[str] = set()

    def extract(self, tree: SourceTree, rules: RuleSet, root: str, likely: Relevance | None) -> Extraction:
        del rules, likely
        if root != RUNNER:
            raise AnchorNotFoundError("no options here")
        file = tree.read("sglang/srt/model_executor/model_runner.py")
        content = file.content.decode() if file is not None else ""
        self.extracted.append(content)
        if content in self.lost:
            raise AnchorNotFoundError("no anchor 'measure'")
        blob = file.blob if file is not None else None
        return replace(extraction(), manifest={"sglang/srt/model_executor/model_runner.py": blob})

    def options(self, *, repo: bool = False, source: str | None = None, notes: Notes | None = None) -> api.Options:
        return api.Options(
            repo=self.root / "clone" if repo else None,
            source=source,
            rules=self.rules,
            progress=notes or Silent(),
        )

    def commit(self, content: str, tag: str) -> None:
        path = self.root / "clone" / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", tag], ["tag", tag]):
            subprocess.run(["git", *identity, *command], cwd=self.root / "clone", check=True)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A clone with two releases, away from any other."""
    made = World(tmp_path)
    made.commit("one", "v0.4.0")
    made.commit("two", "v0.5.0")
    monkeypatch.setattr("analyzer.application.extract.extract", made.extract)
    # What another process extracts nobody here can count.
    monkeypatch.setattr("analyzer.adapters.workers.run_all", lambda tasks: [task() for task in tasks])
    monkeypatch.setattr("analyzer.adapters.snapshot_source.shipped_folder", lambda: tmp_path / "snapshots")
    monkeypatch.setenv("SGLANG_ANALYZER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SGLANG_ANALYZER_REMOTE", str(tmp_path / "no-such-remote"))
    monkeypatch.delenv("SGLANG_REPO", raising=False)
    monkeypatch.chdir("/")
    return made


def test_both_sides_are_extracted_once_where_nothing_is_remembered(world: World) -> None:
    options = replace(world.options(repo=True, source="git"), use_cache=False)
    api.diff("v0.4.0", "v0.5.0", options=options)
    assert world.extracted == ["one", "two"]


def test_a_given_clone_is_used_and_its_commits_are_extracted_once(world: World) -> None:
    for _ in range(2):
        found = api.analyse("v0.4", options=world.options(repo=True))
        assert found.revision.resolved == "v0.4.0"
        assert found.revision.note is not None
    assert world.extracted == ["one"]


def test_the_environment_names_a_clone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_REPO", str(world.root / "clone"))
    assert api.trace("v0.5.0", options=world.options()).path == extraction().hops


def test_the_clone_around_the_current_folder_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.root / "clone" / "python")
    assert api.analyse("v0.5.0", options=world.options()).revision.version == "0.5.0"


def test_without_cache_everything_is_done_again(world: World) -> None:
    options = replace(world.options(repo=True), use_cache=False)
    for _ in range(2):
        api.analyse("v0.4.0", options=options)
    assert world.extracted == ["one", "one"]
    assert not (world.root / "cache").exists()


def test_a_folder_and_the_work_tree_are_sides(world: World) -> None:
    (world.root / "clone" / FILE).write_text("three")
    api.analyse(str(world.root / "clone"), options=world.options())
    api.analyse("WORKTREE", options=world.options(repo=True))
    assert world.extracted == ["three"]


def test_a_ref_wins_over_a_folder_of_its_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("v0.4.0", "copy"):
        path = world.root / name / FILE
        path.parent.mkdir(parents=True)
        path.write_text("copied")
    monkeypatch.chdir(world.root)
    assert api.analyse("v0.4.0", options=world.options(repo=True)).revision.commit != "FOLDER"
    assert api.analyse("copy", options=world.options(repo=True)).revision.commit == "FOLDER"
    assert api.analyse("copy", options=world.options()).revision.commit == "FOLDER"
    assert api.analyse("./v0.4.0", options=world.options(repo=True)).revision.commit == "FOLDER"


def test_a_release_comes_from_its_snapshot_when_there_is_no_clone(world: World) -> None:
    rules = load_rules(world.rules)
    stored = replace(snapshot(Revision("v0.4.0", "v0.4.0", "a" * 40, "0.4.0")), rules_digest=rules.digest)
    write_snapshot(stored, world.root / "snapshots")
    notes = Notes()
    assert api.analyse("0.4", options=world.options(notes=notes)).extraction == extraction()
    assert notes.lines == ["no clone of SGLang here: 0.4 is taken from a snapshot"]


def test_what_stops_the_settings_is_a_gap_only_where_settings_are_compared(world: World) -> None:
    rules = load_rules(world.rules)
    found = with_settings(extraction(), settings())
    for version, commit in (("v0.4.0", "a" * 40), ("v0.5.0", "b" * 40)):
        stored = snapshot(Revision(version, version, commit, version[1:]))
        write_snapshot(replace(stored, extraction=found, rules_digest=rules.digest), world.root / "snapshots")
    shown = api.show("v0.4.0", options=world.options())
    assert (shown.gaps, shown.coverage) == (extraction().gaps, extraction().coverage)
    assert api.diff("v0.4.0", "v0.5.0", options=world.options()).gaps == extraction().gaps + settings().setting_gaps


def test_a_snapshot_of_other_rules_is_the_last_resort(world: World) -> None:
    write_snapshot(snapshot(Revision("v0.4.0", "v0.4.0", "a" * 40, "0.4.0")), world.root / "snapshots")
    notes = Notes()
    api.analyse("v0.4.0", options=world.options(notes=notes))
    assert any("made with other rules" in line for line in notes.lines)
    write_snapshot(snapshot(Revision("v0.5.0", "v0.5.0", "b" * 40, "0.5.0")), world.root / "snapshots")
    notes = Notes()
    api.diff("v0.4.0", "v0.5.0", options=world.options(notes=notes))
    assert sum("cannot clone" in line for line in notes.lines) == 1
    with pytest.raises(api.AnalyzerError, match="cannot clone"):
        api.analyse("v0.4.1", options=world.options())
    with pytest.raises(api.AnalyzerError, match="cannot clone"):
        api.analyse("v0.4.0", options=world.options(source="git"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("absent-1.0-py3-none-any.whl", "there is no file"),
        ("INSTALLED", "not installed"),
        ("/", "holds neither"),
        ("./absent", "there is no folder"),
        ("-x", "cannot begin with"),
        ("v0.6", "unknown ref"),
    ],
)
def test_what_cannot_be_found_is_one_line(world: World, spec: str, message: str) -> None:
    with pytest.raises(api.AnalyzerError, match=message):
        api.analyse(spec, options=world.options(repo=True))


def test_an_unknown_source_is_refused(world: World) -> None:
    with pytest.raises(api.AnalyzerError, match="unknown source"):
        api.analyse("v0.4.0", options=world.options(source="svn"))


def test_a_head_without_a_formula_is_lost(world: World) -> None:
    world.lost = {"two"}
    report = api.diff("v0.4.0", "v0.5.0", scenarios=["mha"], options=world.options(repo=True))
    assert report.verdict is api.Kind.LOST
    [change] = report.changes
    assert change.quantity == "max_total_num_tokens"
    assert "no anchor 'measure'" in change.summary
    assert report.verdicts["rest_memory"] == {"mha": api.Kind.LOST}


def test_a_base_without_a_formula_is_an_error_of_its_own(world: World) -> None:
    world.lost = {"one"}
    with pytest.raises(AnchorNotFoundError) as caught:
        api.diff("v0.4.0", "v0.5.0", options=world.options(repo=True))
    assert caught.value.exit_code == 3


def test_a_comparison_of_commits_is_remembered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = api.diff("v0.4.0", "v0.5.0", options=world.options(repo=True))
    monkeypatch.setattr("analyzer.application.diff.diff", None)
    assert api.diff("v0.4.0", "v0.5.0", options=world.options(repo=True)) == first
    assert first.verdict is api.Kind.IDENTICAL


def test_everything_public_is_there_and_documented() -> None:
    for name in api.__all__:
        assert getattr(api, name).__doc__


def shipped(world: World, **changes: object) -> None:
    """Ship a snapshot of the clone's v0.4.0 as this program would write it; `changes` are to the snapshot."""
    commit = subprocess.run(
        ["git", "rev-parse", "v0.4.0"], cwd=world.root / "clone", check=True, capture_output=True, text=True
    ).stdout.strip()
    made = snapshot(Revision("v0.4.0", "v0.4.0", commit, "0.4.0"))
    digest = load_rules(world.rules).digest
    own: dict[str, object] = {"rules_digest": digest, "tool_version": __version__}
    write_snapshot(replace(made, **{**own, **changes}), world.root / "snapshots")  # type: ignore[arg-type]  # a test's choice of fields


def test_an_installed_program_knows_the_commits_it_ships(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.api.workspace._is_installed", lambda: True)
    shipped(world)
    assert api.analyse("v0.4", options=world.options(repo=True)).revision.spec == "v0.4"
    assert world.extracted == []
    api.analyse("v0.5.0", options=world.options(repo=True))
    assert world.extracted == ["two"]


@pytest.mark.parametrize(
    "changes",
    [
        {"rules_digest": "other"},
        {"tool_version": "0.0.1"},
        {"revision": Revision("v0.4.0", "v0.4.0", "a" * 40, "0.4.0")},
    ],
)
def test_a_shipped_snapshot_of_something_else_is_not_taken_for_a_commit(
    world: World, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]
) -> None:
    monkeypatch.setattr("analyzer.api.workspace._is_installed", lambda: True)
    shipped(world, **changes)
    api.analyse("v0.4.0", options=world.options(repo=True))
    assert world.extracted == ["one"]


def test_a_source_tree_does_not_trust_its_snapshots(world: World) -> None:
    shipped(world)
    api.analyse("v0.4.0", options=world.options(repo=True))
    assert world.extracted == ["one"]
