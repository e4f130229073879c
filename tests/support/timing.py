"""What a command costs, for the benchmarks."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def analyzer(*arguments: str, cache: Path) -> None:
    """Run the program with a cache of its own."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    subprocess.run([sys.executable, "-m", "analyzer", *arguments], check=False, capture_output=True, env=environment)


@contextmanager
def processor_time(spent: list[float]) -> Iterator[None]:
    """Append what child processes use up inside the block."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
