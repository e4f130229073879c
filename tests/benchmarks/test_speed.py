"""Speed, as ratios within one run: `pytest -m benchmark -n 0`, with a clone of SGLang in SGLANG_REPO.

A ratio says the same on every machine, so the processor time of a command is set against that of something
known. pytest-benchmark's table has the absolute times.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import libcst
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from analyzer.adapters.git import GitRepository
from analyzer.adapters.rules import load_rules
from analyzer.application.extract import extract
from analyzer.domain.rules import RUNNER
from tests.support.timing import analyzer, processor_time

pytestmark = pytest.mark.benchmark

_REFS = ("v0.4", "main")


def _parsing(clone: Path) -> tuple[float, float]:
    """What libcst takes to parse the files on the value paths of both refs, and all files that were read."""
    on_paths = read = 0.0
    with GitRepository(clone) as repository:
        for ref in _REFS:
            tree = repository.tree(repository.resolve(ref))
            extraction = extract(tree, load_rules(), RUNNER)
            hops = {hop.path for hop in extraction.hops}
            for path in (path for path, blob in extraction.manifest.items() if blob is not None):
                file = tree.read(path)
                assert file is not None
                before = time.process_time()
                libcst.parse_module(file.content)
                spent = time.process_time() - before
                read += spent
                on_paths += spent * (tree.display_path(path) in hops)
    return on_paths, read


def test_a_cold_diff_against_parsing(benchmark: BenchmarkFixture, clone: Path, tmp_path: Path) -> None:
    spent: list[float] = []

    def cold() -> None:
        with processor_time(spent):
            analyzer("diff", *_REFS, "--repo", str(clone), "--no-cache", cache=tmp_path)

    benchmark.pedantic(cold, rounds=1)  # type: ignore[no-untyped-call]  # pytest-benchmark leaves it unannotated
    on_paths, read = _parsing(clone)
    benchmark.extra_info["times libcst's parse of the files on both paths"] = round(spent[0] / on_paths, 2)
    benchmark.extra_info["times libcst's parse of all files read"] = round(spent[0] / read, 2)


@pytest.mark.parametrize("arguments", [("diff", *_REFS, "--repo", "CLONE"), ("--help",)], ids=["warm diff", "help"])
def test_a_warm_command_against_a_bare_interpreter(
    benchmark: BenchmarkFixture, clone: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    command = [str(clone) if argument == "CLONE" else argument for argument in arguments]
    analyzer(*command, cache=tmp_path)
    spent: list[float] = []

    def warm() -> None:
        with processor_time(spent):
            analyzer(*command, cache=tmp_path)

    benchmark(warm)
    bare: list[float] = []
    for _ in range(5):
        with processor_time(bare):
            subprocess.run([sys.executable, "-c", ""], check=False)
    benchmark.extra_info["times a bare interpreter"] = round(min(spent) / min(bare), 2)
