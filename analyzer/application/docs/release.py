"""What the documentation says about one release: formula step by step, symbols, path, gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from analyzer.application.docs.pages import (
    Example,
    FullFormula,
    ReleasePage,
    ScenarioFormula,
    Step,
    SymbolEntry,
)
from analyzer.application.docs.settled import Settled
from analyzer.application.docs.steps import Formulas
from analyzer.application.evaluate import evaluate_cases
from analyzer.domain.effect import Server
from analyzer.domain.evaluation import Case, Value
from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import DEFAULT_FRACTION
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.terms import Term, symbols_of


def document_release(
    snapshot: Snapshot, rules: RuleSet, scenarios: Sequence[str], quantities: Sequence[str], servers: Sequence[Server]
) -> ReleasePage:
    """The page of one release; `quantities` restrict what is said beside the steps, empty means all."""
    extraction = snapshot.extraction
    chosen = tuple(name for name in extraction.quantities if not quantities or name in quantities)
    formulas = _formulas(extraction, rules, scenarios, servers)
    return ReleasePage(
        revision=snapshot.revision,
        entry=extraction.entry,
        formulas=formulas,
        symbols=_symbols(extraction, rules, formulas),
        full=tuple(_full(name, extraction, rules) for name in chosen),
        hops=extraction.hops,
        conversions=extraction.unit_conversions,
        unit_findings=extraction.unit_findings,
        gaps=extraction.every_gap,
        coverage=extraction.coverage,
    )


def _formulas(
    extraction: Extraction, rules: RuleSet, scenarios: Sequence[str], servers: Sequence[Server]
) -> tuple[ScenarioFormula, ...]:
    """The formula of every scenario, once for those that share it."""
    shared: dict[tuple[object, ...], list[str]] = {}
    found: dict[tuple[object, ...], ScenarioFormula] = {}
    for scenario in scenarios:
        settled = Settled(extraction, rules, scenario)
        formulas = Formulas(extraction, rules, settled.term)
        key = steps, failures = formulas.steps(), formulas.failures()
        shared.setdefault(key, []).append(scenario)
        if key not in found:
            found[key] = ScenarioFormula((), steps, failures, _switches(settled, extraction))
    return tuple(
        replace(
            found[key],
            scenarios=tuple(names),
            example=_example(extraction, rules, found[key].steps, names, servers),
        )
        for key, names in shared.items()
    )


def _switches(settled: Settled, extraction: Extraction) -> Mapping[str, Value]:
    """The options that the formula would also hang on, with what they are taken to be."""
    roots = [formula.term for name, formula in extraction.quantities.items() if name != DEFAULT_FRACTION]
    names = sorted({name for root in roots for name in settled.switches(root)})
    return {name: settled.assumed[name] for name in names}


def _example(
    extraction: Extraction,
    rules: RuleSet,
    steps: Iterable[Step],
    scenarios: Iterable[str],
    servers: Sequence[Server],
) -> Example | None:
    """The first server of one of `scenarios`, computed."""
    server = next((server for server in servers if server.scenario in scenarios), None)
    if server is None:
        return None
    names = tuple(step.name for step in steps if step.name in extraction.quantities)
    (result,) = evaluate_cases(extraction, rules, [Case(dict(server.inputs), server.scenario)], names)
    values = {name: found.value for name, found in result.quantities.items() if not found.absent}
    inputs = {name: value for name, value in server.inputs.items() if name not in result.ignored}
    return Example(server.name, inputs, values, result.error)


def _symbols(extraction: Extraction, rules: RuleSet, formulas: Sequence[ScenarioFormula]) -> tuple[SymbolEntry, ...]:
    """Every name that a step reads, with the scenarios that read it."""
    readers: dict[str, dict[str, None]] = {}
    for formula in formulas:
        made = {step.name for step in formula.steps}
        terms: list[Term] = [step.term for step in formula.steps] + [failure.term for failure in formula.failures]
        for name in symbols_of(*terms) - made:
            readers.setdefault(name, {}).update(dict.fromkeys(formula.scenarios))
    return tuple(_symbol(name, extraction, rules, tuple(readers[name])) for name in sorted(readers))


def _symbol(name: str, extraction: Extraction, rules: RuleSet, scenarios: tuple[str, ...]) -> SymbolEntry:
    rule = rules.symbols.get(name) or rules.quantities.get(name)
    facts = extraction.inputs.get(name)
    formula = extraction.definitions.get(name) or extraction.quantities.get(name)
    default = facts.default if facts is not None else None
    names = facts.source_names if facts is not None else ()
    locations = facts.locations if facts is not None else ()
    if formula is not None:
        names = (*names, *filter(None, [formula.source_name]))
        locations = (*locations, *formula.locations)
    return SymbolEntry(
        name=name,
        unit=rule.unit if rule is not None else "1",
        description=rule.description if rule is not None else "an option of SGLang",
        source_names=tuple(dict.fromkeys(names)),
        locations=tuple(dict.fromkeys(locations)),
        default=default,
        scenarios=scenarios,
    )


def _full(name: str, extraction: Extraction, rules: RuleSet) -> FullFormula:
    formula = extraction.quantities[name]
    rule = rules.quantities.get(name)
    title = rule.title if rule is not None else name
    return FullFormula(name, title, formula.unit, to_text(formula.term), formula.locations)
