"""What was opened before a process was forked can be read on both sides."""

from __future__ import annotations

import hashlib
import os
import signal
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from analyzer.adapters.git import GitRepository
from analyzer.adapters.wheel import ArchiveSource
from analyzer.adapters.workers import run_all
from analyzer.domain.errors import WorkerError
from analyzer.domain.source import Revision
from analyzer.ports import SourceTree
from tests.adapters.conftest import Git

_FILES = {f"sglang/srt/part_{number}.py": f"VALUE = {number}\n" * 4000 for number in range(60)}


def _digest(tree: SourceTree, paths: Sequence[str]) -> str:
    contents = (tree.read(path) for path in paths)
    return hashlib.sha256(b"".join(file.content for file in contents if file is not None)).hexdigest()


def _check(tree: SourceTree) -> None:
    assert tree.read("sglang/srt/part_0.py") is not None
    paths = sorted(_FILES)
    expected = hashlib.sha256("".join(_FILES[path] for path in paths).encode()).hexdigest()
    assert run_all([partial(_digest, tree, paths)] * 4) == [expected] * 4
    assert _digest(tree, paths) == expected


def test_forked_processes_read_one_wheel_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "sglang-0.5.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _FILES.items():
            archive.writestr(name, text)
    _check(ArchiveSource(path).tree(Revision("w", "w", "w")))


def test_forked_processes_read_one_clone_at_the_same_time(tmp_path: Path, git: Git) -> None:
    for name, text in _FILES.items():
        path = tmp_path / "python" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    with GitRepository(tmp_path) as repository:
        _check(repository.tree(repository.resolve("HEAD")))


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_end_of_a_worker_is_one_line() -> None:
    with pytest.raises(WorkerError, match="a worker process was ended from outside"):
        run_all([_end, _end])
