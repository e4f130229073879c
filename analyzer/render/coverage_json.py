"""How much of each release was followed, as a JSON object, key by key as the published schema says."""

from __future__ import annotations

from analyzer.domain.coverage import CoverageReport, ReleaseCoverage
from analyzer.domain.extraction import Coverage, Gap
from analyzer.domain.report import SCHEMA_VERSION
from analyzer.render.json_object import Object


def coverage_report_object(report: CoverageReport) -> Object:
    """The object of `timeline --coverage`."""
    return {"schema_version": SCHEMA_VERSION, "releases": [_release(release) for release in report.releases]}


def _release(release: ReleaseCoverage) -> Object:
    revision = release.revision
    return {
        "ref": release.release,
        "commit": revision.commit if revision is not None else None,
        "version": revision.version if revision is not None else None,
        "coverage": None if release.coverage is None else coverage_object(release.coverage),
        "gaps": [gap_object(gap) for gap in release.gaps],
        "opaque_calls": [{"name": call.name, "reason": call.reason} for call in release.calls],
        "lost": release.lost,
    }


def coverage_object(coverage: Coverage) -> Object:
    """How much of one ref was decided."""
    return {
        "modules": coverage.modules,
        "functions": coverage.functions,
        "guards_decided": coverage.guards_decided,
        "guards_undecided": coverage.guards_undecided,
        "opaque_calls": list(coverage.opaque_calls),
    }


def gap_object(gap: Gap) -> Object:
    """A place that was not followed."""
    return {
        "path": gap.path,
        "line": gap.line,
        "construct": gap.construct,
        "reason": gap.reason,
        "affects": list(gap.affects),
    }
