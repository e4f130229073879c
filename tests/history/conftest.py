"""A made-up repository of SGLang's shape, one commit after the other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.project import minimal_project
from tests.support.releases import CACHE_VARIABLE, cache_folder


class Repository:
    """A clone in a temporary folder; each commit is the minimal project with other parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self._clock = 1_700_000_000

    def git(self, *arguments: str) -> str:
        """What one git command prints."""
        return subprocess.run(
            ["git", "-C", str(self.folder), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(
        self, subject: str, files: Mapping[str, str | None] | None = None, /, tag: str = "", **parts: str
    ) -> str:
        """Commit the project with some `parts`, and with `files` below ``python/``; None deletes one."""
        written: dict[str, str | None] = {
            **minimal_project(**parts),
            **(files or {}),
        }
        for name, text in written.items():
            path = self.folder / "python" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text)
        return self.record(subject, tag)

    def record(self, subject: str, tag: str = "") -> str:
        """Commit what is on disk; every commit is a minute younger than the one before."""
        self._clock += 60
        date = f"{self._clock} +0000"
        self.git("add", "--all")
        environment = os.environ | {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
        command = ["git", "-C", str(self.folder), "commit", "--quiet", "--allow-empty", "--message", subject]
        subprocess.run(command, check=True, capture_output=True, env=environment)
        if tag:
            self.git("tag", tag)
        return self.git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings, the clone and the cache of whoever runs the tests out of them."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    # Wheels are kept where they are for every other test.
    monkeypatch.setenv(CACHE_VARIABLE, str(cache_folder().parent))
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text("[user]\n name = A\n email = a@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("SGLANG_ANALYZER_CACHE", str(home / "cache"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty repository."""
    folder = tmp_path / "clone"
    folder.mkdir()
    return Repository(folder)
