"""What changed from each release to the next."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.application.diff import diff
from analyzer.application.scope import Scope
from analyzer.domain.extraction import Extraction
from analyzer.domain.report import DiffReport
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot


def compare_neighbours(
    base: Snapshot, head: Snapshot, rules: RuleSet, scenarios: Sequence[str], quantities: Sequence[str]
) -> DiffReport | None:
    """What changed from `base` to `head` under `scenarios`; None where nothing did."""
    if same_formula(base.extraction, head.extraction):
        return None
    return diff(base, head.revision, lambda: head, rules, Scope(tuple(scenarios), tuple(quantities)))


def same_formula(base: Extraction, head: Extraction) -> bool:
    """Whether two releases have one and the same formula, in the same places of the source."""
    # Terms are unique, so that this compares identities.
    return (
        base.quantities == head.quantities
        and base.definitions == head.definitions
        and base.inputs == head.inputs
        and base.gaps == head.gaps
        and _places(base) == _places(head)
    )


def _places(extraction: Extraction) -> tuple[object, ...]:
    formulas = {
        name: (formula.source_name, {span.path for span in formula.locations})
        for name, formula in extraction.quantities.items()
    }
    return extraction.hops, tuple(hop.path for hop in extraction.hops), formulas
