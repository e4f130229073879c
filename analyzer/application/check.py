"""The use case of `check`: judge the formulas of one ref by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from analyzer.application.invariants import CHECKS, Subject, UnjudgedError
from analyzer.domain.judgement import CheckReport, Finding, Violation
from analyzer.domain.report import DiffReport
from analyzer.domain.rules import InvariantRule, RuleSet
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.snapshot import Snapshot


def check(snapshot: Snapshot, rules: RuleSet, scenarios: Sequence[str], diff: DiffReport | None = None) -> CheckReport:
    """The findings of every invariant rule, and `diff` with what was accepted beside them."""
    extraction = snapshot.extraction
    subject = Subject(extraction, rules, scenarios)
    unjudged: list[str] = []
    findings: dict[str, Finding] = {}
    with deep_recursion():
        for rule in rules.invariants:
            for finding in _findings(subject, rule, unjudged):
                findings.setdefault(finding.fingerprint, finding)
    return CheckReport(
        revision=snapshot.revision,
        findings=tuple(findings.values()),
        unjudged=tuple(unjudged),
        diff=diff,
        gaps=extraction.gaps,
        coverage=extraction.coverage,
        notes=tuple(filter(None, [snapshot.revision.note])),
    )


def _findings(subject: Subject, rule: InvariantRule, unjudged: list[str]) -> Iterator[Finding]:
    try:
        for violation in CHECKS[rule.check](subject, rule):
            yield _finding(rule, violation)
    except UnjudgedError as error:
        unjudged.append(f"{rule.id} ({rule.title}): {error}")


def _finding(rule: InvariantRule, violation: Violation) -> Finding:
    summary = rule.message.format(quantity=violation.quantity, detail=violation.detail)
    parts = (rule.id, violation.quantity, violation.detail)
    return Finding(rule.id, rule.level, summary, violation, sha256("\0".join(parts).encode()).hexdigest()[:16])
