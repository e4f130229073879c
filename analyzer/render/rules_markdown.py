"""The rules as a page of documentation."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.domain.rules import ChangeExample, ChangeRule, QuantityRule
from analyzer.domain.views import RulesReport
from analyzer.render.markup import code, fenced, prose, table
from analyzer.render.rules_text import example_rows

_INTRODUCTION = (
    "What `analyzer` reports, rule by rule; `analyzer rules ID` shows one. This page is written by"
    " `analyzer rules --format markdown -o docs/rules.md` from the files in `rules/`."
)


def write_rules(report: RulesReport) -> str:
    """The page."""
    lines = ["# Rules", "", _INTRODUCTION, ""]
    if report.changes:
        lines += ["## Changes between two versions", ""]
        rows = [(_reference(rule), rule.level, prose(rule.title)) for rule in report.changes]
        lines += [*table(("rule", "level", "what changed"), rows), ""]
    if report.quantities:
        lines += ["## Quantities that are followed", ""]
        lines += [*table(("quantity", "unit", "what it is"), list(map(_quantity, report.quantities))), ""]
    for rule in report.changes:
        lines += _rule(rule)
    return "\n".join(lines).rstrip("\n") + "\n"


def _reference(rule: ChangeRule) -> str:
    return f"[{prose(rule.id)}](#{rule.id.lower()})"


def _quantity(rule: QuantityRule) -> tuple[str, str, str]:
    return prose(rule.name), prose(rule.unit), f"{prose(rule.title)}: {prose(rule.description)}"


def _rule(rule: ChangeRule) -> Iterator[str]:
    yield from (f"### {prose(rule.id)}", "")
    yield f"**{prose(rule.title)}** ({rule.level}; reported for {', '.join(rule.kinds) or 'every kind of change'})"
    yield from ("", prose(rule.why), "")
    yield from (f"*What to do:* {prose(rule.what_to_do)}", "")
    if rule.example is not None:
        yield from _example(rule.example)


def _example(example: ChangeExample) -> Iterator[str]:
    yield from (f"*Example:* {prose(example.seen)}. The formula of {code(example.quantity)}:", "")
    rows = dict(example_rows(example))
    yield from (*fenced("diff", [f"- {rows['before']}", f"+ {rows['after']}"]), "")
