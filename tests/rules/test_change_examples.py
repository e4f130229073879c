"""Every change rule fires on its own example and no other rule does; the other way round its mirror fires."""

from __future__ import annotations

from typing import Final

import pytest

from analyzer.adapters.expressions import parse_expression
from analyzer.domain.build import apply
from analyzer.domain.extraction import Coverage, Extraction, Formula, Gap, InputFacts
from analyzer.domain.rules import ChangeExample, ChangeRule
from analyzer.domain.source import Span
from analyzer.domain.terms import opaque
from tests.support.comparing import compare_extractions
from tests.support.project import shipped_rules

_MIRRORED: Final = {"added": "removed", "removed": "added", "changed": "changed"}
_RULES: Final = shipped_rules().changes


def _example(rule: ChangeRule) -> ChangeExample:
    assert rule.example is not None
    return rule.example


def _side(example: ChangeExample, number: int) -> Extraction:
    """One side of an example; what it does not say is the same on both."""
    text = (example.before, example.after)[number]
    unit = shipped_rules().quantities[example.quantity].unit
    place = example.places[number] if example.places else "python/sglang/srt/model_runner.py"
    formulas = {}
    gaps: tuple[Gap, ...] = ()
    if text:
        term = parse_expression(text)
        if example.gaps:
            gaps = (Gap(place, 1, "loop", example.gaps[number], (example.quantity,)),)
            term = apply("+", term, opaque("loop"))
        source_unit = example.units[number] if example.units else unit
        steps = tuple(filter(None, example.steps[number : number + 1]))
        formulas[example.quantity] = Formula(term, unit, source_unit, locations=(Span(place, 1, 1),), preceded_by=steps)
    default = example.defaults.get(("before", "after")[number])
    inputs = {}
    if example.input:
        facts = InputFacts(example.input, None if default is None else parse_expression(default), (example.input,))
        inputs[example.input] = facts
    setting = example.settings.get(("before", "after")[number])
    settings = {} if setting is None else {example.input: Formula(parse_expression(setting), "1", "1")}
    coverage = Coverage(1, 1, 0, 0, ())
    return Extraction("entry", formulas, {}, inputs, (), gaps, coverage, (), (), {}, settings=settings)


def _fired(before: Extraction, after: Extraction) -> set[str]:
    found = compare_extractions(before, after, shipped_rules(), scenarios=("mha", "mla"), quantities=())
    return {change.rule for change in found.changes}


def _mirror(rule: ChangeRule) -> str:
    """The rule of the same area for the opposite action."""
    [mirror] = [r for r in _RULES if (r.area, r.action) == (rule.area, _MIRRORED[rule.action])]
    return mirror.id


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule.id)
def test_a_rule_fires_on_its_example_and_no_other_does(rule: ChangeRule) -> None:
    before, after = (_side(_example(rule), number) for number in (0, 1))
    assert _fired(before, after) == {rule.id}
    assert _fired(after, before) == {_mirror(rule)}


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule.id)
def test_no_rule_fires_where_nothing_changed(rule: ChangeRule) -> None:
    for number in (0, 1):
        side = _side(_example(rule), number)
        assert _fired(side, side) == set()
