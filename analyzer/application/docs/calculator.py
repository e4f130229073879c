"""The formulas of a release as data that a page can evaluate as `eval` does."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.application.docs.pages import Program, ScenarioFormula, ScenarioProgram
from analyzer.application.evaluate import guesses
from analyzer.domain.binding import candidates, is_missed
from analyzer.domain.effect import Server
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import in_result_unit, scenario_inputs, scenario_values
from analyzer.domain.terms import (
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    post_order,
    symbol,
    symbols_of,
)


def build_program(
    extraction: Extraction, rules: RuleSet, formulas: Sequence[ScenarioFormula], servers: Sequence[Server]
) -> Program:
    """Every quantity, and for the scenario of each of `formulas` what it fixes and what its steps read first."""
    nodes = _Nodes()
    results = {name: _roots(formula, nodes) for name, formula in extraction.quantities.items()}
    names = _names(extraction, rules, nodes)
    given = {server.scenario: server.inputs for server in reversed(servers)}
    scenarios = {
        scenario: ScenarioProgram(
            fixed=scenario_values(rules, scenario),
            open=tuple(sorted(scenario_inputs(rules, scenario))),
            shown=tuple(step.name for step in formula.steps if step.name in results),
            fields=_fields(formula, names, rules),
            example={name: value for name, value in given.get(scenario, {}).items() if name in names},
        )
        for formula in formulas
        for scenario in formula.scenarios
    }
    inputs = [name for name in names if name in rules.symbols]
    return Program(
        nodes=tuple(nodes.rows),
        results=results,
        names=names,
        scenarios=scenarios,
        guesses=guesses(extraction, rules),
        free=tuple(name for name in results if name in rules.quantities and rules.quantities[name].scenario_free),
        units={name: formula.unit for name, formula in extraction.quantities.items()},
        inputs={name: (rules.symbols[name].unit, rules.symbols[name].description) for name in inputs},
        declared=tuple(name for name in inputs if is_missed(name, rules)),
        records=tuple(name for name in names if rules.is_record(symbol(name))),
        defined=tuple(sorted(names.keys() & (extraction.definitions.keys() | extraction.quantities.keys()))),
    )


def _roots(formula: Formula, nodes: _Nodes) -> tuple[int, int]:
    error = -1 if formula.error is None else nodes.index(formula.error)
    return nodes.index(in_result_unit(formula)), error


def _names(extraction: Extraction, rules: RuleSet, nodes: _Nodes) -> dict[str, tuple[int, ...]]:
    """What can give each name its value, for every name that can be reached."""
    waiting = [name for formula in extraction.quantities.values() for name in sorted(symbols_of(*_terms(formula)))]
    found: dict[str, tuple[int, ...]] = {}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        terms = list(candidates(name, extraction, rules))
        found[name] = tuple(map(nodes.index, terms))
        waiting.extend(sorted(symbols_of(*terms)))
    return dict(sorted(found.items()))


def _terms(formula: Formula) -> list[Term]:
    return [term for term in (formula.term, formula.error) if term is not None]


def _fields(formula: ScenarioFormula, names: dict[str, tuple[int, ...]], rules: RuleSet) -> tuple[str, ...]:
    """The inputs that the steps of a scenario read, directly or through a default."""
    waiting = list(symbols_of(*(step.term for step in formula.steps)))
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found or name not in names or not is_missed(name, rules):
            continue
        found.add(name)
        default = rules.symbols[name].default
        waiting.extend(symbols_of(default) if default is not None else ())
    return tuple(sorted(found))


class _Nodes:
    """Collects terms as rows; every distinct term becomes one."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []
        self._indexes: dict[Term, int] = {}

    def index(self, term: Term) -> int:
        """The row of `term`."""
        if term not in self._indexes:
            for node in post_order(term):
                if node not in self._indexes:
                    self._indexes[node] = len(self.rows)
                    self.rows.append(self._row(node))
        return self._indexes[term]

    def _row(self, term: Term) -> tuple[object, ...]:
        match term:
            case Constant(value):
                return _literal(value)
            case Apply(op, args):
                return ("a", op, *map(self._indexes.__getitem__, args))
            case Conditional(guard, then, otherwise):
                return ("?", *map(self._indexes.__getitem__, (guard, then, otherwise)))
            case Opaque(name, args):
                return ("o", name, *map(self._indexes.__getitem__, args))
            case Symbol(name):
                return ("$", name)
            case Atom(name):
                return ("@", name)
            case Raise(exception):
                return ("!", exception)
            case Handle(_, key):
                return ("h", key)


def _literal(value: object) -> tuple[object, ...]:
    """A literal whose type survives JSON: an integer and a float as their digits."""
    if value is None or isinstance(value, bool | str):
        return ("c", value)
    return ("i" if isinstance(value, int) else "f", repr(value))
