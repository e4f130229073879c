"""Processes that follow the history of a formula, each with sources, rules and a cache of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from analyzer.adapters.workers import end_quietly, noticing_the_end_of_a_worker
from analyzer.application.history.line import Followed
from analyzer.application.history.log import Step, Task
from analyzer.application.scope import Scope
from analyzer.domain.history import Found
from analyzer.domain.report import Change
from analyzer.ports import Progress

if TYPE_CHECKING:
    from analyzer.api.workspace import Options, Workspace
    from analyzer.application.history.comparing import StepComparisons
    from analyzer.application.history.extraction import CommitExtractions
    from analyzer.application.history.fingerprint import Sources
    from analyzer.application.snapshot import WrittenSnapshot

# A worker imports what it needs when it works: the command that starts it does not.
# ruff: noqa: PLC0415

# Starting processes takes longer than looking at so many commits.
_FEW: Final = 12
# What each worker does before it is replaced: it then takes about 500 MiB.
_TASKS: Final = 6

T = TypeVar("T")
R = TypeVar("R")


class Worker:
    """Does the tasks of one process."""

    def __init__(self, workspace: Workspace, scope: Scope) -> None:
        self._workspace = workspace
        self._scope = scope

    def follow(self, task: Task) -> Followed:
        """What is found along one stretch from one root."""
        from analyzer.application.history.chain import Chain

        def extract(sha: str, afresh: bool) -> Found:  # noqa: FBT001 - as a chain calls it
            return self._extractions.extract(task.root, sha, afresh=afresh)

        chain = Chain(self._sources, extract, cautious=task.cautious)
        points = tuple(chain.follow(task.stretch.start, task.stretch.commits))
        return Followed(points, chain.extracted)

    def compare(self, step: Step) -> tuple[Change, ...]:
        """What one commit changed."""
        return self._comparisons.changes(step)

    def write(self, task: tuple[str, Path]) -> WrittenSnapshot:
        """The snapshot of one ref, written into a folder."""
        ref, folder = task
        (written,) = self._workspace.write_snapshots((ref,), folder)
        return written

    @cached_property
    def _sources(self) -> Sources:
        from analyzer.application.history.fingerprint import Sources

        return Sources(self._workspace.clone.source)

    @cached_property
    def _extractions(self) -> CommitExtractions:
        return self._workspace.commit_extractions(self._sources.index)

    @cached_property
    def _comparisons(self) -> StepComparisons:
        return self._workspace.step_comparisons(self._scope)


_worker: Worker | None = None


def _start(options: Options, scope: Scope) -> None:
    """Make this process a worker; an interrupt ends it without a word, one that came before as well."""
    import gc

    from analyzer.api.workspace import Workspace

    end_quietly()
    gc.set_threshold(200_000, 20, 100)
    global _worker  # noqa: PLW0603 - a process has one worker, and its pool can hand it no other way
    _worker = Worker(Workspace(options), scope)


def _do(work: Callable[[Worker, T], R], task: T) -> R:
    assert _worker is not None
    return work(_worker, task)


class WorkerPool:
    """As many workers as there are processors, started when there is enough work."""

    def __init__(self, workspace: Workspace, options: Options, scope: Scope) -> None:
        """`workspace` is that of this process, which does small jobs itself."""
        from analyzer.api.workspace import Silent

        self._own = Worker(workspace, scope)
        self._progress: Progress = options.progress
        self._options = replace(options, progress=Silent())
        self._scope = scope

    def follow(self, tasks: Sequence[Task]) -> list[Followed]:
        """What is found along stretches."""
        return self._run(Worker.follow, tasks, [len(task.stretch.commits) + 1 for task in tasks], "following commits")

    def compare(self, steps: Sequence[Step]) -> list[tuple[Change, ...]]:
        """What the steps changed."""
        return self._run(Worker.compare, steps, [1] * len(steps), "comparing formulas")

    def write(self, refs: Sequence[str], folder: Path) -> list[WrittenSnapshot]:
        """The snapshots of `refs`, written into `folder`."""
        tasks = [(ref, folder) for ref in refs]
        return self._run(Worker.write, tasks, [1] * len(tasks), "extracting releases")

    def _run(self, work: Callable[[Worker, T], R], tasks: Sequence[T], sizes: Sequence[int], label: str) -> list[R]:
        """The results of all tasks, in their order."""
        if sum(sizes) <= _FEW:
            return [work(self._own, task) for task in tasks]
        results: dict[int, R] = {}
        done = estimates(self._rounds(work, tasks, results), sizes)
        for _ in self._progress.track(done, len(tasks), label):
            pass
        return [results[number] for number in range(len(tasks))]

    def _rounds(self, work: Callable[[Worker, T], R], tasks: Sequence[T], results: dict[int, R]) -> Iterator[int]:
        """The numbers of the tasks as they are done, and their `results`.

        The last tasks come first: newer code takes longer, and nobody is to wait for a long one at the end. Workers
        are replaced now and then, since what they keep to be fast adds up.
        """
        order = list(reversed(range(len(tasks))))
        count = os.cpu_count() or 1
        for start in range(0, len(order), count * _TASKS):
            # A fork would share open pipes and locks with its parent.
            context = multiprocessing.get_context("spawn")
            others = multiprocessing.active_children()
            executor = ProcessPoolExecutor(count, context, initializer=_start, initargs=(self._options, self._scope))
            try:
                with noticing_the_end_of_a_worker(), _uninterrupted():
                    chosen = order[start : start + count * _TASKS]
                    futures = {executor.submit(_do, work, tasks[number]): number for number in chosen}
                for future in as_completed(futures):
                    with noticing_the_end_of_a_worker():
                        results[futures[future]] = future.result()
                    yield futures[future]
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                for process in multiprocessing.active_children():
                    if process not in others:
                        process.terminate()
                raise
            executor.shutdown()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold back interrupts: a process that is only starting, and inherits that, would show where it was."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def estimates(done: Iterable[int], sizes: Sequence[int]) -> Iterator[str]:
    """How long the rest will take, by how long what is `done` took; `sizes` are those of all tasks."""
    began, finished, total = time.monotonic(), 0, sum(sizes)
    for number in done:
        finished += sizes[number]
        yield f"about {(time.monotonic() - began) / finished * (total - finished):.0f} s left"
