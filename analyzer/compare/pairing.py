"""The two sides of a comparison under one scenario: what is settled, what stays open, what is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from analyzer.domain.build import substitute
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.report import Value
from analyzer.domain.rules import Domain, RuleSet, SymbolRule
from analyzer.domain.scenario import (
    DEFAULT_FRACTION,
    GIVEN_FRACTION,
    Specialiser,
    outcome,
    scenario_inputs,
    scenario_values,
)
from analyzer.domain.terms import UNSET, Constant, Raise, Term, is_absent, symbols_of, with_owners

# Measured or chosen, not computed from anything that a case could set instead.
NEVER_OPENED: Final = frozenset({"available_gpu_memory", "pre_model_load_memory", GIVEN_FRACTION, DEFAULT_FRACTION})
_MAX_ROUNDS: Final = 8
# Plausible values of quantities, by unit, for formulas that read them; a budget can be negative.
_DOMAINS: Final = {
    "GiB": Domain("real", -64, 280, (10.5, 45.25, 1.0, 0.0, -2.5, 120.0)),
    "byte/token": Domain("integer", 1, 1 << 26, (70_272, 131_072, 1_000)),
    "token": Domain("integer", -(1 << 20), 1 << 28, (159_277, 1_000_000, 4_096, 0)),
    "1": Domain("real", 0, 1, (0.88, 0.5, 0.75)),
}
_ANY_COUNT: Final = Domain("integer", 0, 1 << 20, (256, 1, 0, 48, 4_096))


class Side:
    """One extraction, specialised for one scenario (None: not at all)."""

    def __init__(
        self,
        extraction: Extraction,
        rules: RuleSet,
        values: Mapping[str, Value] | None,
        open_symbols: Iterable[str],
        *,
        alike: Collection[str] = (),
    ) -> None:
        """`alike` are the definitions that the other side has as well."""
        self.extraction = extraction
        self._alike = alike
        self._specialiser = None
        if values is not None:
            self._specialiser = Specialiser(extraction, rules, values, open_symbols=open_symbols)
        self._known: dict[str, Term | None] = {}
        self._symbols: dict[str, frozenset[str]] = {}
        self._reads: dict[str, frozenset[str]] = {}
        self._expanded: dict[tuple[Term, frozenset[str] | None], Term] = {}
        self._opening: set[str] = set()
        self._defaults = Specialiser(extraction, rules, values or {}, open_symbols=open_symbols)

    def formula(self, name: str) -> Formula | None:
        """The formula of a quantity or a sub-quantity."""
        return self.extraction.quantities.get(name) or self.extraction.definitions.get(name)

    def term(self, name: str) -> Term | None:
        """What `name` computes here, errors included; UNSET where the models have no such quantity."""
        if name not in self._known:
            formula = self.formula(name)
            absent = formula is not None and is_absent(self.settled(formula.term))
            self._known[name] = None if formula is None else UNSET if absent else self.settled(outcome(formula))
        return self._known[name]

    def settled(self, term: Term) -> Term:
        """`term` as the scenario leaves it."""
        return term if self._specialiser is None else self._specialiser.term(term)

    def default(self, name: str) -> Term | None:
        """What `name` is worth when it is left unset."""
        return self._defaults.default(name)

    def reads(self, name: str) -> frozenset[str]:
        """Every symbol that `name` depends on, through sub-quantities."""
        if name not in self._reads:
            self._reads[name] = self._reach(name)
        return self._reads[name]

    def _reach(self, name: str) -> frozenset[str]:
        reached: set[str] = set()
        waiting = [name]
        while waiting:
            new = self._direct(waiting.pop()) - reached
            reached |= new
            waiting.extend(new)
        return frozenset(reached)

    def _direct(self, name: str) -> frozenset[str]:
        if name not in self._symbols:
            term = self.term(name)
            self._symbols[name] = with_owners(symbols_of(term)) if term is not None else frozenset()
        return self._symbols[name]

    def expand(self, term: Term, names: Iterable[str] | None = None) -> Term:
        """`term` with sub-quantities replaced by their formulas: those of `names`, or all."""
        chosen = None if names is None else frozenset(names)
        key = (term, chosen)
        if key not in self._expanded:
            self._expanded[key] = self._expand(term, chosen)
        return self._expanded[key]

    def _expand(self, term: Term, chosen: frozenset[str] | None) -> Term:
        names = symbols_of(term) - NEVER_OPENED if chosen is None else symbols_of(term) & chosen - NEVER_OPENED
        formulas = {name: opened for name in sorted(names) if (opened := self._opened(name, chosen)) is not None}
        return substitute(term, formulas) if formulas else term

    def _opened(self, name: str, chosen: frozenset[str] | None) -> Term | None:
        """The formula of `name`, expanded itself; None for an input, and inside its own formula.

        None as well for what fails whatever the inputs are, and for what both sides compute alike and a scenario
        leaves nothing open of: it would make all that reads it alike.
        """
        term = self.term(name)
        if term is None or name in self._opening:
            return None
        self._opening.add(name)
        try:
            expanded = self.expand(term, chosen)
        finally:
            self._opening.discard(name)
        is_ground = expanded is UNSET or isinstance(expanded, Constant)
        hidden = isinstance(expanded, Raise) or (is_ground and name in self._alike)
        return None if hidden else expanded


class Sides:
    """Base and head under one scenario (None: everything open; empty: `values` alone are fixed)."""

    def __init__(  # noqa: PLR0913 - what is compared, and what is fixed, left open or given there
        self,
        base: Extraction,
        head: Extraction,
        rules: RuleSet,
        scenario: str | None,
        values: Mapping[str, Value] | None = None,
        *,
        given: Iterable[str] = (),
    ) -> None:
        """`given` are inputs beside those of the scenario that have a value, whichever it is."""
        self.rules = rules
        self.scenario = scenario
        if scenario:
            values = scenario_values(rules, scenario)
        elif scenario is not None:
            values = values or {}
        self.defaults_apart = () if scenario is None else differing_defaults(base, head, values or {})
        inputs = {*self.defaults_apart, *given, *(scenario_inputs(rules, scenario) if scenario else ())}
        shared = base.definitions.keys() & head.definitions.keys()
        alike = {name for name in shared if base.definitions[name].term is head.definitions[name].term}
        self.base = Side(base, rules, values, inputs, alike=alike)
        self.head = Side(head, rules, values, inputs, alike=alike)

    def pair(self, name: str) -> tuple[Term, Term] | None:
        """Both formulas of `name`, None unless both sides have one."""
        before, after = self.base.term(name), self.head.term(name)
        return None if before is None or after is None else (before, after)

    def reads(self, name: str) -> frozenset[str]:
        """Every symbol that `name` depends on, on either side."""
        return self.base.reads(name) | self.head.reads(name)

    def aligned(self, before: Term, after: Term) -> tuple[Term, Term]:
        """The pair with sub-quantities opened that only one side names."""
        for _ in range(_MAX_ROUNDS):
            first, second = symbols_of(before), symbols_of(after)
            left, right = self._uppermost(first - second, second - first)
            new = (self.base.expand(before, left), self.head.expand(after, right))
            if new == (before, after):
                break
            before, after = new
        return before, after

    def _uppermost(self, left: frozenset[str], right: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Of what only one side names, what nothing that only the other names is made of: opening it aligns them."""
        below_left, below_right = (
            frozenset(read for name in names for read in self.reads(name)) for names in (left, right)
        )
        upper = left - below_right, right - below_left
        return upper if any(upper) else (left, right)

    def opened(self, before: Term, after: Term) -> tuple[Term, Term]:
        """The pair with every sub-quantity opened."""
        return self.base.expand(before), self.head.expand(after)

    def both_with(self, before: Term, after: Term, names: Iterable[str], *, head: bool) -> tuple[Term, Term]:
        """The pair with one side's defaults for both."""
        side = self.head if head else self.base
        return _with_defaults(side, before, names), _with_defaults(side, after, names)


def _with_defaults(side: Side, term: Term, names: Iterable[str]) -> Term:
    values = {name: default for name in names if (default := side.default(name)) is not None}
    # Settled again: a default may decide guards, the release's own included.
    return side.settled(substitute(term, values))


def differing_defaults(base: Extraction, head: Extraction, values: Mapping[str, Value]) -> tuple[str, ...]:
    """The inputs that both sides know but give different defaults, unless `values` fixes them."""
    apart = []
    for name in sorted(base.inputs.keys() & head.inputs.keys() - values.keys() - {GIVEN_FRACTION}):
        computed = any(name in side.definitions or name in side.quantities for side in (base, head))
        if not computed and base.inputs[name].default is not head.inputs[name].default:
            apart.append(name)
    return tuple(apart)


def preferred_values(rules: RuleSet, scenario: str) -> dict[str, Value]:
    """The values that a witness starts from: what the scenario fixes and what the rules call default."""
    left_open = scenario_inputs(rules, scenario)
    values: dict[str, Value] = {}
    for name, rule in rules.symbols.items():
        if isinstance(rule.default, Constant) and not rule.free and name not in left_open:
            values[name] = rule.default.value
    if scenario:
        values.update(scenario_values(rules, scenario))
    return values


def quantity_symbols(rules: RuleSet) -> dict[str, SymbolRule]:
    """The tracked quantities as inputs of the formulas that read them."""
    return {
        name: SymbolRule(name, rule.unit, rule.description, _DOMAINS.get(rule.unit, _ANY_COUNT), free=True)
        for name, rule in rules.quantities.items()
    }
