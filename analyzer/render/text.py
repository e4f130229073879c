"""Reports as text for people; nothing here knows about colours or terminals."""

from __future__ import annotations

from typing import Final

from analyzer.domain.coverage import CoverageReport
from analyzer.domain.evaluation import CaseResult, EvaluationReport, Result
from analyzer.domain.explanation import ExplainReport
from analyzer.domain.impact import ImpactReport
from analyzer.domain.judgement import CheckReport
from analyzer.domain.report import DiffReport, LogReport
from analyzer.domain.solution import SolveReport
from analyzer.domain.terms import UNSET
from analyzer.domain.timeline import TimelineReport
from analyzer.domain.views import FormulaView, QuantityView, RulesReport, ShowReport, SymbolView, TraceReport
from analyzer.render.blocks import (
    coverage_line,
    number,
    places,
    revision_title,
    write_gaps,
    write_missing,
    write_notes,
    write_path,
)
from analyzer.render.check_text import write_check
from analyzer.render.coverage_text import write_coverage
from analyzer.render.diff_text import write_diff
from analyzer.render.document import Document
from analyzer.render.explain_text import write_explain
from analyzer.render.impact_text import write_impact
from analyzer.render.log_text import write_log
from analyzer.render.page import Page
from analyzer.render.rules_text import write_rules
from analyzer.render.solve_text import write_solve
from analyzer.render.terminal import paint
from analyzer.render.timeline_text import write_timeline

_MAX_GUARDS: Final = 12


def render_diff(report: DiffReport, page: Page) -> str:
    """A comparison."""
    document = Document(page.width)
    write_diff(document, report, page)
    return paint(document, colour=page.colour)


def render_log(report: LogReport, page: Page) -> str:
    """The commits that changed a formula."""
    document = Document(page.width)
    write_log(document, report, page)
    return paint(document, colour=page.colour)


def render_check(report: CheckReport, page: Page) -> str:
    """The judgement of one ref."""
    document = Document(page.width)
    write_check(document, report, page)
    return paint(document, colour=page.colour)


def render_show(report: ShowReport, page: Page) -> str:
    """The formulas of one ref."""
    document = Document(page.width)
    document.say(f"Formulas of {revision_title(report.revision)}", "title", hanging=4)
    document.say(f"entry: {report.entry}", indent=1)
    for name, view in report.quantities.items():
        _write_quantity(document, name, view, page)
    _write_symbols(document, report)
    _write_units(document, report)
    coverage = report.coverage
    document.heading("Coverage")
    document.say(coverage_line(coverage), indent=1, hanging=2)
    if coverage.opaque_calls:
        document.say(f"not looked into: {', '.join(coverage.opaque_calls)}", indent=1, hanging=2)
    write_notes(document, report.notes)
    write_gaps(document, report.gaps)
    return paint(document, colour=page.colour)


def render_trace(report: TraceReport, page: Page) -> str:
    """The value path of one ref."""
    document = Document(page.width)
    document.say(f"Value path of {revision_title(report.revision)}", "title", hanging=4)
    document.say(f"entry: {report.entry}", indent=1)
    document.blank()
    write_path(document, report.path)
    write_notes(document, report.notes)
    return paint(document, colour=page.colour)


def render_eval(report: EvaluationReport, page: Page) -> str:
    """The results of every case."""
    document = Document(page.width)
    document.say(f"Values of {revision_title(report.revision)}", "title", hanging=4)
    for position, result in enumerate(report.results, 1):
        label = f"Case {position}, " if len(report.results) > 1 else ""
        scenario = result.case.scenario
        title = page.scenario_titles.get(scenario, "")
        document.heading(f"{label}{scenario}{f': {title}' if title else ''}")
        _write_case(document, result)
    missing = [
        name
        for result in report.results
        for item in result.quantities.values()
        for name in (*item.missing, *item.error_missing)
    ]
    write_missing(document, dict.fromkeys(missing), page)
    if report.assumed:
        document.heading("Assumed")
        document.table(list(report.assumed.items()))
    return paint(document, colour=page.colour)


def render_explain(report: ExplainReport, page: Page) -> str:
    """A start reconciled with the formula."""
    document = Document(page.width)
    write_explain(document, report, page)
    return paint(document, colour=page.colour)


def render_impact(report: ImpactReport, page: Page) -> str:
    """One server under two releases."""
    document = Document(page.width)
    write_impact(document, report, page)
    return paint(document, colour=page.colour)


def render_coverage(report: CoverageReport, page: Page) -> str:
    """How much of each release was followed."""
    document = Document(page.width)
    write_coverage(document, report)
    return paint(document, colour=page.colour)


def render_timeline(report: TimelineReport, page: Page) -> str:
    """One quantity over releases."""
    document = Document(page.width)
    write_timeline(document, report, page)
    return paint(document, colour=page.colour)


def render_solve(report: SolveReport, page: Page) -> str:
    """What reaches a target."""
    document = Document(page.width)
    write_solve(document, report, page)
    return paint(document, colour=page.colour)


def render_rules(report: RulesReport, page: Page) -> str:
    """The rules and quantities, or everything about one of them."""
    document = Document(page.width)
    write_rules(document, report)
    return paint(document, colour=page.colour)


def _write_case(document: Document, result: CaseResult) -> None:
    if result.problem is not None:
        document.say(result.problem, "bad", indent=1, hanging=2)
        return
    document.table([(name, _result(item)) for name, item in result.quantities.items()])
    for name, value in result.defaults.items():
        document.say(f"{name} is not given: {number(value)}, the default of this version, is used", indent=1, hanging=2)
    for name, choices in result.left_open.items():
        others = " or ".join(map(str, choices))
        document.say(
            f"{name} is not given, and SGLang may choose one for this device: {others} would give other results",
            "attention",
            indent=1,
            hanging=2,
        )
    if result.error is not None:
        document.say(f"SGLang raises {result.error} with these inputs", "bad", indent=1)
    needed = dict.fromkeys(name for item in result.quantities.values() for name in item.error_missing)
    if needed and result.error is None:
        text = f"whether SGLang starts with these inputs is not known: that depends on {', '.join(needed)}"
        document.say(text, "attention", indent=1, hanging=2)
    if result.ignored:
        document.say(f"not read by these formulas: {', '.join(result.ignored)}", "quiet", indent=1, hanging=2)


def _result(item: Result) -> str:
    if item.value is not None:
        return f"{number(item.value)} {item.unit}" if item.unit != "1" else number(item.value)
    if item.absent:
        return "does not exist for this model"
    return f"needs {', '.join(item.missing)}" if item.missing else "-"


def _write_quantity(document: Document, name: str, view: QuantityView, page: Page) -> None:
    unit = view.unit if view.unit == view.source_unit else f"{view.unit}, computed in {view.source_unit}"
    document.heading(f"{name} [{unit}]")
    document.say(view.title, indent=1)
    by_text: dict[str, list[str]] = {}
    for scenario, formula in view.scenarios.items():
        by_text.setdefault(formula.text, []).append(scenario)
    for text, scenarios in by_text.items():
        everywhere = len(by_text) == 1 and len(view.scenarios) > 1
        words = "in every scenario" if everywhere else ", ".join(_scenario(name, page) for name in scenarios)
        document.say(f"{words}:", "title", indent=1, hanging=2)
        if text == UNSET.name:
            document.say("does not exist for these models", indent=2)
            continue
        document.say(text, indent=2, hanging=2)
        _write_guards(document, view.scenarios[scenarios[0]])
    if view.full.locations:
        document.say(f"at {places(view.full.locations)}", "place", indent=1, hanging=2)


def _scenario(name: str, page: Page) -> str:
    title = page.scenario_titles.get(name, "")
    return f"{name} ({title})" if title else name


def _write_guards(document: Document, formula: FormulaView) -> None:
    if formula.raises is not None:
        document.say(f"error: {formula.raises}", "quiet", indent=2, hanging=2)
    if not formula.guards:
        return
    more = len(formula.guards) - _MAX_GUARDS
    rest = f"; and {more} more" if more > 0 else ""
    document.say(f"depends on: {'; '.join(formula.guards[:_MAX_GUARDS])}{rest}", "quiet", indent=2, hanging=2)


def _write_symbols(document: Document, report: ShowReport) -> None:
    if not report.symbols:
        return
    document.heading("Inputs")
    document.table([(name, view.unit, _symbol(view)) for name, view in report.symbols.items()])


def _symbol(view: SymbolView) -> str:
    default = f" (default {view.default})" if view.default is not None else ""
    names = f"; in the source {', '.join(view.source_names)}" if any(view.source_names) else ""
    return f"{view.description}{default}{names}"


def _write_units(document: Document, report: ShowReport) -> None:
    if report.unit_conversions:
        document.heading("Unit conversions")
        rows = [
            (f"{item.from_unit} -> {item.to_unit}", f"{item.expression}  {item.location}")
            for item in report.unit_conversions
        ]
        document.table(rows)
    if report.unit_findings:
        document.heading("Doubtful units")
        for item in report.unit_findings:
            document.say(f"{item.message}  {item.location}", indent=1, hanging=2)
