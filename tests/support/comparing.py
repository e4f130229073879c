"""Comparing two extractions, with the findings in words."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.compare import Comparison, find_differences
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RuleSet


def compare_extractions(
    base: Extraction, head: Extraction, rules: RuleSet, *, scenarios: Sequence[str], quantities: Sequence[str]
) -> Comparison:
    """What `find_differences` finds, in the words of `rules`."""
    return find_differences(base, head, rules, scenarios=scenarios, quantities=quantities).in_words(rules)
