"""Comparing two extractions: every quantity in every scenario, then what differs and who is affected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzer.compare.findings import to_changes
from analyzer.compare.outside import compare_outside
from analyzer.compare.run import Run
from analyzer.compare.scenarios import compare_scenarios
from analyzer.domain.extraction import Extraction
from analyzer.domain.report import Change, Kind
from analyzer.domain.rules import RuleSet


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the formulas of two refs relate; `verdict` is the strongest kind of all."""

    verdicts: Mapping[str, Mapping[str, Kind]]
    changes: tuple[Change, ...]
    verdict: Kind
    notes: tuple[str, ...]


def compare_extractions(  # noqa: PLR0913 - two sides, the rules, and what to look at
    base: Extraction,
    head: Extraction,
    rules: RuleSet,
    *,
    scenarios: Sequence[str],
    quantities: Sequence[str],
    outside: bool = True,
) -> Comparison:
    """Compare `quantities` (all when empty) in `scenarios`, and beyond all of them when `outside`.

    The result does not depend on the order of anything but the rules.
    """
    declared = {name: position for position, name in enumerate(rules.quantities)}
    chosen = quantities or {*declared, *base.quantities, *head.quantities}
    ordered = sorted(set(chosen), key=lambda name: (declared.get(name, len(declared)), name))
    run = Run(base, head, rules, scenarios, ordered)
    compare_scenarios(run)
    if outside:
        compare_outside(run)
    changes = to_changes(run.findings, rules)
    kinds = [kind for row in run.verdicts.values() for kind in row.values()]
    verdict = max([*kinds, *(change.kind for change in changes)], default=Kind.IDENTICAL)
    return Comparison(run.verdicts, changes, verdict, tuple(dict.fromkeys(run.notes)))
