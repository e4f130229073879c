"""Makes, and once a day refreshes, the tool's own clone of SGLang in the user's cache.

GitPython is imported here alone: it drives the clone and reads its progress.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

# Without this, importing GitPython fails where git is not installed.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

import git  # after the setting that it reads
from git.util import remove_password_if_present

from analyzer.adapters.content import printable
from analyzer.adapters.git_command import GitCommand, first_line, git_is_missing
from analyzer.adapters.store import prepare_cache
from analyzer.domain.errors import RepositoryError
from analyzer.ports import Progress

_FRESH_FOR_SECONDS: Final = 24 * 60 * 60
_REFSPECS: Final = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


def clone_to_cache(url: str, directory: Path, progress: Progress) -> Path:
    """The bare blobless clone of `url` at `directory`, made when it is not there yet.

    It appears whole or not at all, also when two runs make it at the same time.
    """
    if directory.is_dir():
        if _age(directory) > _FRESH_FOR_SECONDS:
            refresh_clone(directory, progress)
        return directory
    progress.note(f"cloning {_public(url)} into {printable(str(directory))}, once")
    try:
        prepare_cache(directory.parent)
        with tempfile.TemporaryDirectory(prefix=".clone-", dir=directory.parent) as folder:
            made = Path(folder, directory.name)
            _clone(url, made, progress)
            _settle(made, directory)
    except OSError as error:
        raise RepositoryError(
            f"cannot write the clone: {error.strerror}",
            where=printable(str(directory)),
            hint="set SGLANG_ANALYZER_CACHE to another folder, or give a clone with --repo",
        ) from error
    return directory


def refresh_clone(directory: Path, progress: Progress) -> None:
    """Fetch new branches and tags into the tool's own clone; without a network it stays as it is."""
    progress.note(f"refreshing {printable(str(directory))}")
    command = GitCommand(("--git-dir", str(directory)), may_fetch=True)
    result = command.run("fetch", "--quiet", "--prune", "--force", "origin", *_REFSPECS)
    if result.returncode:
        progress.note(f"the clone could not be refreshed: {first_line(result.stderr)}")


def _clone(url: str, directory: Path, progress: Progress) -> None:
    reporter = _Reporter(progress)
    try:
        repository = git.Repo.clone_from(
            url,
            directory,
            progress=reporter,  # type: ignore[arg-type]  # it takes one, says its docstring
            env={"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            bare=True,
            filter="blob:none",
        )
        repository.close()
    except git.GitCommandNotFound as error:
        raise git_is_missing() from error
    except git.GitError as error:
        raise RepositoryError(
            f"cannot clone {_public(url)}: {reporter.reason(error)}",
            hint="check the network, or give a clone with --repo, or use --source pypi or --source snapshot",
        ) from error


def _settle(made: Path, directory: Path) -> None:
    """Move the finished clone to its place, unless another run was faster."""
    try:
        made.rename(directory)
    except OSError:
        if not directory.is_dir():
            raise
        shutil.rmtree(made, ignore_errors=True)


class _Reporter(git.RemoteProgress):
    """Tells `Progress` about each quarter of what a clone receives; keeps what went wrong."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._said: str | None = None

    def update(
        self, op_code: int, cur_count: str | float, max_count: str | float | None = None, message: str = ""
    ) -> None:
        """Say one line when there is something new to say."""
        del message
        if op_code & self.OP_MASK != self.RECEIVING or not max_count:
            return
        line = f"receiving objects: {int(4 * float(cur_count) / float(max_count)) * 25} %"
        if line != self._said:
            self._said = line
            self._progress.note(line)

    def reason(self, error: git.GitError) -> str:
        """The line that says why git failed."""
        fatal = [line.removeprefix("fatal: ") for line in self.error_lines]
        return printable((fatal or str(error).splitlines() or ["no reason given"])[0])


def _public(url: str) -> str:
    """`url` without a password that it may carry."""
    return printable(remove_password_if_present([url])[0])


def _age(directory: Path) -> float:
    """Seconds since the clone was made or last fetched into."""
    stamps = [path for path in (directory / "FETCH_HEAD", directory / "packed-refs") if path.exists()]
    return time.time() - max((path.stat().st_mtime for path in stamps), default=0.0)
