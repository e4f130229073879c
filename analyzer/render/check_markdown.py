"""The judgement of one ref as a pull-request comment."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.domain.judgement import CheckReport, Finding
from analyzer.render.blocks import findings_sentence, number, plural, revision_title
from analyzer.render.comment import MAX_COMMENT, gap_lines, linked_places, write_comment
from analyzer.render.markup import code, folded, prose
from analyzer.render.page import Page

_MAX_SUMMARY = 400
_MAX_FINDINGS = 30


def write_check(report: CheckReport, page: Page) -> list[str]:
    """The lines of the comment."""
    lines = [f"## Judgement of SGLang {prose(report.revision.spec)}", "", code(revision_title(report.revision)), ""]
    loud = any(finding.level != "note" for finding in report.open_findings)
    lines += [f"> [!{'WARNING' if loud else 'NOTE'}]", f"> {findings_sentence(report)}", ""]
    for finding in report.findings[:_MAX_FINDINGS]:
        lines += _finding(finding, report, page)
    lines += [f"- not decided: {prose(text)}" for text in report.unjudged]
    if report.diff is None:
        gaps = list(gap_lines(report.gaps))
        lines += folded(f"{plural(len(report.gaps), 'place')} not followed", gaps) if gaps else []
        return [*lines, *(f"- {prose(note)}" for note in report.notes)]
    room = MAX_COMMENT - sum(len(line) + 1 for line in lines)
    return [*lines, "", *write_comment(report.diff, page, room)]


def _finding(finding: Finding, report: CheckReport, page: Page) -> Iterator[str]:
    violation = finding.violation
    yield f"- **{finding.level} {prose(finding.rule)}**: {prose(finding.summary, _MAX_SUMMARY)}"
    if violation.scenarios:
        yield f"  - scenarios: {code(', '.join(violation.scenarios))}"
    if violation.inputs:
        yield f"  - with {', '.join(code(f'{name} = {number(value)}') for name, value in violation.inputs.items())}"
    if violation.locations:
        yield f"  - at {linked_places(violation.locations, report.revision, page)}"
    if finding.accepted is not None:
        yield f"  - accepted: {prose(finding.accepted)}"
