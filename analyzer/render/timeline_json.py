"""One quantity over releases as a JSON object, key by key as the published schema says."""

from __future__ import annotations

from analyzer.domain.report import SCHEMA_VERSION
from analyzer.domain.timeline import Moment, TimelineReport
from analyzer.render.json_object import Object


def timeline_object(report: TimelineReport) -> Object:
    """The object of `timeline`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "quantity": report.quantity,
        "unit": report.unit,
        "scenario": report.scenario,
        "inputs": dict(report.inputs),
        "assumed": dict(report.assumed),
        "releases": [_moment(moment) for moment in report.moments],
        "notes": list(report.notes),
    }


def _moment(moment: Moment) -> Object:
    result = moment.result
    return {
        "ref": moment.release,
        "commit": moment.revision.commit if moment.revision is not None else None,
        "version": moment.revision.version if moment.revision is not None else None,
        "scenario": moment.scenario,
        "value": result.value if result is not None else None,
        "changed": moment.changed,
        "delta": moment.delta,
        "relative": moment.relative,
        "default_fraction": moment.fraction,
        "missing": list(result.missing) if result is not None else [],
        "absent": result is not None and result.absent,
        "error": result.error if result is not None else None,
        "lost": moment.lost,
    }
