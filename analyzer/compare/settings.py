"""Options that SGLang itself sets in another way: what that does to the quantities that read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzer.compare.explain import Part
from analyzer.compare.findings import Finding
from analyzer.compare.ladder import Judgement
from analyzer.compare.outside import in_words
from analyzer.compare.pairing import Side
from analyzer.compare.run import Run
from analyzer.domain.build import substitute, without_raises
from analyzer.domain.notation import to_text
from analyzer.domain.report import Kind, Value, Witness
from analyzer.domain.scenario import DEFAULT_FRACTION, in_result_unit, scenario_inputs, scenario_values, value_term
from analyzer.domain.terms import NONE, Constant, Scalar, Term

# A longer formula of a setting tells less than what it gives at the witness.
_LONGEST_SHOWN: Final = 80


def compare_settings(run: Run) -> None:
    """Report every option whose setting changed, once, for the first quantity that this moves.

    In the formulas an option is what the runner gets; the verdicts of those that read it are about that. Where it could
    not be decided whether an option is set otherwise, a note says so: how options are set is rewritten all the time.
    """
    judged = _judged_settings(run)
    found = {name: judgement for name, judgement in judged.items() if judgement.kind in (Kind.ROUNDING, Kind.SEMANTIC)}
    undecided = [name for name, judgement in judged.items() if judgement.kind is Kind.UNDECIDED and _is_read(run, name)]
    if undecided:
        run.notes.append(f"what SGLang sets these to is written otherwise, and may be another: {', '.join(undecided)}")
    effects = _Effects(run, found)
    for option, judgement in found.items():
        scenarios = [scenario for scenario in run.scenarios if effects.readers(scenario, option)]
        moved = effects.strongest(scenarios, option, judgement) or effects.strongest((None,), option, judgement)
        if moved is not None:
            _report(run, option, judgement, moved)


def _judged_settings(run: Run) -> dict[str, Judgement]:
    """How the settings of every option relate that has another formula.

    Options that SGLang resolves later, from what only the runner knows, are taken as left to it.
    """
    before, after = run.base.settings, run.head.settings
    names = [name for name in sorted(before.keys() & after.keys()) if before[name].term is not after[name].term]
    if not names:
        return {}
    left = {name: _left_alone(run, name) for name in run.rules.anchors["kept_options"]}
    sides = {name: (substitute(before[name].term, left), substitute(after[name].term, left)) for name in names}
    return {name: _judged(run, name, *pair) for name, pair in sides.items()}


def _left_alone(run: Run, option: str) -> Term:
    """What an option is when nobody gives it."""
    rule = run.rules.symbols.get(option)
    return NONE if rule is None or rule.default is None else rule.default


def _is_read(run: Run, option: str) -> bool:
    """Whether a formula of either side reads `option`."""
    return any(option in extraction.inputs for extraction in (run.base, run.head))


def _judged(run: Run, option: str, before: Term, after: Term) -> Judgement:
    """How two settings relate; an example in which the start fails on one side is none."""
    found = run.settings(option, before, after)
    fails = found.witness is not None and any(map(_is_failure, (found.witness.before, found.witness.after)))
    return replace(found, kind=Kind.UNDECIDED, witness=None) if fails else found


def _is_failure(value: Scalar) -> bool:
    """Whether a side of a witness is the name of an exception."""
    return isinstance(value, str) and value.endswith(("Error", "Exception"))


@dataclass(frozen=True, slots=True)
class _Moved:
    """What the new setting does to the quantity that it moves most, and where."""

    quantity: str
    effect: Judgement
    scenarios: tuple[str, ...]
    readers: tuple[str, ...]


class _Effects:
    """What other settings of options do to the formulas of head."""

    def __init__(self, run: Run, options: Collection[str]) -> None:
        self._run = run
        self._options = options
        self._sides: dict[str | None, Side] = {}
        self._names = [name for name in run.verdicts if name != DEFAULT_FRACTION]

    def readers(self, scenario: str | None, option: str) -> list[str]:
        """The quantities that read `option` in a scenario (None: in none of them)."""
        side = self._side(scenario)
        return [name for name in self._names if side.term(name) is not None and option in side.reads(name)]

    def strongest(self, scenarios: Sequence[str | None], option: str, judgement: Judgement) -> _Moved | None:
        """The strongest effect in some scenarios, None where the change of `option` moves nothing there."""
        found: dict[tuple[str | None, str], Judgement] = {}
        for scenario in scenarios:
            for reader in self.readers(scenario, option):
                found[scenario, reader] = self._effect(self._side(scenario), option, reader, judgement)
                if found[scenario, reader].kind is Kind.SEMANTIC:
                    break
            else:
                continue
            break
        moved = {place: effect for place, effect in found.items() if effect.kind >= Kind.ROUNDING}
        if not moved:
            return None
        (_, first), effect = max(moved.items(), key=lambda item: item[1].kind)
        readers = dict.fromkeys(name for scenario in scenarios for name in self.readers(scenario, option))
        named = tuple(scenario for scenario in scenarios if scenario is not None)
        kind = min(effect.kind, judgement.kind)
        return _Moved(first, replace(effect, kind=kind), named, tuple(name for name in readers if name != first))

    def _side(self, scenario: str | None) -> Side:
        if scenario not in self._sides:
            rules = self._run.rules
            values = None if scenario is None else scenario_values(rules, scenario)
            opened = {*self._options, *(scenario_inputs(rules, scenario) if scenario else ())} - (values or {}).keys()
            head = self._run.head
            self._sides[scenario] = Side(head, rules, values, opened, alike=head.definitions)
        return self._sides[scenario]

    def _effect(self, side: Side, option: str, reader: str, judgement: Judgement) -> Judgement:
        formula = side.formula(reader)
        assert formula is not None
        # An option that is set in another way to make a start fail, or to keep it from failing, is no other sizing.
        opened = side.expand(side.settled(without_raises(in_result_unit(formula))))
        assert judgement.witness is not None
        values = (value_term(judgement.witness.before), value_term(judgement.witness.after))
        return self._run.effect(reader, *(side.settled(substitute(opened, {option: value})) for value in values))


def _report(run: Run, option: str, judgement: Judgement, moved: _Moved) -> None:
    effect = moved.effect
    run.findings.append(
        Finding(
            quantity=moved.quantity,
            kind=effect.kind,
            part=_part(judgement),
            scenarios=moved.scenarios,
            before=run.base.settings[option],
            after=run.head.settings[option],
            affects=moved.readers,
            witness=_example(option, judgement, effect),
            bound=effect.bound,
            guard=in_words(_conditions(run, option, judgement.witness)),
            detail=option,
        )
    )


def _example(option: str, judgement: Judgement, effect: Judgement) -> Witness | None:
    """What the new setting makes of the quantity; what the option is set to, where that is no number on both sides."""
    found = effect.witness
    if found is None or not all(isinstance(value, int | float) for value in (found.before, found.after)):
        return judgement.witness
    return replace(found, unset=(option,))


def _part(found: Judgement) -> Part:
    """Both formulas of the setting, or what they give at the witness where they are long."""
    if found.witness is None or all(len(to_text(side)) <= _LONGEST_SHOWN for side in (found.before, found.after)):
        return Part("setting", "changed", found.before, found.after)
    return Part("setting", "changed", value_term(found.witness.before), value_term(found.witness.after))


def _conditions(run: Run, option: str, witness: Witness | None) -> dict[str, Value]:
    """What has to be given, or found in the model and the machine, for the option to be set otherwise."""
    if witness is None:
        return {}
    asked = {name: value for name, value in witness.inputs.items() if not _is_usual(run, name, value)}
    return asked or {name: value for name, value in witness.inputs.items() if name == option}


def _is_usual(run: Run, name: str, value: Value) -> bool:
    """Whether an input has this value where nobody sets it."""
    rule = run.rules.symbols.get(name)
    default = None if rule is None else rule.default
    return value is None or value is False or (isinstance(default, Constant) and default.value == value)
