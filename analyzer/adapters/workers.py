"""Runs independent tasks on all processors."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

# What a forked process finds here is what its parent had when it was made: terms are unique in one process and
# cannot be sent to another one.
_tasks: Sequence[Callable[[], Any]] = ()


def run_all(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results of `tasks`, in their order; the first error is raised.

    Only results cross between processes. Where processes cannot be forked, the tasks run one after the other.
    """
    global _tasks  # noqa: PLW0603 - the only way to hand over what cannot be sent
    count = min(os.cpu_count() or 1, len(tasks))
    if count < 2 or "fork" not in multiprocessing.get_all_start_methods():  # noqa: PLR2004 - one is no parallel
        return [task() for task in tasks]
    _tasks = tasks
    try:
        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork")) as pool:
            return list(pool.map(_run, range(len(tasks))))
    finally:
        _tasks = ()


def _run(index: int) -> Any:
    return _tasks[index]()
