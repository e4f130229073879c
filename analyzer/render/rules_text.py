"""The rules for people: a list of many, everything about one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.domain.rules import AnyRule, ChangeExample, InvariantRule, QuantityRule
from analyzer.domain.views import RulesReport
from analyzer.render.document import Document, Piece

LEVEL_STYLES: Final = {"note": "good", "warning": "attention", "error": "bad"}


def write_rules(document: Document, report: RulesReport) -> None:
    """Write the whole report."""
    if len(report.rules) + len(report.quantities) == 1:
        for rule in report.rules:
            _explain_rule(document, rule)
        for quantity in report.quantities:
            _explain_quantity(document, quantity)
        return
    if report.changes:
        document.heading("Changes between two versions")
        document.table([(rule.id, rule.level, rule.title) for rule in report.changes])
    if report.invariants:
        document.heading("Invariants of one version")
        document.table([(rule.id, rule.level, rule.title) for rule in report.invariants])
    if report.quantities:
        document.heading("Quantities that are followed")
        document.table([(rule.name, rule.unit, rule.title) for rule in report.quantities])


def _explain_rule(document: Document, rule: AnyRule) -> None:
    style = LEVEL_STYLES.get(rule.level, "title")
    document.write((Piece(f"{rule.level} {rule.id}", style), Piece(f"  {rule.title}", "title")))
    document.say(reported_for(rule), indent=1)
    document.heading("Why it matters")
    document.say(rule.why, indent=1)
    document.heading("What to do")
    document.say(rule.what_to_do, indent=1)
    if isinstance(rule, InvariantRule):
        document.heading("Example")
        document.say(f"{rule.seen}.", indent=1)
        document.say(rule.example, indent=1, hanging=2)
    elif rule.example is not None:
        document.heading("Example")
        document.say(f"{rule.example.seen}.", indent=1)
        document.table(list(example_rows(rule.example)))


def reported_for(rule: AnyRule) -> str:
    """What a rule is about: one version, or some kinds of change between two."""
    if isinstance(rule, InvariantRule):
        return "judges one version"
    return f"reported for {', '.join(rule.kinds) or 'every kind of change'}"


def example_rows(example: ChangeExample) -> Iterator[tuple[str, str]]:
    """An example line by line: what it is a formula of, and both sides."""
    sides = ("before", example.before, 0), ("after", example.after, 1)
    yield "quantity", example.quantity
    for label, formula, number in sides:
        facts = [
            formula or "no formula",
            *(f"in {unit}" for unit in example.units[number : number + 1]),
            *(f"at {place}" for place in example.places[number : number + 1]),
            *(f"behind {gap}" for gap in example.gaps[number : number + 1]),
            *(f"measured after {step}" for step in example.steps[number : number + 1] if step),
        ]
        if example.settings:
            facts.append(f"{example.input} is set to {example.settings[label]}")
        elif example.input:
            facts.append(f"{example.input} = {example.defaults.get(label, 'not set')} by default")
        yield label, "; ".join(facts)


def _explain_quantity(document: Document, rule: QuantityRule) -> None:
    document.say(f"{rule.name} [{rule.unit}]", "title")
    document.say(rule.title, indent=1)
    document.say(rule.description, indent=1)
    if rule.sinks:
        document.say(f"read from: {', '.join(rule.sinks)}", "place", indent=1, hanging=2)
