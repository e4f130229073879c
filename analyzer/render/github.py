"""Findings as GitHub workflow commands, which show as annotations of the run."""

from __future__ import annotations

from typing import Final

from analyzer.domain.effect import ServerEffect
from analyzer.domain.judgement import CheckReport, Finding
from analyzer.domain.pin import Pin
from analyzer.domain.report import Change, DiffReport, Kind
from analyzer.render.blocks import findings_sentence, number, places, revision_title, verdict_sentence
from analyzer.render.effects import effect_advice, effect_change, effect_failure
from analyzer.render.markup import one_line
from analyzer.render.page import Page

_COMMANDS: Final = {"note": "notice", "warning": "warning", "error": "error"}
_MAX_MESSAGE: Final = 2_000
_MAX_TITLE: Final = 120


def render_diff(report: DiffReport, page: Page) -> str:
    """A comparison: the verdict as a notice, then one annotation per change that matters."""
    names = f"{revision_title(report.base)} -> {revision_title(report.head)}"
    title, message = f"SGLang memory: {report.verdict.label}", f"{names}: {verdict_sentence(report)}"
    lines = [annotation("notice", title, message, page.pin)]
    lines += [_effect(effect, page) for effect in report.effects if effect.broken]
    lines += [_change(change, page) for change in report.changes if change.kind >= Kind.ROUNDING]
    return "".join(f"{line}\n" for line in lines)


def render_check(report: CheckReport, page: Page) -> str:
    """The judgement of one ref: a summary, its findings, and what differs from what was accepted."""
    title = f"{revision_title(report.revision)}: {findings_sentence(report)}"
    lines = [annotation("notice", "SGLang memory: judgement", title)]
    lines += [_finding(finding) for finding in report.open_findings]
    compared = render_diff(report.diff, page) if report.diff is not None else ""
    return "".join(f"{line}\n" for line in lines) + compared


def _finding(finding: Finding) -> str:
    lines = [finding.summary]
    if finding.violation.scenarios:
        lines.append(f"scenarios: {', '.join(finding.violation.scenarios)}")
    if finding.violation.locations:
        lines.append(f"at {places(finding.violation.locations)}")
    return annotation(finding.level, f"{finding.rule} {finding.violation.quantity}".rstrip(), "\n".join(lines))


def annotation(level: str, title: str, message: str, pin: Pin | None = None) -> str:
    """One workflow command; `message` may have several lines, which stay inside it."""
    place = f"file={_property(one_line(pin.file, _MAX_TITLE))},line={pin.line}," if pin is not None else ""
    shown = "\n".join(one_line(line, _MAX_MESSAGE) for line in message.splitlines())[:_MAX_MESSAGE]
    return f"::{_COMMANDS.get(level, level)} {place}title={_property(one_line(title, _MAX_TITLE))}::{_data(shown)}"


def _effect(effect: ServerEffect, page: Page) -> str:
    lines = [f"{effect.quantity}: {effect_change(effect)}", effect_failure(effect), effect_advice(effect)]
    return annotation("error", f"SGLang memory of {effect.server.name}", "\n".join(filter(None, lines)), page.pin)


def _change(change: Change, page: Page) -> str:
    lines = [change.summary]
    if change.scenarios:
        lines.append(f"scenarios: {', '.join(change.scenarios)}")
    if change.witness is not None:
        inputs = ", ".join(f"{name} = {number(value)}" for name, value in change.witness.inputs.items())
        lines.append(f"for example {number(change.witness.before)} -> {number(change.witness.after)} with {inputs}")
    for label, side in (("before", change.before), ("after", change.after)):
        if side is not None and side.locations:
            lines.append(f"{label} at {places(side.locations)}")
    return annotation(change.level, f"{change.rule} {change.quantity}", "\n".join(lines), page.pin)


def _data(text: str) -> str:
    # The order matters: the escapes themselves have percent signs.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
