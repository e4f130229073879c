"""A run that is killed, interrupted or not alone costs time, never a wrong answer."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.history.conftest import Repository

_COMMITS = 12


@pytest.fixture
def history(repository: Repository) -> Repository:
    """More commits than one process looks at by itself."""
    for number in range(_COMMITS):
        repository.commit(f"Number {number}", cell=f"return self.model_config.head_dim * {number % 4 + 1}")
    return repository


@pytest.fixture
def cache() -> Path:
    """Where the program keeps what it found."""
    return Path(os.environ["SGLANG_ANALYZER_CACHE"])


def start(history: Repository, *options: str) -> subprocess.Popen[str]:
    """Start `analyzer log` over the whole history."""
    command = [sys.executable, "-m", "analyzer", "log", f"main~{_COMMITS - 1}", "main", "--repo", str(history.folder)]
    return subprocess.Popen(
        [*command, "--format", "json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def answer(run: subprocess.Popen[str]) -> str:
    """What a run that ends by itself prints."""
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    return out


def test_a_run_that_was_killed_leaves_nothing_wrong_behind(history: Repository, cache: Path) -> None:
    expected = answer(start(history, "--no-cache"))
    assert expected.count('"sha"') == _COMMITS - 1
    for seconds in (0.5, 1.2, 1.8, 2.4, 3.0):
        run = start(history)
        time.sleep(seconds)
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    assert damaged(cache) == []
    assert answer(start(history)) == expected
    assert answer(start(history)) == expected, "from the cache"


@pytest.mark.exhaustive
def test_fifty_kills_at_random_points_leave_nothing_wrong_behind(history: Repository, cache: Path) -> None:
    began = time.monotonic()
    expected = answer(start(history))
    cold = time.monotonic() - began
    chance = random.Random(0)  # noqa: S311 - no secret: the same points every time
    for killed in range(1, 51):
        if killed % 5 == 1:
            shutil.rmtree(cache)
        runs = [start(history) for _ in range(chance.choice([1, 1, 2]))]
        time.sleep(chance.uniform(0, cold))
        for run in runs:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
        assert damaged(cache) == []
        if killed % 5 == 0:
            assert answer(start(history)) == expected, f"after {killed} kills"


def damaged(cache: Path) -> list[Path]:
    """The entries of a cache that are not what was written."""
    entries = [path for path in cache.glob("*/*/*") if path.is_file() and not path.name.startswith(".new-")]
    return [path for path in entries if path.read_bytes()[4:36] != hashlib.sha256(path.read_bytes()[36:]).digest()]


def test_two_runs_at_once_agree(history: Repository) -> None:
    runs = [start(history) for _ in range(2)]
    one, other = map(answer, runs)
    assert one == other


def test_an_interrupt_ends_every_process_with_130(history: Repository) -> None:
    run = start(history)
    time.sleep(2)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 130
    assert "Traceback" not in err
    assert _all_gone(run.pid)


def test_workers_end_with_the_process_that_started_them(history: Repository) -> None:
    run = start(history)
    time.sleep(2.5)
    run.kill()
    run.communicate(timeout=20)
    assert _all_gone(run.pid)


def _all_gone(group: int) -> bool:
    """Whether no process of a group is left, a few seconds later at most."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
