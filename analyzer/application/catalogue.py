"""The use case of `rules`: what the program looks for, explained."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.application.selection import require
from analyzer.domain.rules import ChangeRule, InvariantRule, RuleSet
from analyzer.domain.views import RulesReport


def catalogue(rules: RuleSet, names: Sequence[str]) -> RulesReport:
    """The rules and quantities called `names`, all when empty. Raises UsageError."""
    every = rules.every_rule()
    by_folded = {name.casefold(): name for name in (*every, *rules.quantities)}
    known = tuple(by_folded.values())
    chosen = {require(by_folded.get(name.casefold(), name), known, "rule or quantity") for name in names} or set(known)
    found = [rule for name, rule in sorted(every.items()) if name in chosen]
    return RulesReport(
        changes=tuple(rule for rule in found if isinstance(rule, ChangeRule)),
        invariants=tuple(rule for rule in found if isinstance(rule, InvariantRule)),
        quantities=tuple(rule for name, rule in rules.quantities.items() if name in chosen),
    )
