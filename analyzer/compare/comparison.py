"""Comparing two extractions: every quantity in every scenario, then what differs and who is affected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzer.compare.findings import Finding, distinct, to_changes
from analyzer.compare.outside import compare_outside
from analyzer.compare.run import Run
from analyzer.compare.scenarios import compare_scenarios
from analyzer.compare.settings import compare_settings
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


@dataclass(frozen=True, slots=True)
class Differences:
    """All that comparing has found out, before it is put into words: distinct findings, and the kinds."""

    verdicts: Mapping[str, Mapping[str, Kind]]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def in_words(self, rules: RuleSet) -> Comparison:
        """What `rules` make of the findings."""
        changes = to_changes(self.findings, rules)
        kinds = [kind for row in self.verdicts.values() for kind in row.values()]
        verdict = max([*kinds, *(change.kind for change in changes)], default=Kind.IDENTICAL)
        return Comparison(self.verdicts, changes, verdict, self.notes)


def find_differences(  # noqa: PLR0913 - two sides, the rules, and what to look at
    base: Extraction,
    head: Extraction,
    rules: RuleSet,
    *,
    scenarios: Sequence[str],
    quantities: Sequence[str],
    outside: bool = True,
) -> Differences:
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
        compare_settings(run)
    return Differences(run.verdicts, distinct(run.findings), tuple(dict.fromkeys(run.notes)))
