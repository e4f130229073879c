"""A formula as a server of one scenario has it by default: what is off is gone."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.compare.pairing import preferred_values
from analyzer.domain.build import rewrite
from analyzer.domain.extraction import Extraction
from analyzer.domain.iteration import ITERATIONS, computed
from analyzer.domain.report import Value
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import Specialiser, scenario_inputs, scenario_values
from analyzer.domain.terms import Apply, Constant, Opaque, Term, symbols_of


class Settled:
    """Terms of one extraction under one scenario, with the defaults of what the scenario says nothing about."""

    def __init__(self, extraction: Extraction, rules: RuleSet, scenario: str) -> None:
        left_open = scenario_inputs(rules, scenario)
        self._fixed = scenario_values(rules, scenario)
        defaults = {**preferred_values(rules, scenario), **_empty_defaults(rules)}
        self.assumed: Mapping[str, Value] = {
            name: value for name, value in defaults.items() if name not in self._fixed and name not in left_open
        }
        values = {**self.assumed, **self._fixed}
        self._by_default = Specialiser(extraction, rules, values, open_symbols=left_open)
        self._by_scenario = Specialiser(extraction, rules, self._fixed, open_symbols=left_open)
        self._folded: dict[Term, Term] = {}

    def term(self, root: Term) -> Term:
        """`root` with everything folded that the scenario and the defaults settle."""
        return rewrite(self._by_default.term(root), self._simpler, self._folded)

    def switches(self, root: Term) -> frozenset[str]:
        """What `root` would hang on if it were not off by default."""
        return symbols_of(self._by_scenario.term(root)) & self.assumed.keys()

    def _simpler(self, term: Term) -> Term | None:
        """A comprehension over nothing but literals as its value; a sum or product with nothing in it as the rest."""
        match term:
            case Apply("+" | "-", (left, Constant(value))) if _is(value, 0):
                return self.term(left)
            case Apply("*", (left, Constant(value))) if _is(value, 1):
                return self.term(left)
            case Opaque(name) if name in ITERATIONS and not symbols_of(term):
                folded = computed(term)
                return None if folded is term else folded
            case _:
                return None


def _is(value: object, number: int) -> bool:
    """Whether a literal is `number` itself."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == number


def _empty_defaults(rules: RuleSet) -> dict[str, Value]:
    """Lists that are empty unless somebody gives them."""
    return {
        name: ()
        for name, rule in rules.symbols.items()
        if isinstance(rule.default, Apply) and rule.default.op == "tuple" and not rule.default.args
    }
