"""Mod/ref analysis in time: a write matters while somebody still reads what it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from analyzer.domain.relevance import Position
from analyzer.flow.relevance import ModRef

ALWAYS: Final[Position] = (1 << 31,)


class Schedule:
    """What matters at each position, for attributes that are read for the last time at a known one.

    `until` gives that position for each attribute of `relevant`; `make` builds the analysis of some of them.
    """

    def __init__(
        self,
        relevant: Mapping[str, frozenset[str]],
        until: Mapping[str, Position],
        make: Callable[[Mapping[str, frozenset[str]]], ModRef],
    ) -> None:
        self._relevant = relevant
        self._until = until
        self._make = make
        self._views: dict[frozenset[str], ModRef] = {}
        self._at: dict[Position, ModRef] = {}

    @property
    def timed(self) -> bool:
        """Whether what matters depends on the position."""
        return True

    def view(self, position: Position) -> ModRef:
        """What matters at `position`."""
        if position not in self._at:
            live = frozenset(name for name in self._relevant if self._until.get(name, ALWAYS) >= position)
            if live not in self._views:
                self._views[live] = self._make({name: self._relevant[name] for name in live})
            self._at[position] = self._views[live]
        return self._at[position]
