"""The use case of `explain`: one start of a real server, reconciled with the formula of its release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzer.application.explain.contradictions import find_contradictions
from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import COST, FRACTION, REST, TOKENS, cost_from_pool, read_inputs
from analyzer.application.explain.judge import IsBelow, agrees, differ, tolerance
from analyzer.application.explain.ledger import keep_ledger
from analyzer.application.explain.levers import find_levers
from analyzer.application.explain.reasons import (
    cap_reason,
    default_fraction,
    explain_difference,
    implied_fraction,
    late_memory,
)
from analyzer.application.explain.window import find_window
from analyzer.application.start_log.reading import minimum
from analyzer.domain.evaluation import DEFAULT_SCENARIO, CaseResult, Inputs, Value
from analyzer.domain.explanation import (
    EXPLAINED,
    INCONSISTENT,
    INSUFFICIENT,
    REPRODUCES,
    Difference,
    ExplainReport,
)
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from analyzer.domain.startup import AFTER, BEFORE, Reading, Start

_MULTIMODAL: Final = "multimodal"
_EFFECTIVE_FRACTION: Final = "effective_mem_fraction_static"
_DEFAULT: Final = "the default of this version: the log names no fraction"
_NO_START: Final = "there is no start of a server in this log: no line of it is about memory or arguments of SGLang"
_NO_VERSION: Final = "not enough in this log: the version of SGLang is missing; give it with --ref"
_CIRCULAR: Final = (
    "bytes per token were taken from the pool that was allocated, so that only its size is confirmed; "
    "give --set cell_size= to check the count"
)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of one start.

    `snapshot` is the release it ran, None when neither log nor user tells. `neighbours` loads the releases next to
    it, newer first: a build between two releases calls itself after the older one.
    """

    start: Start
    snapshot: Snapshot | None
    scenario: str | None
    given: Mapping[str, Value]
    model: Inputs
    neighbours: Callable[[], Iterator[Snapshot]]
    is_below: IsBelow
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One formula with one set of inputs, and how far it is from what was observed."""

    formula: FormulaOf
    inputs: Inputs
    result: CaseResult
    difference: Difference | None


def explain(request: Request, rules: RuleSet) -> ExplainReport:
    """Reconcile a start with the formula: readings, ledger, prediction, verdict and why."""
    start = request.start
    readings = minimum(start.ranks)
    scenario, notes = _scenario(request, rules)
    inputs = read_inputs(start, readings, rules, request.given, request.model)
    if start.is_empty:
        return _without_formula(start, readings, scenario, inputs, notes, "start", _NO_START)
    if request.snapshot is None:
        return _without_formula(start, readings, scenario, inputs, notes, "version", _NO_VERSION)
    attempt = _attempt(_formula(request.snapshot, rules, scenario), request, readings, inputs)
    chosen = attempt if agrees(attempt.difference) else _better(request, rules, readings, inputs, attempt) or attempt
    return _report(request, chosen, readings, notes)


def _scenario(request: Request, rules: RuleSet) -> tuple[str, list[str]]:
    """The scenario asked for, else the one that the pools in the log tell of."""
    notes = list(request.start.notes)
    found = request.scenario or request.start.scenario or DEFAULT_SCENARIO
    if found.split("+")[0] not in rules.scenarios and request.scenario is None:
        notes.append(
            f"the log is of a model of the family {found}, which no rule declares: taken as {DEFAULT_SCENARIO}"
        )
        found = DEFAULT_SCENARIO
    return found, notes


def _formula(snapshot: Snapshot, rules: RuleSet, scenario: str) -> FormulaOf:
    return FormulaOf(snapshot.revision, snapshot.extraction, rules, scenario)


def _attempt(formula: FormulaOf, request: Request, readings: Mapping[str, Reading], inputs: Inputs) -> _Attempt:
    """The prediction; bytes per token come from the allocated pool when the model is not known.

    What is left of the inputs is the release's to pick, and said.
    """
    result = formula.result(inputs)
    if COST in result.quantities and result.quantities[COST].value is None:
        cost = cost_from_pool(request.start, readings)
        if cost is not None:
            values = {**inputs.values, COST: cost[0]}
            inputs = replace(inputs, values=values, assumed={**inputs.assumed, COST: cost[1]})
            result = formula.result(inputs)
    if FRACTION in result.defaults:
        values = {**inputs.values, FRACTION: result.defaults[FRACTION]}
        inputs = replace(inputs, values=values, assumed={**inputs.assumed, FRACTION: _DEFAULT})
    allowed = tolerance(formula.revision.version, readings, inputs, result, request.is_below)
    if request.tolerance is not None:
        allowed = replace(allowed, limit=request.tolerance)
    return _Attempt(formula, inputs, result, differ(request.start, result, allowed))


def _better(
    request: Request, rules: RuleSet, readings: Mapping[str, Reading], read: Inputs, first: _Attempt
) -> _Attempt | None:
    """Another reading of the same log that reproduces what came out, None when there is none.

    What was assumed may be otherwise, and a build between two releases has the version of the older one.
    """
    if first.difference is None:
        return None
    for inputs in _other_assumptions(read):
        attempt = _attempt(first.formula, request, readings, inputs)
        if agrees(attempt.difference):
            return attempt
    if FRACTION in first.inputs.assumed:
        # Another default would fit any count; that the user gave a fraction is likelier.
        return None
    for snapshot in request.neighbours():
        formula = _formula(snapshot, rules, first.formula.scenario)
        for inputs in (read, *_other_assumptions(read)):
            attempt = _attempt(formula, request, readings, inputs)
            if agrees(attempt.difference):
                return attempt
    return None


def _other_assumptions(inputs: Inputs) -> Iterator[Inputs]:
    if inputs.assumed.get(_MULTIMODAL) is not None:
        flipped = not inputs.values[_MULTIMODAL]
        reason = f"the count fits a model that is {'' if flipped else 'not '}multimodal"
        values = {**inputs.values, _MULTIMODAL: flipped}
        yield replace(inputs, values=values, assumed={**inputs.assumed, _MULTIMODAL: reason})


def _report(request: Request, chosen: _Attempt, readings: Mapping[str, Reading], notes: Sequence[str]) -> ExplainReport:
    assert request.snapshot is not None
    start, result, inputs = request.start, chosen.result, chosen.inputs
    missing = _missing(start, chosen)
    verdict, reasons = _judge(request, chosen, readings, missing)
    failed = start.failure is not None or result.error_of(TOKENS) is not None
    can_size = not set(missing) - {FRACTION}
    revision = request.snapshot.revision
    other = chosen.formula.revision.resolved
    return ExplainReport(
        start=start,
        revision=revision,
        scenario=chosen.formula.scenario,
        readings=readings,
        assumed=inputs.assumed,
        inputs=inputs.values,
        ledger=keep_ledger(start, readings, result),
        predicted={name: item.value for name, item in result.quantities.items() if item.value is not None},
        difference=chosen.difference,
        verdict=verdict,
        reasons=tuple(reasons),
        missing=missing,
        steps=chosen.formula.steps(inputs, result),
        levers=() if failed or result.quantities.get(TOKENS) is None else find_levers(chosen.formula, inputs, result),
        window=find_window(chosen.formula, inputs, start, readings) if failed and can_size else None,
        formula_ref=other if other != revision.resolved else None,
        notes=tuple(dict.fromkeys(filter(None, [*notes, revision.note]))),
    )


def _missing(start: Start, chosen: _Attempt) -> tuple[str, ...]:
    """What would be needed to compare: inputs of the formula, or the count that came out."""
    # Whether anything was left does not depend on what a token takes.
    wanted = REST if start.failure is not None else TOKENS
    result = chosen.result
    item = result.quantities.get(wanted)
    if item is None:
        return (wanted,)
    names = list(item.missing)
    # One number that can be given stands for what it would be computed from.
    parts = {name: result.quantities.get(name) for name in (BEFORE, AFTER, COST)}
    if start.failure is not None:
        del parts[COST]
    if FRACTION not in chosen.inputs.values:
        parts[FRACTION] = result.quantities.get(_EFFECTIVE_FRACTION)
    for name, part in parts.items():
        if part is not None and part.value is None and (names or name == COST):
            names = [name, *(other for other in names if other not in part.missing and other != name)]
    if start.failure is None and TOKENS not in start.observed:
        names.append(TOKENS)
    elif start.failure is None and FRACTION in chosen.inputs.assumed and not agrees(chosen.difference):
        names.append(FRACTION)
    return tuple(dict.fromkeys(names))


def _judge(
    request: Request, chosen: _Attempt, readings: Mapping[str, Reading], missing: Sequence[str]
) -> tuple[str, list[str]]:
    """The verdict, and the sentences that it rests on."""
    start, result = request.start, chosen.result
    if start.failure is not None:
        return _judge_failure(start, result, missing)
    if missing:
        reasons = [f"not enough in this log: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"]
        reasons += [*default_fraction(chosen.inputs, result), *implied_fraction(start, chosen.inputs)]
        return INSUFFICIENT, reasons
    capped = cap_reason(chosen.inputs, result)
    wrong = [] if agrees(chosen.difference) else _contradictions(request, chosen, readings)
    reasons = [*capped, *wrong]
    reasons += (
        late_memory(readings)
        if wrong
        else explain_difference(start, readings, chosen.inputs, result, chosen.difference)
    )
    assert request.snapshot is not None
    if agrees(chosen.difference) and COST in chosen.inputs.assumed and not capped:
        return EXPLAINED, [*reasons, _CIRCULAR]
    if agrees(chosen.difference):
        if chosen.formula.revision.resolved != request.snapshot.revision.resolved:
            reasons.insert(0, _between(request.snapshot.revision, chosen.formula.revision))
        return REPRODUCES, reasons
    difference = chosen.difference
    within_era = difference is not None and abs(difference.gib) <= difference.tolerance.era
    within_era = within_era and result.error_of(TOKENS) is None
    return (EXPLAINED if within_era else INCONSISTENT), reasons


def _contradictions(request: Request, chosen: _Attempt, readings: Mapping[str, Reading]) -> list[str]:
    """What tells that the inputs are not those of the log."""

    def fits(values: Mapping[str, Value]) -> bool:
        inputs = replace(chosen.inputs, values={**chosen.inputs.values, **values})
        return agrees(_attempt(chosen.formula, request, readings, inputs).difference)

    return find_contradictions(request.start, readings, chosen.inputs, chosen.result, fits)


def _between(asked: Revision, used: Revision) -> str:
    return (
        f"the formula of {asked.resolved} gives another number; that of {used.resolved} reproduces it: "
        "the server was built from a commit between the two"
    )


def _judge_failure(start: Start, result: CaseResult, missing: Sequence[str]) -> tuple[str, list[str]]:
    assert start.failure is not None
    refused = start.failure.kind == "refused"
    reasons = [f"the server did not start: {start.failure.line}"]
    if missing:
        return INSUFFICIENT, [*reasons, f"not enough in this log: {', '.join(missing)} missing"]
    rest = result.quantities[REST].value if REST in result.quantities else None
    no_room = result.error_of(TOKENS) is not None or (isinstance(rest, int | float) and rest <= 0)
    if refused and no_room:
        return REPRODUCES, [*reasons, "by the formula the budget is not positive either"]
    if refused:
        return INCONSISTENT, [*reasons, "by these readings the formula would have given a positive count"]
    if no_room:
        return INCONSISTENT, [*reasons, "by these readings the budget is not positive: the sizing would have refused"]
    return EXPLAINED, [*reasons, "the sizing succeeded; what came after it found too little memory left"]


def _without_formula(
    start: Start,
    readings: Mapping[str, Reading],
    scenario: str,
    inputs: Inputs,
    notes: Sequence[str],
    *lacking: str,
) -> ExplainReport:
    """What a log says by itself, when there is nothing to put into a formula; `lacking` is what and the sentence."""
    missing, reason = lacking
    return ExplainReport(
        start=start,
        revision=None,
        scenario=scenario,
        readings=readings,
        assumed=inputs.assumed,
        inputs=inputs.values,
        ledger=keep_ledger(start, readings, None),
        predicted={},
        difference=None,
        verdict=INSUFFICIENT,
        reasons=(reason,),
        missing=(missing,),
        notes=tuple(notes),
    )
