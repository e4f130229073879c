"""Saying in words under which condition a difference shows that no scenario asks for."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.domain.report import Value, Witness
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import scenario_values
from analyzer.domain.terms import Constant


def outside_guard(witness: Witness | None, rules: RuleSet, scenarios: Sequence[str]) -> str:
    """The inputs of the witness that no scenario sets like this, as a conjunction."""
    if witness is None:
        return "outside the scenarios compared"
    settled = [scenario_values(rules, scenario) for scenario in scenarios]
    parts = []
    for name, value in sorted(witness.inputs.items()):
        rule = rules.symbols.get(name)
        if name in rules.quantities or (rule is not None and rule.free):
            continue
        default = rule.default.value if rule is not None and isinstance(rule.default, Constant) else None
        if all(value != values.get(name, default) for values in settled):
            parts.append(_asked(name, value))
    return " and ".join(parts) or "outside the scenarios compared"


def _asked(name: str, value: Value) -> str:
    if value is True:
        return name
    if value is False:
        return f"not {name}"
    if value is None:
        return f"{name} is None"
    return f"{name} == {value!r}"
