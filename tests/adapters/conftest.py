"""Repositories that the tests make for themselves, with git, in temporary folders."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Files = Mapping[str, str | bytes]
Git = Callable[..., str]

MODEL_RUNNER = "python/sglang/srt/model_executor/model_runner.py"
RELEASES: Mapping[str, Files] = {
    "v0.3.0": {MODEL_RUNNER: "x = 0.3\n", "python/sglang/__init__.py": "", "README.md": "hello\n"},
    "v0.4.0": {MODEL_RUNNER: "x = 0.4\n"},
    "v0.5.0": {MODEL_RUNNER: "x = 0.5\n", "python/sglang/srt/new.py": "y = 1\n"},
}


class Notes:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, message: str) -> None:
        self.lines.append(message)

    def track(self, items: list[str], total: int, label: str) -> list[str]:
        del total, label
        return items


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture(autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings and the clone of whoever runs the tests out of them."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "SGLANG_"))]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text("[user]\n name = A\n email = a@example.org\n[init]\n defaultBranch = main\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def git() -> Git:
    """Run git in a folder and return what it prints."""

    def run(folder: Path, *arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    return run


@pytest.fixture
def make_repository(tmp_path: Path, git: Git) -> Callable[..., Path]:
    """Make a repository with one commit and one tag for each entry of `releases`."""

    def make(releases: Mapping[str, Files] = RELEASES, name: str = "source") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        git(folder, "init", "--quiet")
        for tag, files in releases.items():
            write_files(folder, files)
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "--message", tag)
            git(folder, "tag", tag)
        git(folder, "config", "uploadpack.allowFilter", "true")
        return folder

    return make


@pytest.fixture
def source(make_repository: Callable[..., Path]) -> Path:
    """A small SGLang with three releases."""
    return make_repository()


@pytest.fixture
def write() -> Callable[[Path, Files], None]:
    return write_files


@pytest.fixture
def state_of() -> Callable[[Path], dict[str, tuple[int, int, bytes]]]:
    """Everything that a write below a folder would change."""

    def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
        paths = sorted(folder.rglob("*"))
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in [folder, *paths]
        }

    return state


def write_files(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
