"""The tool's own clone: made once, whole, and kept fresh."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.adapters.clone import clone_to_cache, refresh_clone
from analyzer.adapters.git import GitRepository
from analyzer.domain.errors import RepositoryError

Git = Callable[..., str]

RUNNER = "sglang/srt/model_executor/model_runner.py"


def test_clone_is_bare_and_blobless(source: Path, tmp_path: Path, notes: Any, git: Git) -> None:
    clone = clone_to_cache(source.as_uri(), tmp_path / "cache/clones/sglang.git", notes)
    assert git(clone, "rev-parse", "--is-bare-repository") == "true"
    assert "?" in git(clone, "rev-list", "--objects", "--missing=print", "v0.3.0")
    with GitRepository(clone, may_fetch=True) as repository:
        file = repository.tree(repository.resolve("v0.4")).read(RUNNER)
    assert file is not None
    assert file.content == b"x = 0.4\n"
    assert notes.lines[0].startswith("cloning file://")
    assert notes.lines[-1] == "receiving objects: 100 %"
    assert sorted(path.name for path in clone.parent.iterdir()) == ["CACHEDIR.TAG", "sglang.git"]


def test_clone_is_made_once(source: Path, tmp_path: Path, notes: Any) -> None:
    clone_to_cache(source.as_uri(), tmp_path / "sglang.git", notes)
    notes.lines.clear()
    assert clone_to_cache("file:///nowhere", tmp_path / "sglang.git", notes) == tmp_path / "sglang.git"
    assert notes.lines == []


def test_old_clone_is_refreshed(source: Path, tmp_path: Path, notes: Any, git: Git) -> None:
    clone = clone_to_cache(source.as_uri(), tmp_path / "sglang.git", notes)
    git(source, "commit", "--quiet", "--allow-empty", "--message", "later")
    git(source, "tag", "v0.6.0")
    os.utime(clone / "packed-refs", (0, 0))
    clone_to_cache(source.as_uri(), clone, notes)
    with GitRepository(clone, may_fetch=True) as repository:
        assert repository.resolve("main").version == "0.6.0"


def test_refreshing_does_not_touch_the_repository_of_a_hook(
    source: Path, tmp_path: Path, notes: Any, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = clone_to_cache(source.as_uri(), tmp_path / "sglang.git", notes)
    other = tmp_path / "hook"
    git(tmp_path, "clone", "--quiet", str(source), str(other))
    git(other, "branch", "mine")
    git(source, "branch", "theirs")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    refresh_clone(clone, notes)
    monkeypatch.delenv("GIT_DIR")
    assert "mine" in git(other, "branch")
    assert "theirs" in git(clone, "branch")


def test_refresh_without_a_network_is_only_a_note(source: Path, tmp_path: Path, notes: Any) -> None:
    clone = clone_to_cache(source.as_uri(), tmp_path / "sglang.git", notes)
    source.rename(tmp_path / "gone")
    refresh_clone(clone, notes)
    assert notes.lines[-1].startswith("the clone could not be refreshed: ")


def test_failed_clone_leaves_nothing(tmp_path: Path, notes: Any) -> None:
    with pytest.raises(RepositoryError, match=r"cannot clone file:///nowhere: .*not appear to be a git repo.*--repo"):
        clone_to_cache("file:///nowhere", tmp_path / "cache/sglang.git", notes)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["CACHEDIR.TAG"]


def test_executing_url_is_refused(tmp_path: Path, notes: Any) -> None:
    with pytest.raises(RepositoryError, match="cannot clone"):
        clone_to_cache(f"ext::sh -c 'touch {tmp_path}/marker'", tmp_path / "sglang.git", notes)
    assert not (tmp_path / "marker").exists()


def test_password_is_not_shown(tmp_path: Path, notes: Any) -> None:
    with pytest.raises(RepositoryError) as caught:
        clone_to_cache("file://user:secret@localhost/nowhere", tmp_path / "sglang.git", notes)
    assert "secret" not in str([caught.value, notes.lines])


def test_folder_that_cannot_be_written(source: Path, tmp_path: Path, notes: Any) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RepositoryError, match="cannot write the clone"):
        clone_to_cache(source.as_uri(), tmp_path / "file/sglang.git", notes)


def test_without_git(source: Path, tmp_path: Path, notes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RepositoryError, match="git is not installed"):
        clone_to_cache(source.as_uri(), tmp_path / "sglang.git", notes)


def test_import_without_git() -> None:
    command = [sys.executable, "-c", "import analyzer.adapters.clone, analyzer.adapters.git"]
    root = Path(__file__).parents[2]
    subprocess.run(command, check=True, cwd=root, env={"PATH": "/nonexistent", "PYTHONPATH": str(root)})
