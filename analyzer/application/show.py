"""The use case of `show`: the formulas of one ref, written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analyzer.application.evaluate import inputs_read
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.notation import to_latex, to_text
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import scenario_formula
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.terms import NONE, Conditional, Term, walk
from analyzer.domain.views import FormulaView, QuantityView, ShowReport, SymbolView

_MAX_GUARDS: Final = 200


def show(snapshot: Snapshot, rules: RuleSet, scenarios: Sequence[str], quantities: Sequence[str]) -> ShowReport:
    """Each of `quantities` under each of `scenarios` and with every guard, and what they read."""
    extraction = snapshot.extraction
    return ShowReport(
        revision=snapshot.revision,
        entry=extraction.entry,
        path=extraction.hops,
        quantities={name: _view_quantity(name, extraction, rules, scenarios) for name in quantities},
        symbols=_view_symbols(extraction, rules, quantities),
        unit_conversions=extraction.unit_conversions,
        unit_findings=extraction.unit_findings,
        gaps=extraction.gaps,
        coverage=extraction.coverage,
        notes=tuple(filter(None, [snapshot.revision.note])),
    )


def _view_quantity(name: str, extraction: Extraction, rules: RuleSet, scenarios: Sequence[str]) -> QuantityView:
    formula = extraction.quantities.get(name) or extraction.definitions[name]
    rule = rules.quantities.get(name)
    return QuantityView(
        title=rule.title if rule is not None else _describe(name, rules),
        unit=formula.unit,
        source_unit=formula.source_unit,
        scenarios={
            scenario: _view_formula(scenario_formula(extraction, rules, name, scenario)) for scenario in scenarios
        },
        full=_view_formula(formula),
    )


def _describe(name: str, rules: RuleSet) -> str:
    return rules.symbols[name].description if name in rules.symbols else name


def _view_formula(formula: Formula) -> FormulaView:
    return FormulaView(
        text=to_text(formula.term),
        latex=to_latex(formula.term),
        guards=_guards(formula.term),
        locations=formula.locations,
        raises=None if formula.error in (None, NONE) else to_text(formula.error),
    )


def _guards(term: Term) -> tuple[str, ...]:
    """The distinct conditions inside `term`, outermost first."""
    found = dict.fromkeys(node.guard for node in walk(term) if isinstance(node, Conditional))
    return tuple(to_text(guard) for guard in list(found)[:_MAX_GUARDS])


def _view_symbols(extraction: Extraction, rules: RuleSet, quantities: Sequence[str]) -> dict[str, SymbolView]:
    """The declared inputs that `quantities` read, directly or through a sub-quantity."""
    read = inputs_read(extraction, rules, quantities)
    return {name: _view_symbol(name, extraction, rules) for name in sorted(read & rules.symbols.keys())}


def _view_symbol(name: str, extraction: Extraction, rules: RuleSet) -> SymbolView:
    rule = rules.symbols[name]
    facts = extraction.inputs.get(name)
    formula = extraction.definitions.get(name)
    default = facts.default if facts is not None and facts.default is not None else rule.default
    names = facts.source_names if facts is not None else (formula.source_name,) if formula is not None else ()
    locations = facts.locations if facts is not None else formula.locations if formula is not None else ()
    return SymbolView(
        unit=rule.unit,
        description=rule.description,
        source_names=names,
        locations=locations,
        default=None if default is None else to_text(default),
    )
