"""A reconciled start as Markdown for an issue: nothing of the log but numbers and the names of quantities."""

from __future__ import annotations

from analyzer.domain.explanation import ExplainReport
from analyzer.render.blocks import number
from analyzer.render.explain_text import SENTENCES, difference_sentence, move, title, value, window_lines
from analyzer.render.markup import code, folded, prose, table
from analyzer.render.page import Page


def write_explain(report: ExplainReport, page: Page) -> list[str]:
    """The lines of the report; lines of the log, which may name hosts, paths and keys, are left out."""
    lines = [f"## {prose(title(report))}", "", f"**{report.verdict}**: {SENTENCES[report.verdict]}", ""]
    hidden = report.start.failure.line if report.start.failure is not None else None
    lines += [f"- {prose(reason)}" for reason in report.reasons if hidden is None or hidden not in reason]
    lines += [f"- {prose(line)}" for line in window_lines(report)]
    names = [name for name in report.start.observed if name in report.predicted]
    if names:
        rows = [
            (
                prose(page.quantity_titles.get(name, name)),
                number(report.predicted[name]),
                number(report.start.observed[name]),
            )
            for name in names
        ]
        lines += ["", *table(("", "predicted", "observed"), rows)]
    if report.difference is not None:
        lines += ["", prose(difference_sentence(report.difference))]
    if report.ledger:
        lines += [
            "",
            *table(("where the memory went", "GiB"), [(item.item, f"{item.gib:.2f}") for item in report.ledger]),
        ]
    lines += ["", *_assumed(report)] if report.assumed else []
    lines += _steps(report)
    if report.levers:
        rows = [(code(lever.flag), prose(move(lever)), f"{lever.change:+,}") for lever in report.levers]
        lines += ["", *table(("flag", "from, to", "tokens"), rows)]
    return lines


def _assumed(report: ExplainReport) -> list[str]:
    """What was assumed, without why: a reason may quote the log."""
    numbers = {name: report.inputs[name] for name in report.assumed}
    return [f"- assumed {prose(name)}: {number(v)}" for name, v in numbers.items() if isinstance(v, int | float)]


def _steps(report: ExplainReport) -> list[str]:
    if not report.steps:
        return []
    found = []
    for step in report.steps:
        found.append(f"- {code(f'{step.quantity} = {step.formula}', 2000)}")
        if step.numbers != value(step):
            found.append(f"  - {code(f'= {step.numbers}', 2000)}")
        found.append(f"  - {code(f'= {value(step)}')}")
    return ["", *folded("The formula, with the numbers put in", found)]
