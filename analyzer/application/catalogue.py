"""The use case of `rules`: what the program looks for, explained."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.application.selection import require
from analyzer.domain.rules import FALLBACK_RULE, RuleSet
from analyzer.domain.views import RulesReport


def catalogue(rules: RuleSet, names: Sequence[str]) -> RulesReport:
    """The rules and quantities called `names`, all when empty. Raises UsageError."""
    changes = {rule.id: rule for rule in (FALLBACK_RULE, *rules.changes)}
    by_folded = {name.casefold(): name for name in (*changes, *rules.quantities)}
    known = tuple(by_folded.values())
    chosen = {require(by_folded.get(name.casefold(), name), known, "rule or quantity") for name in names} or set(known)
    return RulesReport(
        changes=tuple(rule for name, rule in sorted(changes.items()) if name in chosen),
        quantities=tuple(rule for name, rule in rules.quantities.items() if name in chosen),
    )
