"""Runs the command line on snapshots of a made-up release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from analyzer.adapters.snapshot_source import write_snapshot
from analyzer.cli import run
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from tests.support.samples import formula, snapshot, write_rules


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


def changed() -> Snapshot:
    """A later release with another coefficient."""
    found = snapshot(Revision("v0.5.0", "v0.5.0", "b" * 40, "0.5.0"))
    cell = formula("num_layers * (656 if use_mla_backend else 4096) * 2", "byte/token")
    return replace(found, extraction=replace(found.extraction, definitions={"cell_size": cell}))


@pytest.fixture
def analyzer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `analyzer` with the sample rules, on snapshots of v0.4.0 and v0.5.0."""
    rules, snapshots = write_rules(tmp_path / "rules"), tmp_path / "snapshots"
    write_snapshot(snapshot(Revision("v0.4.0", "v0.4.0", "a" * 40, "0.4.0")), snapshots)
    write_snapshot(changed(), snapshots)
    monkeypatch.setattr("analyzer.adapters.snapshot_source.shipped_folder", lambda: snapshots)
    monkeypatch.setenv("SGLANG_ANALYZER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SGLANG_REPO", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, source: bool = True) -> Outcome:
        shared = ["--source", "snapshot", "--rules", str(rules)] if source else []
        code = run([*arguments, *shared])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
