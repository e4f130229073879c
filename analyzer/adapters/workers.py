"""Runs independent tasks on all processors."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from analyzer.domain.errors import WorkerError

Result = TypeVar("Result")

# What a forked process finds here is what its parent had when it was made: terms are unique in one process and
# cannot be sent to another one.
_tasks: Sequence[Callable[[], Any]] = ()


def run_all(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results of `tasks`, in their order; the first error is raised.

    Only results cross between processes. Where processes cannot be forked, and in one that is a worker itself, the
    tasks run one after the other.
    """
    global _tasks  # noqa: PLW0603 - the only way to hand over what cannot be sent
    count = min(os.cpu_count() or 1, len(tasks))
    is_worker = multiprocessing.parent_process() is not None
    if count < 2 or is_worker or "fork" not in multiprocessing.get_all_start_methods():  # noqa: PLR2004 - one is no parallel
        return [task() for task in tasks]
    _tasks = tasks
    try:
        with (
            noticing_the_end_of_a_worker(),
            ProcessPoolExecutor(count, multiprocessing.get_context("fork"), initializer=end_quietly) as pool,
        ):
            return list(pool.map(_run, range(len(tasks))))
    finally:
        _tasks = ()


@contextmanager
def noticing_the_end_of_a_worker() -> Iterator[None]:
    """Say so when a process of a pool is gone, as the system ends one for want of memory. Raises WorkerError."""
    try:
        yield
    except BrokenProcessPool as error:
        what = "a worker process was ended from outside"
        raise WorkerError(what, hint="look for want of memory, and try again: what is done is remembered") from error


def _run(index: int) -> Any:
    return _tasks[index]()


def end_quietly() -> None:
    """Let an interrupt end this process without a word, and the end of the one that it works for as well."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
