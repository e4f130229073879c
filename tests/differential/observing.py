"""Reads local variables of the releases' functions while they run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from tests.differential.loading import SOURCE_PREFIX


@dataclass
class Observation:
    """The last seen locals and results of every release function that returned or raised, by function name."""

    frames: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)

    def local(self, name: str, *functions: str) -> Any:
        """Variable `name` of the first of `functions` that ran and has it, else None."""
        for function in functions:
            value = self.frames.get(function, {}).get(name)
            if value is not None:
                return value
        return None

    def failed(self, *functions: str) -> bool:
        """Whether one of `functions`, which return a value, ran and ended in an exception."""
        return any(function in self.results and self.results[function] is None for function in functions)


@contextmanager
def observed() -> Iterator[Observation]:
    """Record the releases' frames inside the block."""
    seen = Observation()

    def on_event(frame: FrameType, event: str, argument: object) -> None:
        # Fires on exceptions too, so values computed before an error are kept.
        if event == "return" and frame.f_code.co_filename.startswith(SOURCE_PREFIX):
            seen.frames[frame.f_code.co_name] = dict(frame.f_locals)
            seen.results[frame.f_code.co_name] = argument

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        yield seen
    finally:
        sys.setprofile(before)
