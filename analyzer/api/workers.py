"""Processes that follow the history of a formula, each with sources, rules and a cache of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from analyzer.application.history.line import Followed
from analyzer.application.history.log import Step, Task
from analyzer.application.scope import Scope
from analyzer.domain.report import Change
from analyzer.ports import Progress

if TYPE_CHECKING:
    from analyzer.api.workspace import Options, Workspace
    from analyzer.application.history.comparing import StepComparisons
    from analyzer.application.history.extraction import CommitExtractions
    from analyzer.application.history.fingerprint import Sources

# A worker imports what it needs when it works: the command that starts it does not.
# ruff: noqa: PLC0415

# Starting processes takes longer than looking at so many commits.
_FEW: Final = 12

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

        chain = Chain(self._sources, lambda sha: self._extractions.extract(task.root, sha), cautious=task.cautious)
        points = tuple(chain.follow(task.stretch.start, task.stretch.commits))
        return Followed(points, chain.extracted)

    def compare(self, step: Step) -> tuple[Change, ...]:
        """What one commit changed."""
        return self._comparisons.changes(step)

    @cached_property
    def _sources(self) -> Sources:
        from analyzer.application.history.fingerprint import Sources

        return Sources(self._workspace.clone.source)

    @cached_property
    def _extractions(self) -> CommitExtractions:
        return self._workspace.commit_extractions()

    @cached_property
    def _comparisons(self) -> StepComparisons:
        return self._workspace.step_comparisons(self._scope)


_worker: Worker | None = None


def _start(options: Options, scope: Scope) -> None:
    """Make this process a worker; an interrupt ends it without a word."""
    import gc

    from analyzer.api.workspace import Workspace

    signal.signal(signal.SIGINT, signal.SIG_DFL)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        executor = self.__dict__.get("_executor")
        if executor is None:
            return
        executor.shutdown(wait=kind is None, cancel_futures=True)
        if kind is not None:
            for process in multiprocessing.active_children():
                process.terminate()

    @cached_property
    def _executor(self) -> ProcessPoolExecutor:
        # A fork would share open pipes and locks with its parent.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(os.cpu_count(), context, initializer=_start, initargs=(self._options, self._scope))

    def follow(self, tasks: Sequence[Task]) -> list[Followed]:
        """What is found along stretches."""
        return self._run(Worker.follow, tasks, [len(task.stretch.commits) + 1 for task in tasks], "following commits")

    def compare(self, steps: Sequence[Step]) -> list[tuple[Change, ...]]:
        """What the steps changed."""
        return self._run(Worker.compare, steps, [1] * len(steps), "comparing formulas")

    def _run(self, work: Callable[[Worker, T], R], tasks: Sequence[T], sizes: Sequence[int], label: str) -> list[R]:
        if sum(sizes) <= _FEW:
            return [work(self._own, task) for task in tasks]
        futures = [self._executor.submit(_do, work, task) for task in tasks]
        numbers = {future: number for number, future in enumerate(futures)}
        for _ in self._progress.track(estimates(as_completed(futures), numbers, sizes), len(futures), label):
            pass
        return [future.result() for future in futures]


def estimates(done: Iterable[Future[Any]], numbers: dict[Future[Any], int], sizes: Sequence[int]) -> Iterator[str]:
    """How long the rest will take, by what took how long so far; the first failure is raised."""
    import time

    began, finished, total = time.monotonic(), 0, sum(sizes)
    for future in done:
        future.result()
        finished += sizes[numbers[future]]
        seconds = (time.monotonic() - began) / finished * (total - finished)
        yield f"about {seconds:.0f} s left"
