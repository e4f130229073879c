"""Evaluating formulas: numbers in, the numbers out that the server would compute."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from analyzer.application.given import GivenParts
from analyzer.application.refusal import Refusal, refusal
from analyzer.application.selection import require, select_roots
from analyzer.domain.binding import Binding
from analyzer.domain.characters import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Case, CaseResult, Result, Value
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import QUANTITY_ROOTS, RUNNER, Domain, RuleSet, SymbolRule
from analyzer.domain.scenario import (
    CAPACITY,
    DEFAULT_FRACTION,
    GIVEN_FRACTION,
    USER_FRACTION,
    in_result_unit,
    scenario_inputs,
    scenario_values,
    value_term,
)
from analyzer.domain.semantics import Evaluator, MissingInputError, Off, OversizedError, RaisedError, deep_recursion
from analyzer.domain.terms import NONE, UNSET, Atom, Conditional, Symbol, Term, children, symbols_of
from analyzer.domain.unit import parse_unit

_QUANTITY: Final = Domain("real")
_DEVICE: Final = "device"
_COUNTED: Final = frozenset({"integer", "memory"})
# What has more is no number of any server, and no float either.
_MOST_BITS: Final = 256
# Farther off than by this factor, a memory size is one in another unit.
_FAR: Final = 10


def evaluate_cases(
    extraction: Extraction,
    rules: RuleSet,
    cases: Sequence[Case],
    quantities: Sequence[str],
) -> list[CaseResult]:
    """One result per case, in order; a case that cannot be evaluated fails alone."""
    defined = _in_result_units(extraction)
    read = {name: inputs_read(defined, rules, (name,)) for name in quantities}
    everything = frozenset().union(*read.values())
    guessed = {name: choices for name, choices in guesses(defined, rules).items() if name in everything}
    evaluator = _Evaluator(GivenParts(defined, rules), rules, read, guessed, Evaluator())
    return [evaluator.evaluate(case) for case in cases]


def roots_to_evaluate(cases: Sequence[Case], quantities: Sequence[str], rules: RuleSet) -> tuple[str, ...]:
    """The roots that `quantities` need; where a case gives no fraction, the options say what it is."""
    roots = select_roots(quantities, rules)
    given = all(GIVEN_FRACTION in case.inputs for case in cases)
    return roots if given or RUNNER not in roots else QUANTITY_ROOTS


def all_quantities(extraction: Extraction, cases: Sequence[Case]) -> tuple[str, ...]:
    """What a report on everything has: no default where every case gives a fraction and none tells of the device."""
    given = bool(cases) and all(GIVEN_FRACTION in case.inputs and CAPACITY not in case.inputs for case in cases)
    return tuple(name for name in extraction.quantities if not (given and name == DEFAULT_FRACTION))


def guesses(extraction: Extraction, rules: RuleSet) -> dict[str, tuple[Value, ...]]:
    """What is None for no other reason than that nothing tells, and other values of it.

    Options that nobody sets are None for the server too, and so is what a release has by default.
    """
    own = {name for name, facts in extraction.inputs.items() if facts.default is not None}
    return {
        name: rule.domain.choices
        for name, rule in sorted(rules.symbols.items())
        if rule.default is NONE and rule.sources and not rule.arguments and name not in own
    }


def _in_result_units(extraction: Extraction) -> Extraction:
    """`extraction` with every tracked quantity in the unit of results, defined like a sub-quantity too."""
    converted = {
        name: replace(formula, term=in_result_unit(formula), source_unit=formula.unit)
        for name, formula in extraction.quantities.items()
    }
    return replace(extraction, quantities=converted, definitions={**extraction.definitions, **converted})


@dataclass(frozen=True, slots=True)
class _Evaluator:
    """Evaluates cases on one extraction, whose definitions hold every formula in its result unit.

    `read` says for each quantity what it depends on.
    """

    parts: GivenParts
    rules: RuleSet
    read: Mapping[str, frozenset[str]]
    guessed: Mapping[str, tuple[Value, ...]]
    compiled: Evaluator

    def evaluate(self, case: Case) -> CaseResult:
        try:
            return self._evaluate(case, self._accept(case))
        except UsageError as problem:
            return CaseResult(case, problem=str(problem))

    def _evaluate(self, case: Case, values: Mapping[str, Value]) -> CaseResult:
        results, error, default = self._results(case, values)
        everything = frozenset().union(*self.read.values())
        ignored = self._ignored(case, values, everything)
        used = {} if default is None or GIVEN_FRACTION not in everything else {GIVEN_FRACTION: default}
        return CaseResult(
            case, results, error, ignored, defaults=used, left_open=self._left_open(case, values, results)
        )

    def _ignored(self, case: Case, values: Mapping[str, Value], read: Collection[str]) -> tuple[str, ...]:
        """The inputs that no result hangs on; what gives a part of the count is read by the count."""
        unread = [name for name in case.inputs if name not in read]
        if not unread:
            return ()
        extraction = self.parts.extraction({**case.facts, **values}, case.inputs)
        given = inputs_read(extraction, self.rules, tuple(self.read))
        return tuple(name for name in unread if name not in given)

    def _results(self, case: Case, values: Mapping[str, Value]) -> tuple[dict[str, Result], str | None, Value]:
        """The result of every quantity, the first exception, and the fraction that SGLang picks."""
        fixed = {**case.facts, **values}
        extraction = self.parts.extraction(fixed, case.inputs)
        binding = Binding(extraction, self.rules, fixed, case.inputs, self.compiled)
        default, stopped = self._default(case, binding, extraction)
        results: dict[str, Result] = {}
        for name, read in self.read.items():
            found = self._result(name, binding, case, extraction)
            if stopped is not None and GIVEN_FRACTION in read and name not in case.inputs:
                found = Result(None, found.unit, error=stopped)
            elif found.error is not None:
                needed = self._unknown_behind(name, found.error, fixed, case, extraction)
                found = replace(found, error=None, missing=needed) if needed else found
            results[name] = found
        error = next((result.error for result in results.values() if result.error is not None), None)
        return results, error, default

    def _unknown_behind(
        self, name: str, error: str, fixed: Mapping[str, Value], case: Case, extraction: Extraction
    ) -> tuple[str, ...]:
        """What nobody told that `error` hangs on: with another value of it, SGLang would not raise."""
        found = []
        for unknown, choices in self.guessed.items():
            if unknown in fixed or unknown in case.inputs:
                continue
            for value in choices:
                binding = Binding(extraction, self.rules, fixed, {**case.inputs, unknown: value}, self.compiled)
                if self._result(name, binding, case, extraction).error != error:
                    found.append(unknown)
                    break
        return tuple(found)

    def _left_open(
        self, case: Case, values: Mapping[str, Value], results: Mapping[str, Result]
    ) -> dict[str, tuple[Value, ...]]:
        """Options that SGLang chooses by the device and nobody gives, with the choices that give other results.

        The formulas hold for the usual device; on another one what they assume of such an option has to be said.
        """
        given = {**values, **case.inputs}
        device = self.rules.symbols.get(_DEVICE)
        if device is None or _DEVICE not in given or value_term(given[_DEVICE]) is device.default:
            return {}
        found: dict[str, tuple[Value, ...]] = {}
        for name in self.rules.anchors.values.get("kept_options", ()):
            rule = self.rules.symbols.get(name)
            if rule is None or name in given or not any(name in read for read in self.read.values()):
                continue
            cases = {choice: replace(case, inputs={**case.inputs, name: choice}) for choice in rule.domain.choices}
            telling = tuple(choice for choice, other in cases.items() if self._results(other, values)[0] != results)
            found |= {name: telling} if telling else {}
        return found

    def _default(self, case: Case, binding: Binding, extraction: Extraction) -> tuple[Value, str | None]:
        """The fraction that SGLang picks when the user gives none, or what stops the server before it has one."""
        given = {GIVEN_FRACTION, USER_FRACTION, DEFAULT_FRACTION} & case.inputs.keys()
        formula = extraction.definitions.get(DEFAULT_FRACTION)
        if given or formula is None:
            return None, None
        try:
            stops = refusal(formula.error, binding)
            if stops.exception is not None:
                return None, stops.exception
            return _plain(binding.value(formula.term)), None
        except RaisedError as raised:
            return None, raised.exception
        except MissingInputError:
            return None, None

    def _accept(self, case: Case) -> Mapping[str, Value]:
        """What the scenario of `case` assigns. Raises UsageError for a case that cannot be evaluated."""
        if case.problem is not None:
            raise UsageError(case.problem)
        check_inputs(case.inputs, self.rules)
        return scenario_values(self.rules, case.scenario)

    def _result(self, name: str, binding: Binding, case: Case, extraction: Extraction) -> Result:
        formula = extraction.definitions.get(name)
        unit = formula.unit if formula is not None else self._unit(name)
        if name in case.inputs:
            return Result(case.inputs[name], unit)
        if formula is None:
            return Result(None, unit, (name,))
        unset = self._unset(case, binding)
        stops = refusal(formula.error, binding, unset)
        if stops.exception is not None:
            return Result(None, unit, error=stops.exception)
        try:
            value = _plain(binding.value(formula.term))
        except RaisedError as raised:
            return Result(None, unit, error=raised.exception)
        except OversizedError as oversized:
            raise UsageError(f"{name} cannot be computed: it comes to {oversized}") from oversized
        except MissingInputError as missing:
            if missing.name == UNSET.name:
                return Result(None, unit, absent=True)
            # What is measured needs no input but itself.
            names = missing_inputs(formula.term, binding, extraction) or {name}
            return Result(None, unit, tuple(sorted(names)))
        needed = _needed(stops, unset, binding, extraction)
        # None is what a family has for the number of another one.
        return Result(value, unit, absent=value is None, error_missing=needed)

    def _unset(self, case: Case, binding: Binding) -> frozenset[str]:
        """What a server of this scenario has a value for, and neither the case nor the release gives one."""
        names = scenario_inputs(self.rules, case.scenario) - case.inputs.keys()
        return frozenset(name for name in names if binding.known(name) is None)

    def _unit(self, name: str) -> str:
        rule = self.rules.quantities.get(name) or self.rules.symbols.get(name)
        return rule.unit if rule is not None else ""


def _needed(stops: Refusal, unset: frozenset[str], binding: Binding, extraction: Extraction) -> tuple[str, ...]:
    """The inputs that would tell whether SGLang stops; `unset` are open ones that nobody gave."""
    if not stops.unknown:
        return ()
    names = {name for guard in stops.unknown for name in missing_inputs(guard, binding, extraction)}
    return tuple(sorted(names | (unset & symbols_of(*stops.unknown))))


def check_inputs(inputs: Mapping[str, Value], rules: RuleSet) -> None:
    """Refuse names that no rule declares and values that no configuration could hold. Raises UsageError."""
    known = rules.symbols.keys() | rules.quantities.keys()
    for name, value in inputs.items():
        require(name, known, "symbol")
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{name} must be a finite number, not {value}")
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise UsageError(f"{name} is far too large a number")
        # A quantity is a number, whatever the formula makes of it.
        rule = rules.symbols.get(name)
        _check_value(name, _QUANTITY if rule is None else rule.domain, value)
        if rule is not None:
            _check_range(rule, value)


def _check_range(rule: SymbolRule, value: Value) -> None:
    """Refuse what no server can be given: it is a slip of the sign, of the unit or of the spelling."""
    domain, unit = rule.domain, parse_unit(rule.unit)
    if isinstance(value, str) and value not in domain.choices and not domain.optional:
        near = next((choice for choice in domain.choices if str(choice).lower() == value.lower()), None)
        if near is not None:
            raise UsageError(f"{rule.name} is never '{printable(value)}'", hint=f"did you mean {near}?")
    if domain.kind not in _COUNTED or not isinstance(value, int | float):
        return
    if value < 0 <= domain.low:
        raise UsageError(f"{rule.name} cannot be negative, as {value:g} is")
    if domain.kind == "integer" and unit.is_memory and not domain.low / _FAR <= value <= domain.high * _FAR:
        raise UsageError(
            f"{rule.name} is in {unit}, and {value:g} {unit} are no such thing",
            hint=f"give a number such as {domain.choices[0] if domain.choices else domain.low}",
        )


def _check_value(name: str, domain: Domain, value: Value) -> None:
    """Refuse a value that no configuration could hold, before it turns into an error of the formula."""
    wanted = {"integer": "a number", "real": "a number", "memory": "a number", "boolean": "true or false"}
    expected = wanted.get(domain.kind)
    is_flag = isinstance(value, bool)
    fits = is_flag if expected == "true or false" else isinstance(value, int | float) and not is_flag
    if expected is not None and value is not None and not fits:
        none = ", or null for none" if domain.optional else ""
        raise UsageError(f"{name} must be {expected}{none}, not '{printable(str(value))}'")


def _plain(value: Any) -> Value:
    """A result as data; an option that is off has no value."""
    if isinstance(value, Off):
        raise MissingInputError(value.name)
    return value.name if isinstance(value, Atom) else value


def inputs_read(extraction: Extraction, rules: RuleSet, quantities: Sequence[str]) -> frozenset[str]:
    """Every name that `quantities` depend on, the quantities themselves included."""
    seen: set[str] = set()
    stack = list(quantities)
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        stack.extend(symbols_of(*_sources(name, extraction, rules)) - seen)
    return frozenset(seen)


def _sources(name: str, extraction: Extraction, rules: RuleSet) -> list[Term]:
    """The formulas that can give `name` its value."""
    formula = extraction.definitions.get(name) or extraction.quantities.get(name)
    facts = extraction.inputs.get(name)
    rule = rules.symbols.get(name)
    found = [formula.term, formula.error] if formula is not None else []
    found += [facts.default] if facts is not None else []
    found += [rule.default] if rule is not None else []
    return [term for term in found if term is not None]


def missing_inputs(term: Term, binding: Binding, extraction: Extraction) -> set[str]:
    """The inputs that `term` lacks on the branches that the known ones lead to; empty when none would help.

    A sub-quantity is not named when what it lacks itself can be given.
    """
    known: dict[Term, frozenset[str] | None] = {}

    def visit(node: Term) -> frozenset[str] | None:
        """The inputs that would give `node` its value; None when none can."""
        if node in known:
            return known[node]
        known[node] = frozenset()
        parts = [part for part in _lacking(node, binding, extraction) if _lacks_value(part, binding)]
        needs = [needed for needed in map(visit, parts) if needed is not None]
        found = frozenset().union(*needs) if len(needs) == len(parts) else None
        if not found and isinstance(node, Symbol) and binding.is_declared(node.name):
            found = frozenset({node.name})
        known[node] = found or None
        return known[node]

    with deep_recursion():
        return set(visit(term) or ()) if _lacks_value(term, binding) else set()


def _lacks_value(node: Term, binding: Binding) -> bool:
    """Whether `node` has no value that arithmetic could use."""
    try:
        return isinstance(binding.value(node), Off)
    except MissingInputError:
        return True
    except RaisedError:
        return False


def _lacking(node: Term, binding: Binding, extraction: Extraction) -> tuple[Term, ...]:
    """The operands of a term without a value, or the formula behind it, that may be why."""
    if isinstance(node, Symbol):
        formula = extraction.definitions.get(node.name)
        return (formula.term,) if formula is not None else ()
    if not isinstance(node, Conditional):
        return children(node)
    try:
        taken = node.then if binding.value(node.guard) else node.otherwise
    except (MissingInputError, RaisedError):
        return (node.guard,)
    return (taken,)
