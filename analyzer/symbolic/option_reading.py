"""Reading the fraction off a finished run of the options: its default, and what becomes of a user's value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzer.domain.build import apply, conditional, disjunction, rewrite
from analyzer.domain.extraction import Formula
from analyzer.domain.scenario import CAPACITY, DEFAULT_FRACTION, GIVEN_FRACTION, USER_FRACTION
from analyzer.domain.terms import FALSE, NONE, Term, children, raising, symbol, walk
from analyzer.symbolic.failures import fails_on_none
from analyzer.symbolic.interpreter import Run
from analyzer.symbolic.reading import Reading


class OptionReading(Reading):
    """The formulas of one run of the options."""

    def __init__(self, run: Run, sink: str, beside: Sequence[str], display: Callable[[str], str]) -> None:
        """`beside` are the options in which the start fails when it fails on the capacity of the device."""
        super().__init__(run, sink, "", display)
        self._beside = beside
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
        self._add_with_error(default)
        self._parts[default] = symbol(DEFAULT_FRACTION)
        self._define(GIVEN_FRACTION, conditional(unset, symbol(DEFAULT_FRACTION), given))
        self._read_inputs()

    def _add_with_error(self, default: Term) -> None:
        """The default, and what stops the server while it sets the options beside it."""
        terms = [self._named(self._run.option_value(name)) for name in self._beside]
        fails = disjunction(*(fails_on_none(term, frozenset({CAPACITY})) for term in terms))
        error = conditional(fails, raising("TypeError"), NONE)
        if error is NONE:
            self._add(DEFAULT_FRACTION, default)
            return
        self._find_places()
        reading = [node for node in walk(*terms) if symbol(CAPACITY) in children(node) and node in self._places]
        self._add(DEFAULT_FRACTION, default, error=error, extra=tuple(self._places[node] for node in reading))

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
