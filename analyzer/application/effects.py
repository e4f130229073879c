"""What a comparison means for the servers of a project: their numbers on both sides, and the limits they break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.application.evaluate import evaluate_cases
from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import TOKENS
from analyzer.application.selection import require
from analyzer.application.solve import solve
from analyzer.domain.effect import Effect, Limit, Outcome, Server
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Case, CaseResult, Inputs, Result, Value
from analyzer.domain.report import DiffReport, Kind
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.solution import Solution


def check_limits(limits: Sequence[Limit], servers: Sequence[Server], rules: RuleSet) -> None:
    """Refuse limits that nothing can be judged by, before anything is extracted. Raises UsageError."""
    for limit in limits:
        require(limit.quantity, rules.quantities, "quantity")
    if limits and not servers:
        hint = "describe one under [[tool.sglang-analyzer.server]] in pyproject.toml: name, scenario, inputs"
        raise UsageError("no server in the settings that a limit could be judged for", hint=hint)


def add_effects(
    report: DiffReport,
    sides: tuple[Snapshot, Snapshot],
    rules: RuleSet,
    servers: Sequence[Server],
    limits: Sequence[Limit],
) -> DiffReport:
    """`report` with the effect on every one of `servers`, from the formulas of both sides.

    Raises UsageError when a limit cannot be judged for want of an input.
    """
    names = tuple(dict.fromkeys([TOKENS, *(limit.quantity for limit in limits)]))
    before, after = (_Numbers(side, rules) for side in sides)
    effects = []
    for server in servers:
        asked = names if GIVEN_FRACTION in server.inputs else tuple(dict.fromkeys([*names, DEFAULT_FRACTION]))
        results = before.of(server, asked), after.of(server, asked)
        for name in asked:
            undecided = _is_undecided(report, name, server.scenario)
            effect = _effect(server, name, results, limits, undecided=undecided)
            _require_numbers(effect, report, limits)
            effects.append(_with_fraction(effect, after))
    return replace(report, effects=tuple(effects))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The quantities of one side, for servers."""

    side: Snapshot
    rules: RuleSet

    def of(self, server: Server, names: Sequence[str]) -> CaseResult:
        """Some quantities of one server, with the release's own fraction when it is given none.

        Raises UsageError for inputs that no configuration could have.
        """
        inputs = dict(server.inputs)
        if GIVEN_FRACTION not in inputs:
            default = _outcome(self._evaluate(server, [inputs], [DEFAULT_FRACTION])[0], DEFAULT_FRACTION)
            inputs |= {} if default.value is None else {GIVEN_FRACTION: default.value}
        [result] = self._evaluate(server, [inputs], names)
        return result

    def keeping(self, server: Server, target: float) -> Solution:
        """The smallest fraction with which the server has at least `target` tokens."""
        formula = FormulaOf(self.side.revision, self.side.extraction, self.rules, server.scenario)
        return solve(formula, Inputs(server.inputs), int(target), ["fraction"]).solutions[0]

    def _evaluate(
        self, server: Server, inputs: Sequence[Mapping[str, Value]], names: Sequence[str]
    ) -> list[CaseResult]:
        cases = [Case(values, server.scenario) for values in inputs]
        results = evaluate_cases(self.side.extraction, self.rules, cases, names)
        for result in results:
            if result.problem is not None:
                raise UsageError(f"the server {server.name!r}: {result.problem}")
        return results


def _outcome(result: CaseResult, name: str) -> Outcome:
    found: Result = result.quantities[name]
    value = found.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Outcome(value)
    if found.missing or result.error is None:
        return Outcome(missing=found.missing or (name,))
    return Outcome(error=result.error)


def _effect(
    server: Server, name: str, results: tuple[CaseResult, CaseResult], limits: Sequence[Limit], *, undecided: bool
) -> Effect:
    before, after = (_outcome(result, name) for result in results)
    concerned = [limit for limit in limits if limit.quantity == name]
    # What could not be compared may hide any effect.
    broken = [limit.text for limit in concerned if undecided or limit.is_broken_by(before, after)]
    return Effect(server, name, results[1].quantities[name].unit, before, after, tuple(broken), undecided)


def _is_undecided(report: DiffReport, name: str, scenario: str) -> bool:
    """Whether the comparison could not tell if the formula is the same for servers of `scenario`."""
    kinds = report.verdicts.get(name, {})
    return kinds.get(scenario, kinds.get(scenario.partition("+")[0])) is Kind.UNDECIDED


def _require_numbers(effect: Effect, report: DiffReport, limits: Sequence[Limit]) -> None:
    """Refuse a limit on a number that cannot be computed."""
    if all(limit.quantity != effect.quantity for limit in limits):
        return
    for side, outcome in ((report.base, effect.before), (report.head, effect.after)):
        if outcome.missing:
            needs = ", ".join(outcome.missing)
            message = f"the server {effect.server.name!r}: {effect.quantity} of {side.resolved} needs {needs}"
            raise UsageError(message, hint="set it among the `inputs` of the server in the settings")


def _with_fraction(effect: Effect, after: _Numbers) -> Effect:
    """`effect` with the fraction that keeps today's tokens, where they change."""
    target = effect.before.value
    if effect.quantity != TOKENS or target is None or effect.after.missing or target == effect.after.value:
        return effect
    return replace(effect, keeping=after.keeping(effect.server, target))
