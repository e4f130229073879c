"""Reading the fraction off a finished run of the options: its default, and what becomes of a user's value."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.domain.build import apply, conditional, rewrite
from analyzer.domain.extraction import Formula
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION, USER_FRACTION
from analyzer.domain.terms import FALSE, NONE, Term, symbol
from analyzer.symbolic.interpreter import Run
from analyzer.symbolic.reading import Reading


class OptionReading(Reading):
    """The formulas of one run of the options."""

    def __init__(self, run: Run, sink: str, display: Callable[[str], str]) -> None:
        super().__init__(run, sink, "", display)
        self._names[symbol(GIVEN_FRACTION)] = symbol(USER_FRACTION)
        world = run.machine.world
        if GIVEN_FRACTION in world.input_sources:
            world.input_sources[USER_FRACTION] = world.input_sources.pop(GIVEN_FRACTION)
            world.input_defaults[USER_FRACTION] = world.input_defaults.pop(GIVEN_FRACTION)

    def read(self) -> None:
        """Fill `quantities`, `definitions` and `inputs`."""
        handed = self._named(self._run.option_value(self._sink))
        user = symbol(USER_FRACTION)
        unset = apply("is", user, NONE)
        default = self._with(handed, user, NONE)
        given = self._with(handed, unset, FALSE)
        self.values = [handed]
        self._add(DEFAULT_FRACTION, default)
        self._parts[default] = symbol(DEFAULT_FRACTION)
        self._define(GIVEN_FRACTION, conditional(unset, symbol(DEFAULT_FRACTION), given))
        self._read_inputs()

    def _with(self, term: Term, known: Term, value: Term) -> Term:
        """`term` where `known` is worth `value`; what is left of an operation is written where it was."""
        changed: dict[Term, Term] = {}
        found = rewrite(term, lambda node: value if node is known else None, changed)
        origins = self._machine.world.origins
        for before, after in changed.items():
            if before in origins and origins[before].path:
                self._places.setdefault(after, origins[before])
        return found

    def _define(self, name: str, term: Term) -> None:
        unit = self._machine.rules.symbols[name].unit
        cleaned = self._write(term)
        self.definitions[name] = Formula(cleaned, unit, unit, None, self._sink, self._locations(term))
