"""What a change of release means for a server: its numbers on both sides, and the limits they break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.application.explain.formula import FormulaOf
from analyzer.application.explain.inputs import TOKENS
from analyzer.application.selection import require
from analyzer.application.solve import solve
from analyzer.domain.effect import Effect, Limit, Server, ServerEffect
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import CaseResult, Inputs
from analyzer.domain.report import DiffReport, Kind
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION
from analyzer.domain.snapshot import Snapshot


def check_limits(limits: Sequence[Limit], servers: Sequence[Server], rules: RuleSet) -> None:
    """Refuse limits that nothing can be judged by, before anything is extracted. Raises UsageError."""
    for limit in limits:
        require(limit.quantity, rules.quantities, "quantity")
    if limits and not servers:
        hint = "describe one under [[tool.sglang-analyzer.server]] in pyproject.toml: name, scenario, inputs"
        raise UsageError("no server in the settings that a limit could be judged for", hint=hint)


def pair_results(before: CaseResult, after: CaseResult, names: Sequence[str]) -> tuple[Effect, ...]:
    """The effect on each of the quantities `names`, which both results have."""
    return tuple(Effect(name, before.quantities[name], after.quantities[name]) for name in names)


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
    found: list[ServerEffect] = []
    for server in servers:
        asked = names if GIVEN_FRACTION in server.inputs else tuple(dict.fromkeys([*names, DEFAULT_FRACTION]))
        before, after = (FormulaOf(side.revision, side.extraction, rules, server.scenario) for side in sides)
        results = _result(before, server, asked), _result(after, server, asked)
        for effect in pair_results(*results, asked):
            _require_numbers(server, effect, report, limits)
            found.append(_with_fraction(_judge(server, effect, report, limits), after))
    return replace(report, effects=tuple(found))


def _result(formula: FormulaOf, server: Server, names: Sequence[str]) -> CaseResult:
    try:
        return formula.result(Inputs(server.inputs), names)
    except UsageError as error:
        raise UsageError(f"the server {server.name!r}: {error}") from error


def _judge(server: Server, effect: Effect, report: DiffReport, limits: Sequence[Limit]) -> ServerEffect:
    undecided = _is_undecided(report, effect.quantity, server.scenario)
    concerned = [limit for limit in limits if limit.quantity == effect.quantity]
    # What could not be compared may hide any effect.
    broken = [limit.text for limit in concerned if undecided or limit.is_broken_by(effect.before, effect.after)]
    return ServerEffect(effect.quantity, effect.before, effect.after, server, tuple(broken), undecided)


def _is_undecided(report: DiffReport, name: str, scenario: str) -> bool:
    """Whether the comparison could not tell if the formula is the same for servers of `scenario`."""
    kinds = report.verdicts.get(name, {})
    return kinds.get(scenario, kinds.get(scenario.partition("+")[0])) is Kind.UNDECIDED


def _require_numbers(server: Server, effect: Effect, report: DiffReport, limits: Sequence[Limit]) -> None:
    """Refuse a limit on a number that cannot be computed."""
    if all(limit.quantity != effect.quantity for limit in limits):
        return
    for side, result in ((report.base, effect.before), (report.head, effect.after)):
        if result.missing:
            needs = ", ".join(result.missing)
            message = f"the server {server.name!r}: {effect.quantity} of {side.resolved} needs {needs}"
            raise UsageError(message, hint="set it among the `inputs` of the server in the settings")


def _with_fraction(effect: ServerEffect, after: FormulaOf) -> ServerEffect:
    """`effect` with the smallest fraction that keeps today's tokens, where they change."""
    target = effect.before.number
    if effect.quantity != TOKENS or target is None or effect.after.missing or target == effect.after.number:
        return effect
    keeping = solve(after, Inputs(effect.server.inputs), int(target), ["fraction"]).solutions[0]
    return replace(effect, keeping=keeping)
