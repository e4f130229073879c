"""The cost of the history, beside that of git's own walk over the same commits: `pytest -m benchmark -n 0`.

Set SGLANG_REPO to a clone with its tags. The long range and all releases take many minutes; ``-k short`` leaves
them out.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.support.timing import analyzer, processor_time

pytestmark = pytest.mark.benchmark

_RANGES = [
    pytest.param("v0.4.6", "v0.4.7", id="short"),
    pytest.param("v0.5.9", "v0.5.10rc0", id="newer and short"),
    pytest.param("v0.4.0", "v0.5.18", id="long"),
]


def measure(benchmark: BenchmarkFixture, cache: Path, walk: float, *command: str) -> None:
    """Run a command with an empty cache, which the table shows, and again with what that has left."""
    spent: list[float] = []

    def run() -> None:
        with processor_time(spent):
            analyzer(*command, cache=cache)

    benchmark.pedantic(run, rounds=1)  # type: ignore[no-untyped-call]  # pytest-benchmark leaves it unannotated
    run()
    cold, warm = spent
    benchmark.extra_info["cold, times git's walk"] = round(cold / walk, 1)
    benchmark.extra_info["warm, times git's walk"] = round(warm / walk, 1)
    benchmark.extra_info["git's walk, s of processor time"] = round(walk, 2)


def walk(clone: Path, base: str, head: str) -> float:
    """The processor time of git, listing what each commit changed."""
    spent: list[float] = []
    with processor_time(spent):
        subprocess.run(
            ["git", "-C", str(clone), "log", "--first-parent", "--raw", f"{base}..{head}", "--", "python/sglang"],
            check=True,
            capture_output=True,
        )
    return spent[0]


@pytest.mark.parametrize(("base", "head"), _RANGES)
def test_a_log_against_the_walk(benchmark: BenchmarkFixture, clone: Path, tmp_path: Path, base: str, head: str) -> None:
    measure(benchmark, tmp_path, walk(clone, base, head), "log", base, head, "--repo", str(clone))


def test_every_release_against_the_walk(benchmark: BenchmarkFixture, clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    command = ("snapshot", "--all", "--repo", str(clone), "-o", str(folder))
    measure(benchmark, tmp_path, walk(clone, "v0.1.6", "v0.5.18"), *command)
