"""The rules as a page of documentation."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.domain.rules import AnyRule, ChangeExample, InvariantRule, QuantityRule
from analyzer.domain.views import RulesReport
from analyzer.render.markup import code, fenced, prose, table
from analyzer.render.rules_text import example_rows, reported_for

_INTRODUCTION = (
    "What `analyzer` reports, rule by rule; `analyzer rules ID` shows one. This page is written by"
    " `analyzer rules --format markdown -o docs/rules.md` from the files in `rules/`."
)


def write_rules(report: RulesReport) -> list[str]:
    """The lines of the page."""
    lines = ["# Rules", "", _INTRODUCTION, ""]
    for heading, rules in (
        ("Changes between two versions", report.changes),
        ("Invariants of one version", report.invariants),
    ):
        if rules:
            rows = [(_reference(rule), rule.level, prose(rule.title)) for rule in rules]
            lines += [f"## {heading}", "", *table(("rule", "level", "what it is about"), rows), ""]
    if report.quantities:
        lines += ["## Quantities that are followed", ""]
        lines += [*table(("quantity", "unit", "what it is"), list(map(_quantity, report.quantities))), ""]
    for rule in report.rules:
        lines += _rule(rule)
    return lines


def _reference(rule: AnyRule) -> str:
    return f"[{prose(rule.id)}](#{rule.id.lower()})"


def _quantity(rule: QuantityRule) -> tuple[str, str, str]:
    return prose(rule.name), prose(rule.unit), f"{prose(rule.title)}: {prose(rule.description)}"


def _rule(rule: AnyRule) -> Iterator[str]:
    yield from (f"### {prose(rule.id)}", "")
    yield f"**{prose(rule.title)}** ({rule.level}; {reported_for(rule)})"
    yield from ("", prose(rule.why), "")
    yield from (f"*What to do:* {prose(rule.what_to_do)}", "")
    if isinstance(rule, InvariantRule):
        yield from (f"*Example:* {prose(rule.seen)}.", "", *fenced("text", [f"  {rule.example}"]), "")
    elif rule.example is not None:
        yield from _example(rule.example)


def _example(example: ChangeExample) -> Iterator[str]:
    yield from (f"*Example:* {prose(example.seen)}. The formula of {code(example.quantity)}:", "")
    rows = dict(example_rows(example))
    yield from (*fenced("diff", [f"- {rows['before']}", f"+ {rows['after']}"]), "")
