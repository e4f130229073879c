"""The use case of `snapshot`: store the formulas of refs as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from analyzer.domain.errors import AnalyzerError
from analyzer.domain.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class WrittenSnapshot:
    """One ref, and where its snapshot is or why there is none."""

    ref: str
    path: str | None
    error: AnalyzerError | None = None


def write_snapshots(
    refs: Iterable[str],
    analyse: Callable[[str], Snapshot],
    write: Callable[[Snapshot], str],
) -> Iterator[WrittenSnapshot]:
    """Write one file per ref; a ref that fails does not stop the others."""
    for ref in refs:
        try:
            yield WrittenSnapshot(ref, write(analyse(ref)))
        except AnalyzerError as error:
            yield WrittenSnapshot(ref, None, error)
