"""Reading off a finished run of the options what each of those that the sizing reads is set to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzer.domain.build import without_raises
from analyzer.domain.extraction import Formula
from analyzer.domain.scenario import GIVEN_FRACTION, USER_FRACTION
from analyzer.domain.terms import symbol
from analyzer.symbolic.interpreter import Run
from analyzer.symbolic.reading import Reading


class SettingReading(Reading):
    """What the runner gets for each option, of one run of the options."""

    def __init__(self, run: Run, options: Sequence[str], display: Callable[[str], str]) -> None:
        """`options` are those to read."""
        super().__init__(run, "", "", display)
        self._options = options
        self._names[symbol(GIVEN_FRACTION)] = symbol(USER_FRACTION)

    def read(self) -> None:
        """Fill `definitions` with what each option is set to."""
        for option in self._options:
            given = self._machine.options.given(option)
            if given is None:
                continue
            # Who does not start gets no other setting.
            value = without_raises(self._named(self._run.option_value(option)))
            rule = self._machine.rules.symbols.get(given.name)
            unit = rule.unit if rule is not None else "1"
            term = self._write(value)
            self.definitions[given.name] = Formula(term, unit, unit, None, option, self._locations(value))
