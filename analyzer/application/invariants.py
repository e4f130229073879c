"""The invariants of a sizing formula, each a pass over one extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.application.evaluate import evaluate_cases
from analyzer.domain.evaluation import Case, CaseResult, Value
from analyzer.domain.extraction import Extraction
from analyzer.domain.judgement import Violation
from analyzer.domain.notation import to_text
from analyzer.domain.rules import Domain, InvariantRule, RuleSet
from analyzer.domain.scenario import scenario_formula, scenario_values
from analyzer.domain.terms import Apply, Conditional, Constant, Symbol, Term, symbols_of, walk

_TOKENS: Final = "max_total_num_tokens"
_BUDGET: Final = "rest_memory"
_FIRST: Final = (_BUDGET, "cell_size", _TOKENS)
_MEASURED: Final = ("pre_model_load_memory", "available_gpu_memory")
_MEMORY_UNITS: Final = ("byte", "KiB", "MiB", "GiB", "kB", "MB", "GB")
_DECIMAL_UNITS: Final = ("kB", "MB", "GB")
_POWERS_OF_1000: Final = frozenset({10**6, 10**9, 10**12})
_ROUNDINGS: Final = ("int", "floor", "ceil", "round")
# Operators through which memory stays memory.
_TRANSPARENT: Final = frozenset({*_ROUNDINGS, "float", "float32", "rank_min", "neg", "min", "max", "+", "-", "abs"})
_DIVISIONS: Final = ("/", "//")
_COARSE: Final = 1024
_SHORT: Final = 160
_MAX_SHOWN: Final = 5
# A server that has no room: almost nothing is free after loading.
_NO_ROOM: Final[Mapping[str, Value]] = {
    "pre_model_load_memory": 80.0,
    "available_gpu_memory": 1.0,
    "mem_fraction_static": 0.5,
    "cell_size": 70_272,
}
_MAX_FILLED: Final = 40


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: the formulas of one ref under some scenarios."""

    extraction: Extraction
    rules: RuleSet
    scenarios: Sequence[str]

    def terms(self) -> Iterator[tuple[str, str, Term]]:
        """Every formula by quantity and scenario, then, for what lies outside them, with all its branches."""
        # What two quantities share is told of the one that is computed first.
        order = {name: position for position, name in enumerate(dict.fromkeys((*_FIRST, *self.rules.quantities)))}
        formulas = {**self.extraction.definitions, **self.extraction.quantities}
        names = sorted(formulas, key=lambda name: (order.get(name, len(order)), name))
        for name in names:
            for scenario in self.scenarios:
                yield name, scenario, scenario_formula(self.extraction, self.rules, name, scenario).term
        for name in names:
            yield name, "", formulas[name].term

    def unit(self, name: str) -> str:
        """The unit of a symbol, a quantity or a sub-quantity; "" when it is not declared."""
        formula = self.extraction.quantities.get(name)
        if formula is not None:
            return formula.source_unit
        rule = self.rules.symbols.get(name) or self.rules.quantities.get(name)
        return rule.unit if rule is not None else ""

    def is_memory(self, term: Term) -> bool:
        """Whether `term` is an amount of memory, as far as its operators tell."""
        match term:
            case Symbol(name):
                return self.unit(name) in _MEMORY_UNITS
            case Conditional():
                return self.is_memory(term.then) or self.is_memory(term.otherwise)
            case Apply(op, args) if op in _TRANSPARENT:
                return any(map(self.is_memory, args))
            case Apply("*", args):
                return sum(map(self.is_memory, args)) == 1 and not any(map(self._is_count, args))
            case Apply(op, (above, below)) if op in _DIVISIONS:
                return self.is_memory(above) and isinstance(below, Constant)
            case _:
                return False

    def _is_count(self, term: Term) -> bool:
        """Whether `term` is a number of things: so much for each of them is not an amount of its own."""
        return isinstance(term, Symbol) and self.unit(term.name) in ("token", "request", "slot")


class UnjudgedError(Exception):
    """An invariant cannot be decided; the message says where and why."""


def units_mixed(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Mixtures of units that the unit inference has found."""
    del rule
    yield from _unit_findings(subject, is_wording=False)


def unit_misnamed(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Words that name another unit than the code beside them has."""
    del rule
    yield from _unit_findings(subject, is_wording=True)


def _unit_findings(subject: Subject, *, is_wording: bool) -> Iterator[Violation]:
    for found in subject.extraction.unit_findings:
        if found.is_wording == is_wording:
            yield Violation("", found.message, (), (found.location,))


def budget_not_bounded(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Scenarios in which a server without room computes a negative count."""
    del rule
    negative: dict[str, CaseResult] = {}
    unknown: list[str] = []
    for scenario in subject.scenarios:
        result = _without_room(subject, scenario)
        count = result.quantities[_TOKENS]
        if result.error is not None:
            continue
        if count.number is None or count.error_missing:
            needed = ", ".join(count.missing or count.error_missing) or "a value that is not a number"
            unknown.append(f"{_TOKENS} in {scenario} needs {needed}")
        elif count.number < 0:
            negative[scenario] = result
    if negative:
        first = next(iter(negative.values()))
        value = first.quantities[_TOKENS].value
        places = subject.extraction.quantities[_TOKENS].locations
        yield Violation(_TOKENS, f"for example {value}", tuple(negative), places, first.case.inputs)
    if unknown:
        raise UnjudgedError("; ".join(unknown))


def _without_room(subject: Subject, scenario: str) -> CaseResult:
    """The count of a server without room, what it or its errors need besides filled in one by one."""
    inputs = dict(_NO_ROOM)
    for _ in range(_MAX_FILLED):
        [result] = evaluate_cases(subject.extraction, subject.rules, [Case(inputs, scenario)], (_TOKENS,))
        count = result.quantities[_TOKENS]
        missing = [name for name in (*count.missing, *count.error_missing) if name not in inputs]
        fillable = [name for name in missing if name in subject.rules.symbols] or _computed(subject, scenario, inputs)
        if not missing or result.error is not None or not fillable:
            return result
        inputs |= {name: _likely(subject.rules.symbols[name].domain) for name in fillable}
    return result


def _computed(subject: Subject, scenario: str, given: Mapping[str, Value]) -> list[str]:
    """The declared sub-quantities that the count reads and that nothing gives yet."""
    formula = subject.extraction.quantities[_TOKENS]
    read = symbols_of(formula.term) & subject.extraction.definitions.keys() & subject.rules.symbols.keys()
    return sorted(read - given.keys() - scenario_values(subject.rules, scenario).keys())


def _likely(domain: Domain) -> Value:
    """A value that a symbol often has."""
    if domain.choices:
        return domain.choices[0]
    if domain.kind == "boolean":
        return False
    return int(domain.low) if domain.kind == "integer" else domain.low


def rounding_before_division(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Memory that is cut to whole bytes and then divided."""
    del rule
    yield from _roundings(subject, coarse=False)


def coarse_rounding(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Memory that is cut to whole MiB or GiB and then divided or converted."""
    del rule
    yield from _roundings(subject, coarse=True)


def _roundings(subject: Subject, *, coarse: bool) -> Iterator[Violation]:
    def is_wrong(term: Apply) -> bool:
        found = _rounded(term.args[0]) if term.op in _DIVISIONS else None
        if found is None or not subject.is_memory(found[0].args[0]):
            return False
        rounded, scale = found
        return coarse == (scale >= _COARSE or not _in_bytes(subject, rounded.args[0]))

    return _wherever(subject, is_wrong)


def _wherever(subject: Subject, is_wrong: Callable[[Apply], bool]) -> Iterator[Violation]:
    """One violation per operation that is wrong, where it first counts.

    What stands behind the guards of no scenario is told only when nothing else is: it repeats the rest with
    every branch in it.
    """
    found: dict[Term, tuple[str, list[str]]] = {}
    for name, scenario, root in subject.terms():
        if not scenario and found:
            break
        for term in walk(root):
            if isinstance(term, Apply) and is_wrong(term):
                quantity, scenarios = found.setdefault(term, (name, []))
                if quantity == name and scenario and scenario not in scenarios:
                    scenarios.append(scenario)
    for term, (quantity, scenarios) in list(found.items())[:_MAX_SHOWN]:
        yield _violation(subject, quantity, tuple(scenarios), term)


def _rounded(term: Term, scale: float = 1) -> tuple[Apply, float] | None:
    """The rounding that `term` is a multiple of, and the multiple."""
    match term:
        case Apply(op, (_,)) if op in _ROUNDINGS:
            return term, scale
        case Apply("*", (other, Constant(int() | float() as factor))) | Apply(
            "*", (Constant(int() | float() as factor), other)
        ):
            return _rounded(other, scale * factor)
        case _:
            return None


def _in_bytes(subject: Subject, term: Term) -> bool:
    """Whether the memory in `term` is in bytes: measured so, or converted inside."""
    units = {subject.unit(name) for name in symbols_of(term)} & set(_MEMORY_UNITS)
    return units == {"byte"} or any(
        isinstance(node, Constant) and isinstance(node.value, int) and node.value >= 1 << 20 for node in walk(term)
    )


def decimal_unit(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Memory that is converted by a power of 1000."""
    del rule
    yield from _wherever(subject, lambda term: term.op in ("*", *_DIVISIONS) and _by_power_of_1000(subject, term))
    for item in subject.extraction.unit_conversions:
        if item.from_unit in _DECIMAL_UNITS or item.to_unit in _DECIMAL_UNITS:
            yield Violation("", f"{item.from_unit} to {item.to_unit} in {item.expression}", (), (item.location,))


def _by_power_of_1000(subject: Subject, term: Apply) -> bool:
    constants = [arg.value for arg in term.args if isinstance(arg, Constant)]
    others = [arg for arg in term.args if not isinstance(arg, Constant)]
    return any(value in _POWERS_OF_1000 for value in constants) and any(map(subject.is_memory, others))


def no_rank_minimum(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Measurements of which no minimum over the ranks is taken."""
    del rule
    for name in _MEASURED:
        formula = subject.extraction.quantities.get(name)
        if formula is not None and not any(isinstance(n, Apply) and n.op == "rank_min" for n in walk(formula.term)):
            yield Violation(name, "no minimum over the ranks", (), formula.locations)


def reservation_without_pool(subject: Subject, rule: InvariantRule) -> Iterator[Violation]:
    """Scenarios in which memory is set aside for a pool whose entries nobody counts."""
    formula = subject.extraction.quantities.get(_BUDGET)
    if formula is None:
        return
    for size, count in rule.pools.items():
        if count in subject.extraction.quantities:
            continue
        reading = tuple(
            scenario
            for scenario in subject.scenarios
            if size in symbols_of(scenario_formula(subject.extraction, subject.rules, _BUDGET, scenario).term)
        )
        if reading:
            yield Violation(_BUDGET, f"it reads {size}, and there is no {count}", reading, formula.locations)


def _violation(subject: Subject, name: str, scenarios: tuple[str, ...], term: Term) -> Violation:
    formula = subject.extraction.quantities.get(name) or subject.extraction.definitions[name]
    text = to_text(term, limit=_SHORT)
    return Violation(name, text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}...", scenarios, formula.locations)


CHECKS: Final[Mapping[str, Callable[[Subject, InvariantRule], Iterator[Violation]]]] = {
    "units-mixed": units_mixed,
    "unit-misnamed": unit_misnamed,
    "budget-not-bounded": budget_not_bounded,
    "rounding-before-division": rounding_before_division,
    "coarse-rounding": coarse_rounding,
    "decimal-unit": decimal_unit,
    "no-rank-minimum": no_rank_minimum,
    "reservation-without-pool": reservation_without_pool,
}
"""What an invariant rule can look for, by the name that rules use."""
