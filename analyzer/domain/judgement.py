"""What `check` finds in one ref, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.domain.extraction import Coverage, Gap
from analyzer.domain.report import DiffReport, Value
from analyzer.domain.source import Revision, Span


@dataclass(frozen=True, slots=True)
class Violation:
    """A place in the formulas that an invariant does not allow; `inputs` shows it in numbers."""

    quantity: str
    detail: str
    scenarios: tuple[str, ...] = ()
    locations: tuple[Span, ...] = field(default=(), compare=False)
    inputs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation with the rule that it breaks."""

    rule: str
    level: str
    summary: str
    violation: Violation
    fingerprint: str
    accepted: str | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The judgement of one ref; `diff` compares it with what was accepted, when that was asked for.

    `unjudged` says where an invariant could not be decided.
    """

    revision: Revision
    findings: tuple[Finding, ...]
    unjudged: tuple[str, ...]
    diff: DiffReport | None
    gaps: tuple[Gap, ...]
    coverage: Coverage
    notes: tuple[str, ...]

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that nobody has accepted."""
        return tuple(finding for finding in self.findings if finding.accepted is None)
