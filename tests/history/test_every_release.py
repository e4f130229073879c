"""`snapshot --all` writes the formulas of every release, whoever extracts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import api
from tests.history.conftest import Repository


@pytest.mark.parametrize("count", [2, 14], ids=["in this process", "over processes"])
def test_every_release_is_written(repository: Repository, tmp_path: Path, count: int) -> None:
    for number in range(count):
        repository.commit("Release", tag=f"v0.1.{number}", cell=f"return self.model_config.head_dim * {number % 2 + 1}")
    repository.commit("No runner", {"sglang/srt/model_executor/model_runner.py": "# gone\n"}, tag="v0.2.0")
    found = list(api.snapshot(None, tmp_path / "snapshots", options=api.Options(repo=repository.folder)))
    assert [written.ref for written in found] == [*(f"v0.1.{number}" for number in range(count)), "v0.2.0"]
    assert [written.path is not None for written in found] == [True] * count + [False]
    assert "no class ModelRunner" in str(found[-1].error)
    one, other = (api.show(f"v0.1.{number}", options=api.Options(repo=repository.folder)) for number in range(2))
    assert one != other
