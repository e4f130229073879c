"""Servers that make a runner of another class: what the runner's formulas presuppose is that it is made at all."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.domain.build import conditional, conjunction, negate
from analyzer.domain.terms import UNSET, Term
from analyzer.symbolic.facts import NO_FACTS
from analyzer.symbolic.state import State


class AnotherRunnerError(Exception):
    """Another backend's runner was met: from here on only the servers in which `facts` hold are worth following."""

    def __init__(self, facts: Mapping[Term, bool]) -> None:
        super().__init__()
        self.facts = facts


class Backends:
    """Tells the servers that make `runner`, the key of a class, from those that make one of a class derived from it.

    `assumed` are guards that are known to hold, or not to, wherever the runner is made.
    """

    def __init__(self, runner: str = "", assumed: Mapping[Term, bool] | None = None) -> None:
        self._runner = runner
        self._assumed = assumed or {}
        self._paths: dict[str, Mapping[Term, bool]] = {}

    def assume(self, state: State) -> None:
        """Let `state` know what holds wherever the runner is made, and nothing else."""
        state.facts = NO_FACTS
        for guard, holds in self._assumed.items():
            state.assume(guard, holds=holds)

    def note(self, key: str, state: State) -> None:
        """A runner of the class `key` is made.

        Raises AnotherRunnerError where that tells on what it depends which runner a server makes.
        """
        self._paths.setdefault(key, state.facts.known)
        own = self._paths.get(self._runner, {})
        others = [path for other, path in self._paths.items() if other != self._runner]
        facts = {fact: holds for fact, holds in own.items() if any(path.get(fact) is (not holds) for path in others)}
        if not facts.keys() <= self._assumed.keys():
            raise AnotherRunnerError({**self._assumed, **facts})

    def where_made(self, value: Term) -> Term:
        """`value`, which is not there where a server makes the runner of another backend."""
        made = conjunction(*(fact if holds else negate(fact) for fact, holds in self._assumed.items()))
        return conditional(made, value, UNSET)
