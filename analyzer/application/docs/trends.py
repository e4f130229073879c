"""What the releases give one and the same server, and what they call one and the same value."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.application.docs.pages import NameHistory, Point, ReleaseFacts, Trends
from analyzer.application.docs.reference import machine_name, with_default_fraction
from analyzer.application.evaluate import evaluate_cases
from analyzer.domain.effect import Server
from analyzer.domain.evaluation import Case, CaseResult
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import QuantityRule, RuleSet, SymbolRule
from analyzer.domain.scenario import DEFAULT_FRACTION
from analyzer.domain.snapshot import Snapshot

_TOKENS = "max_total_num_tokens"


def gather_facts(snapshot: Snapshot, rules: RuleSet, servers: Sequence[Server]) -> ReleaseFacts:
    """What the pages about all releases need of one."""
    extraction = snapshot.extraction
    return ReleaseFacts(snapshot.revision, _trends(extraction, rules, servers), _names(extraction))


def _trends(extraction: Extraction, rules: RuleSet, servers: Sequence[Server]) -> Trends:
    both = [*servers, *map(with_default_fraction, servers)]
    cases = [Case(dict(server.inputs), server.scenario) for server in both]
    names = tuple(name for name in (_TOKENS, DEFAULT_FRACTION) if name in extraction.quantities)
    results = evaluate_cases(extraction, rules, cases, names)
    given, by_default = results[: len(servers)], results[len(servers) :]
    tokens = {
        server.name: (_point(first, _TOKENS), _point(second, _TOKENS))
        for server, first, second in zip(servers, given, by_default, strict=True)
    }
    fractions: dict[str, Point] = {}
    for server, result in zip(servers, by_default, strict=True):
        fractions.setdefault(machine_name(server), _point(result, DEFAULT_FRACTION))
    return Trends(tokens, fractions)


def _point(result: CaseResult, name: str) -> Point:
    found = result.quantities.get(name)
    if found is None:
        return Point(None)
    return Point(found.value, None if found.value is not None else result.error)


def _names(extraction: Extraction) -> dict[str, tuple[str, ...]]:
    """What the release calls each value that has a name of its own in the formulas."""
    found = {name: facts.source_names for name, facts in extraction.inputs.items() if facts.source_names}
    for name, formula in (*extraction.definitions.items(), *extraction.quantities.items()):
        if formula.source_name:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), formula.source_name)))
    return found


def trace_names(facts: Sequence[ReleaseFacts], rules: RuleSet) -> tuple[NameHistory, ...]:
    """Every declared symbol with its names over the releases, oldest first."""
    declared: dict[str, SymbolRule | QuantityRule] = {**rules.symbols, **rules.quantities}
    used: dict[str, dict[str, tuple[str, str]]] = {}
    for each in facts:
        label = each.revision.resolved
        for name, source_names in each.names.items():
            for source_name in source_names if name in declared else ():
                first = used.setdefault(name, {}).get(source_name, (label, label))[0]
                used[name][source_name] = (first, label)
    return tuple(
        NameHistory(
            name,
            declared[name].unit,
            declared[name].description,
            tuple((source, first, last) for source, (first, last) in used[name].items()),
        )
        for name in sorted(used)
    )
