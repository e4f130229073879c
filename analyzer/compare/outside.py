"""Differences in conditions that no scenario asks for, and those conditions in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from analyzer.compare.defaults import compare_default
from analyzer.compare.ladder import Judgement
from analyzer.compare.pairing import Side, Sides, differing_defaults
from analyzer.compare.run import Run
from analyzer.compare.sampling import is_number
from analyzer.domain.report import Kind, Value, Witness
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION, scenario_values, value_term

_UNSPECIFIC: Final = "outside the scenarios compared"
_MOST_CONDITIONS: Final = 4


def compare_outside(run: Run) -> None:
    """Report differences of the full formulas that no scenario shows."""
    sides = Sides(run.base, run.head, run.rules, None)
    reported = {finding.quantity for finding in run.findings if finding.kind >= Kind.ROUNDING}
    names = [name for name in run.verdicts if not run.is_scenario_free(name)]
    below = {sub for name in names for sub in sides.reads(name)} - set(names) - {DEFAULT_FRACTION, GIVEN_FRACTION}
    for name in (*names, *sorted(below)):
        if name not in reported:
            _compare(run, sides, name, names, is_quantity=name not in below)
    for name in run.verdicts.keys() - set(names) - reported:
        _compare_everywhere(run, sides, name, names)
    _compare_defaults(run, sides, names)


def _compare_everywhere(run: Run, sides: Sides, name: str, names: list[str]) -> None:
    """Judge a quantity that no scenario is about wherever it differs: that is its verdict."""
    _compare(run, sides, name, names, is_quantity=True)
    kinds = [finding.kind for finding in run.findings if finding.quantity == name]
    run.verdicts[name] = {scenario: max((kind, *kinds)) for scenario, kind in run.verdicts[name].items()}


def _compare_defaults(run: Run, sides: Sides, names: list[str]) -> None:
    """Report changed defaults that matter in no scenario."""
    told = {finding.detail for finding in run.findings if finding.part.area == "default"}
    for name in differing_defaults(run.base, run.head, {}):
        if name not in told:
            readers = [reader for reader in names if name in sides.head.reads(reader)]
            compare_default(
                run,
                sides,
                name,
                readers,
                scenarios=(),
                guard=lambda reader, witness: in_words(_conditions(run, sides, reader, witness)),
            )


def _compare(run: Run, sides: Sides, name: str, names: list[str], *, is_quantity: bool) -> None:
    pair = sides.pair(name)
    if pair is None or pair[0] is pair[1]:
        return
    affects = [other for other in names if name in sides.reads(other) and not run.cancels_out(sides, name, other)]
    if not affects and not is_quantity:
        return
    judgement = run.judge(sides, name, pair)
    if judgement.kind >= Kind.ROUNDING:
        conditions = _conditions(run, sides, name, judgement.witness)
        shown = _under(run, name, judgement, conditions)
        run.report(name, shown, (), affects, in_words(conditions))


def _conditions(run: Run, sides: Sides, quantity: str, witness: Witness | None) -> dict[str, Value]:
    """The inputs of the witness that no scenario sets like this."""
    if witness is None:
        return {}
    settled = [scenario_values(run.rules, scenario) for scenario in run.scenarios]
    found: dict[str, Value] = {}
    for name in sorted(witness.inputs.keys() & sides.reads(quantity)):
        value, rule = witness.inputs[name], run.rules.symbols.get(name)
        if name in run.rules.quantities or (is_number(value) if rule is None else rule.free):
            continue
        usual = any(_is_default(side, name, value) for side in (sides.base, sides.head))
        if not any(value == values[name] if name in values else usual for values in settled):
            found[name] = value
    return found


def _is_default(side: Side, name: str, value: Value) -> bool:
    return side.default(name) is value_term(value)


def _under(run: Run, name: str, judgement: Judgement, conditions: Mapping[str, Value]) -> Judgement:
    """The judgement about what is left of the formulas under `conditions`, for a shorter explanation."""
    if not conditions or judgement.witness is None:
        return judgement
    sizes = {key for key, value in judgement.witness.inputs.items() if key not in conditions and is_number(value)}
    sides = Sides(run.base, run.head, run.rules, "", conditions, given=sizes - run.rules.symbols.keys())
    pair = sides.pair(name)
    if pair is None or run.proven(*sides.opened(*pair)):
        return judgement
    return replace(judgement, before=pair[0], after=pair[1])


def in_words(conditions: Mapping[str, Value]) -> str:
    """The conditions as a conjunction."""
    parts = [_asked(name, value) for name, value in conditions.items()]
    more = len(parts) - _MOST_CONDITIONS
    rest = [f"{more} more"] if more > 0 else []
    return " and ".join((*parts[:_MOST_CONDITIONS], *rest)) or _UNSPECIFIC


def _asked(name: str, value: Value) -> str:
    if value is True:
        return name
    if value is False:
        return f"not {name}"
    if value is None:
        return f"{name} is None"
    return f"{name} == {value!r}"
