"""Reports in GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.domain.coverage import CoverageReport
from analyzer.domain.explanation import ExplainReport
from analyzer.domain.impact import ImpactReport
from analyzer.domain.judgement import CheckReport
from analyzer.domain.report import DiffReport, LogReport
from analyzer.domain.timeline import TimelineReport
from analyzer.domain.views import RulesReport
from analyzer.render.check_markdown import write_check
from analyzer.render.comment import write_comment
from analyzer.render.coverage_markdown import write_coverage
from analyzer.render.defuse import defuse
from analyzer.render.explain_markdown import write_explain
from analyzer.render.impact_markdown import write_impact
from analyzer.render.log_markdown import write_log
from analyzer.render.page import Page
from analyzer.render.rules_markdown import write_rules
from analyzer.render.timeline_markdown import write_timeline


def render_diff(report: DiffReport, page: Page) -> str:
    """A comparison."""
    return _joined(write_comment(report, page))


def render_log(report: LogReport, page: Page) -> str:
    """The commits that changed a formula."""
    return _joined(write_log(report, page))


def render_check(report: CheckReport, page: Page) -> str:
    """The judgement of one ref."""
    return _joined(write_check(report, page))


def render_explain(report: ExplainReport, page: Page) -> str:
    """A start reconciled with the formula."""
    return _joined(write_explain(report, page))


def render_impact(report: ImpactReport, page: Page) -> str:
    """One server under two releases."""
    return _joined(write_impact(report, page))


def render_coverage(report: CoverageReport, page: Page) -> str:
    """How much of each release was followed."""
    del page
    return _joined(write_coverage(report))


def render_timeline(report: TimelineReport, page: Page) -> str:
    """One quantity over releases."""
    return _joined(write_timeline(report, page))


def render_rules(report: RulesReport, page: Page) -> str:
    """The rules as a page of documentation."""
    del page
    return _joined(write_rules(report))


def _joined(lines: Sequence[str]) -> str:
    return defuse("\n".join(lines).strip("\n") + "\n")
