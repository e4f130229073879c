"""The judgement of one ref for people."""

from __future__ import annotations

from analyzer.domain.judgement import CheckReport, Finding
from analyzer.render.blocks import findings_sentence, number, places, revision_title, write_gaps, write_notes
from analyzer.render.diff_text import write_diff
from analyzer.render.document import Document, Piece
from analyzer.render.page import Page
from analyzer.render.rules_text import LEVEL_STYLES


def write_check(document: Document, report: CheckReport, page: Page) -> None:
    """Write the whole report."""
    document.say(f"Judgement of {revision_title(report.revision)}", "title", hanging=4)
    document.say(findings_sentence(report), "attention" if report.open_findings else "good")
    for finding in report.findings:
        _write_finding(document, finding)
    if report.unjudged:
        document.heading("Not decided")
        for text in report.unjudged:
            document.say(text, indent=1, hanging=2)
    if report.diff is not None:
        document.heading("Compared with what was accepted")
        write_diff(document, report.diff, page)
    write_notes(document, [note for note in report.notes if report.diff is None or note not in report.diff.notes])
    if report.diff is None:
        write_gaps(document, report.gaps)


def _write_finding(document: Document, finding: Finding) -> None:
    violation = finding.violation
    document.blank()
    style = LEVEL_STYLES.get(finding.level, "title")
    document.write((Piece(f"{finding.level} {finding.rule}", style), Piece(f"  {finding.summary}")), hanging=4)
    if violation.scenarios:
        document.say(f"Under: {', '.join(violation.scenarios)}", indent=1, hanging=7)
    if violation.inputs:
        inputs = ", ".join(f"{name} = {number(value)}" for name, value in violation.inputs.items())
        document.say(f"With: {inputs}", indent=1, hanging=6)
    if violation.locations:
        document.say(f"at {places(violation.locations)}", "place", indent=1, hanging=4)
    if finding.accepted is not None:
        document.say(f"accepted: {finding.accepted}", "quiet", indent=1, hanging=2)
