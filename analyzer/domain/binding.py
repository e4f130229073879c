"""Binding a formula's inputs to values: a case, its scenario, the release's defaults, ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analyzer.domain.extraction import Extraction
from analyzer.domain.iteration import ITERATIONS, iterate
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import defaults, in_result_unit
from analyzer.domain.semantics import Evaluator, MissingInputError, Off, RaisedError, Value
from analyzer.domain.terms import Opaque, Symbol, Term, symbol


def candidates(name: str, extraction: Extraction, rules: RuleSet) -> Iterator[Term]:
    """What can give `name` its value when no case and no scenario does, in the order in which it is tried."""
    if name in extraction.quantities:
        yield in_result_unit(extraction.quantities[name])
    if name in extraction.definitions:
        yield extraction.definitions[name].term
    yield from defaults(name, extraction, rules)


def is_missed(name: str, rules: RuleSet) -> bool:
    """Whether the lack of `name` is an error; an object has no value, and what nobody declares is an option."""
    return name in rules.symbols and rules.symbols[name].domain.kind not in ("object", "record")


class Binding:
    """A lookup for `evaluate`: what every symbol of one extraction is worth in one case.

    A symbol takes, in this order: the case's value; the scenario's; its own formula in this
    release; the release's default; the default declared in the rules. A declared symbol with
    none of these is missing; anything undeclared is an option that is off.
    """

    def __init__(
        self,
        extraction: Extraction,
        rules: RuleSet,
        scenario: Mapping[str, Value],
        case: Mapping[str, Value],
        evaluator: Evaluator | None = None,
    ) -> None:
        """`evaluator` shares what it has compiled between bindings."""
        self._extraction = extraction
        self._rules = rules
        self._given = {**scenario, **case}
        self._evaluator = evaluator or Evaluator()
        self._known: dict[str, Value] = {}
        self._pending: set[str] = set()
        self._computed: dict[Term, Value] = {}
        self._missing: frozenset[str] = frozenset()

    def without(self, names: frozenset[str]) -> Binding:
        """The same binding, where nobody says what `names` are."""
        if not names:
            return self
        given = {name: value for name, value in self._given.items() if name not in names}
        other = Binding(self._extraction, self._rules, given, {}, self._evaluator)
        other._missing = names
        return other

    def value(self, term: Term) -> Value:
        """The value of `term` under this binding."""
        return self._evaluator.value(term, self, self._computed)

    def __call__(self, term: Symbol | Opaque) -> Value:
        """The value of one input."""
        if isinstance(term, Opaque):
            return iterate(term, self, self._evaluator) if term.name in ITERATIONS else Off(term.name)
        name = term.name
        if name in self._missing:
            raise MissingInputError(name)
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def is_declared(self, name: str) -> bool:
        """Whether a case may give `name`: a symbol or a quantity of the rules."""
        return name in self._rules.symbols or name in self._rules.quantities

    def known(self, name: str) -> Value:
        """What the input `name` is worth, None when nothing gives it a value."""
        try:
            value = self(symbol(name))
        except MissingInputError:
            return None
        return None if isinstance(value, Off) else value

    def _find(self, name: str) -> Value:
        if name in self._given:
            return self._given[name]
        raised: RaisedError | None = None
        found = Off(name)
        for candidate in candidates(name, self._extraction, self._rules):
            try:
                value = self._try(name, candidate)
            except RaisedError as error:
                raised = raised or error
                continue
            if not isinstance(value, Off):
                return value
            if self._rules.is_record(symbol(value.name)):
                # Another name for a record that nobody gave: the two are one and the same.
                found = value
        if raised is not None:
            raise raised
        if is_missed(name, self._rules):
            raise MissingInputError(name)
        return found

    def _try(self, name: str, candidate: Term) -> Value:
        """`candidate`'s value, or OFF when it needs something that is not known either. Raises RaisedError."""
        if name in self._pending:
            return Off(name)
        self._pending.add(name)
        try:
            return self.value(candidate)
        except MissingInputError:
            return Off(name)
        finally:
            self._pending.discard(name)
