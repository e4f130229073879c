"""The use case of `diff`: compare the formulas of two refs by meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from analyzer.application.machines import common_machines
from analyzer.application.scope import Scope
from analyzer.application.selection import select_scenarios
from analyzer.domain.errors import ExtractionError
from analyzer.domain.extraction import Extraction, Gap
from analyzer.domain.report import Change, DiffReport, Kind, MachineFraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import DEFAULT_FRACTION
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision

if TYPE_CHECKING:
    from analyzer.compare import Comparison, Differences

# What the whole formula is for; a loss of all of it is reported under this name.
SINK: Final = "max_total_num_tokens"


class KnownDifferences(Protocol):
    """What was found out about pairs before."""

    def find(self, base: Snapshot, head: Snapshot, rules: RuleSet) -> Differences | None:
        """All differences between two snapshots under `rules`; None where this very pair is not known."""
        ...


def diff(  # noqa: PLR0913, PLR0917 - two sides, the rules, what to look at, and what is known of them
    base: Snapshot,
    head: Revision,
    analyse_head: Callable[[], Snapshot],
    rules: RuleSet,
    scope: Scope,
    known: KnownDifferences | None = None,
) -> DiffReport:
    """What changed from `base` to `head`; a head whose formula cannot be extracted is `lost`.

    `known` is asked first where nothing restricts the comparison.
    """
    scenarios = select_scenarios(scope.scenarios, rules)
    try:
        found = analyse_head()
    except ExtractionError as error:
        lost = {name: dict.fromkeys(scenarios, Kind.LOST) for name in _chosen(scope, base.extraction)}
        return _report_lost(base, head, error, lost, lost_rule(rules))
    differences = known.find(base, found, rules) if known is not None and scope == Scope() else None
    if differences is None:
        differences = all_differences(base, found, rules, scope)
    return _report(base, found, rules, scenarios, differences.in_words(rules))


def all_differences(base: Snapshot, head: Snapshot, rules: RuleSet, scope: Scope) -> Differences:
    """What differs between two snapshots within `scope`."""
    from analyzer.compare import find_differences  # noqa: PLC0415 - not needed when head is lost

    return find_differences(
        base.extraction,
        head.extraction,
        rules,
        scenarios=select_scenarios(scope.scenarios, rules),
        quantities=_chosen(scope, base.extraction, head.extraction),
        outside=not scope.scenarios,
    )


def _chosen(scope: Scope, *extractions: Extraction) -> tuple[str, ...]:
    """The quantities to compare: those asked for, or all that a side has."""
    return scope.quantities or tuple(dict.fromkeys(name for found in extractions for name in found.quantities))


def _report(base: Snapshot, head: Snapshot, rules: RuleSet, scenarios: Sequence[str], result: Comparison) -> DiffReport:
    return DiffReport(
        base=base.revision,
        head=head.revision,
        verdict=result.verdict,
        verdicts=result.verdicts,
        changes=result.changes,
        gaps=_all_gaps(base.extraction, head.extraction),
        coverage={"base": base.extraction.coverage, "head": head.extraction.coverage},
        base_path=base.extraction.hops,
        head_path=head.extraction.hops,
        notes=(
            *resolution_notes(base.revision, head.revision),
            *result.notes,
            *_unit_notes(base.extraction, head.extraction),
        ),
        default_fractions=_fractions(
            base.extraction, head.extraction, result.verdicts.get(DEFAULT_FRACTION, {}), rules, scenarios
        ),
    )


def _unit_notes(base: Extraction, head: Extraction) -> tuple[str, ...]:
    """Mixtures of units that one side has and the other has not."""
    sides = (("is new", head, base), ("is gone", base, head))
    return tuple(
        f"a doubtful unit {words}: {finding.message} at {finding.location}"
        for words, side, other in sides
        for finding in side.unit_findings
        if finding.message not in {known.message for known in other.unit_findings}
    )


def _fractions(
    base: Extraction, head: Extraction, kinds: Mapping[str, Kind], rules: RuleSet, scenarios: Sequence[str]
) -> tuple[MachineFraction, ...]:
    """What a changed default is on common machines."""
    if max(kinds.values(), default=Kind.IDENTICAL) < Kind.ROUNDING:
        return ()
    return common_machines(base, head, rules, scenarios)


def _report_lost(
    base: Snapshot,
    head: Revision,
    error: ExtractionError,
    verdicts: Mapping[str, Mapping[str, Kind]],
    rule: str,
) -> DiffReport:
    sink = SINK if SINK in verdicts else next(iter(verdicts), SINK)
    change = replace(
        lost_change(rule, "removed", f"The formula cannot be extracted from {head.resolved}: {error}", (sink,)),
        quantity=sink,
        affects=tuple(name for name in verdicts if name != sink),
        scenarios=tuple(verdicts.get(sink, ())),
    )
    return DiffReport(
        base=base.revision,
        head=head,
        verdict=Kind.LOST,
        verdicts=verdicts,
        changes=(change,),
        gaps=base.extraction.every_gap,
        coverage={"base": base.extraction.coverage},
        base_path=base.extraction.hops,
        head_path=(),
        notes=resolution_notes(base.revision, head),
    )


def lost_change(rule: str, action: str, summary: str, identity: tuple[str, ...]) -> Change:
    """That the whole formula was lost, or that it is there again; `identity` tells it from others of its rule."""
    return Change(
        rule=rule,
        kind=Kind.LOST,
        level="error" if action == "removed" else "note",
        action=action,
        quantity=SINK,
        affects=(),
        scenarios=(),
        guard="",
        summary=summary,
        before=None,
        after=None,
        witness=None,
        bound=None,
        commits=(),
        fingerprint=hashlib.sha256("\0".join((rule, *identity)).encode()).hexdigest()[:16],
    )


def lost_rule(rules: RuleSet) -> str:
    """The id of the rule about what can no longer be extracted."""
    matching = (rule.id for rule in rules.changes if rule.area == "extraction" and Kind.LOST.label in rule.kinds)
    return next(matching, "SGM132")


def _all_gaps(base: Extraction, head: Extraction) -> tuple[Gap, ...]:
    """The gaps of both sides, one that both have once and where head has it."""
    return (*head.every_gap, *(gap for gap in base.every_gap if gap not in head.every_gap))


def resolution_notes(*revisions: Revision) -> tuple[str, ...]:
    """How the refs were understood, where that is not obvious."""
    return tuple(dict.fromkeys(revision.note for revision in revisions if revision.note))


def age_notes(stored: Snapshot, found: Snapshot) -> tuple[str, ...]:
    """A warning when `stored` was made with other rules: a difference may then come from them."""
    if stored.rules_digest == found.rules_digest:
        return ()
    made = f"the snapshot of {stored.revision.resolved} was made with other rules (analyzer {stored.tool_version})"
    return (f"{made}; differences may come from them, renew it with the snapshot command",)
