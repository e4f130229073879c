"""Cases that give the budget or the bytes per token, where the count merges several formulas for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analyzer.domain.build import rewrite
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import Specialiser
from analyzer.domain.terms import Scalar, Term, symbol, symbols_of
from analyzer.symbolic.budget import find_budget, in_unit
from analyzer.units import Inference
from analyzer.units.declared import declared_units

_COST = "cell_size"
_MEMORY = "rest_memory"

Value = Scalar | tuple[Scalar, ...]


class GivenParts:
    """One extraction as cases see it that give a part of the count.

    Where a release sizes each family of models in a place of its own, a count divides several budgets; what a
    scenario and the options of a case leave of it divides one.
    """

    def __init__(self, extraction: Extraction, rules: RuleSet) -> None:
        self._extraction = extraction
        self._rules = rules
        self._known: dict[tuple[object, ...], Extraction] = {}

    def extraction(self, scenario: Mapping[str, Value], case: Mapping[str, Value]) -> Extraction:
        """The extraction whose counts read what `case` gives for the budget and for the bytes per token."""
        given = tuple(name for name in (_COST, _MEMORY) if name in case)
        options = {name: value for name, value in case.items() if name not in given and _is_option(name, self._rules)}
        key = (given, tuple({**scenario, **options}.items())) if given else ()
        if key not in self._known:
            self._known[key] = self._with_given(given, {**scenario, **options})
        return self._known[key]

    def _with_given(self, given: Sequence[str], settled: Mapping[str, Value]) -> Extraction:
        extraction = self._extraction
        merged = {
            name: formula
            for name, formula in extraction.quantities.items()
            if name not in given and not symbols_of(formula.term).issuperset(given)
        }
        if not given or not merged:
            return extraction
        specialiser = Specialiser(extraction, self._rules, settled)
        units = Inference(declared_units(self._rules))
        found = {name: _read_given(formula, specialiser, units, given) for name, formula in merged.items()}
        return replace(
            extraction,
            quantities={**extraction.quantities, **found},
            definitions={**extraction.definitions, **found},
        )


def _is_option(name: str, rules: RuleSet) -> bool:
    """Whether an input may decide which family of models is sized, and is none of the numbers in the budget."""
    rule = rules.symbols.get(name)
    return rule is None or not (rule.free or rule.domain.kind == "memory")


def _read_given(formula: Formula, specialiser: Specialiser, units: Inference, given: Sequence[str]) -> Formula:
    settled = specialiser.term(formula.term)
    budget = find_budget(settled, units)
    if budget is None or not budget.exact:
        return formula
    parts: dict[Term, Term] = {}
    if _COST in given:
        parts[budget.cost] = symbol(_COST)
    if _MEMORY in given:
        parts[budget.memory] = in_unit(symbol(_MEMORY), "GiB", budget.unit, like=budget.memory)
    error = None if formula.error is None else rewrite(specialiser.error(formula.error), parts.get)
    return replace(formula, term=rewrite(settled, parts.get), error=error)
