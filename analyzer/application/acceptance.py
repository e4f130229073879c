"""Applies what a team has decided to a comparison: levels, ignored rules, and what was accepted before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from analyzer.domain.judgement import CheckReport
from analyzer.domain.report import Accepted, Change, DiffReport, Kind
from analyzer.domain.settings import Ignore, Settings

IsBelow = Callable[[str, str], bool]


def accept(report: DiffReport, settings: Settings, baseline: Collection[str], is_below: IsBelow) -> DiffReport:
    """`report` without what is accepted, its verdict that of the rest.

    `baseline` holds fingerprints; `is_below` compares two versions. A formula that is lost is never
    accepted by its fingerprint: nothing is known about what it would hide.
    """
    leveled = [replace(c, level=settings.levels.get(c.rule, c.level)) for c in report.changes]
    version = report.head.version
    valid = [ignore for ignore in settings.ignores if _holds(ignore, version, is_below)]
    accepted = []
    left = []
    for change in leveled:
        reason = _reason(change, valid, baseline)
        if reason is None:
            left.append(change)
        else:
            accepted.append(Accepted(change, reason))
    if not accepted:
        return replace(report, changes=tuple(left), notes=(*report.notes, *_expired(settings, version, is_below)))
    verdicts = _verdicts(report.verdicts, [item.change for item in accepted], left)
    kinds = [kind for row in verdicts.values() for kind in row.values()]
    return replace(
        report,
        changes=tuple(left),
        accepted=tuple(accepted),
        verdicts=verdicts,
        verdict=max([*kinds, *(change.kind for change in left)], default=Kind.IDENTICAL),
        notes=(*report.notes, *_expired(settings, version, is_below)),
    )


def accept_findings(report: CheckReport, settings: Settings, is_below: IsBelow) -> CheckReport:
    """`report` with the levels of `settings`, what they ignore marked, and the same for its comparison."""
    version = report.revision.version
    valid = [ignore for ignore in settings.ignores if _holds(ignore, version, is_below)]
    findings = [
        replace(
            finding,
            level=settings.levels.get(finding.rule, finding.level),
            accepted=_ignored(finding.rule, finding.violation.quantity, valid),
        )
        for finding in report.findings
    ]
    notes = (*report.notes, *_expired(settings, version, is_below))
    diff = accept(report.diff, settings, (), is_below) if report.diff is not None else None
    return replace(report, findings=tuple(findings), diff=diff, notes=tuple(dict.fromkeys(notes)))


def _ignored(rule: str, quantity: str, ignores: Collection[Ignore]) -> str | None:
    """The reason why findings of `rule` in `quantity` are ignored."""
    fitting = (i.reason for i in ignores if i.rule == rule and (not i.quantities or quantity in i.quantities))
    return next(fitting, None)


def _reason(change: Change, ignores: Collection[Ignore], baseline: Collection[str]) -> str | None:
    """Why `change` is accepted, None when it is not."""
    known = change.fingerprint in baseline and change.kind is not Kind.LOST
    return _ignored(change.rule, change.quantity, ignores) or ("in the baseline" if known else None)


def _holds(ignore: Ignore, version: str | None, is_below: IsBelow) -> bool:
    """Whether an ignore still counts; one that expires needs a version that is known to be older."""
    return ignore.until is None or (version is not None and is_below(version, ignore.until))


def _expired(settings: Settings, version: str | None, is_below: IsBelow) -> Iterator[str]:
    for ignore in settings.ignores:
        if not _holds(ignore, version, is_below):
            known = f"{version} is not below it" if version else "the version of the newer side is not known"
            yield f"{ignore.rule} is no longer ignored: until {ignore.until}, and {known} ({settings.place})"


def _verdicts(
    verdicts: Mapping[str, Mapping[str, Kind]], accepted: Collection[Change], left: Collection[Change]
) -> dict[str, dict[str, Kind]]:
    """The kinds that are left; where an accepted change was all there was, nothing is claimed."""
    found: dict[str, dict[str, Kind]] = {}
    for quantity, row in verdicts.items():
        found[quantity] = {}
        for scenario, kind in row.items():
            others = [change.kind for change in left if _touches(change, quantity, scenario, kind)]
            if not any(_touches(change, quantity, scenario, kind) for change in accepted):
                found[quantity][scenario] = kind
            elif others:
                found[quantity][scenario] = min(kind, max(others))
    return found


def _touches(change: Change, quantity: str, scenario: str, kind: Kind) -> bool:
    """Whether `change` is behind the `kind` that `quantity` has in `scenario`."""
    if change.scenarios:
        return scenario in change.scenarios and quantity in (change.quantity, *change.affects)
    # What no scenario is about has the kind of its changes in all of them.
    return quantity == change.quantity and change.kind <= kind
