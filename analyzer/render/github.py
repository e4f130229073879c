"""Findings as GitHub workflow commands, which show as annotations of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analyzer.domain.effect import ServerEffect
from analyzer.domain.judgement import CheckReport, Finding
from analyzer.domain.pin import Pin
from analyzer.domain.report import Change, DiffReport, Kind
from analyzer.domain.rules import LEVELS
from analyzer.render.blocks import findings_sentence, number, places, plural, revision_title, verdict_sentence
from analyzer.render.digest import Group, digest_of
from analyzer.render.effects import effect_advice, effect_change, effect_failure
from analyzer.render.markup import one_line
from analyzer.render.page import Page

_COMMANDS: Final = {"note": "notice", "warning": "warning", "error": "error"}
_MAX_MESSAGE: Final = 2_000
_MAX_TITLE: Final = 120
_MAX_PLACES: Final = 4
# A longer one is about formulas that an annotation has no room for.
_MAX_SUMMARY: Final = 120


def render_diff(report: DiffReport, page: Page) -> str:
    """A comparison: the verdict as a notice, then one annotation per quantity that changes."""
    names = f"{revision_title(report.base)} -> {revision_title(report.head)}"
    title, message = f"SGLang memory: {report.verdict.label}", f"{names}: {verdict_sentence(report)}"
    lines = [annotation("notice", title, message, page.pin)]
    if report.failures:
        lines.append(annotation("error", "SGLang memory: the check fails", "\n".join(report.failures), page.pin))
    lines += [_effect(effect, page) for effect in report.effects if effect.broken]
    digest = digest_of(report, full=page.full)
    by_quantity: dict[str, list[Change]] = {}
    for told in digest.told:
        if told.change.kind >= Kind.ROUNDING:
            more = [change for group in told.also for change in group.changes]
            by_quantity.setdefault(told.change.quantity, []).extend([told.change, *more])
    lines += [_quantity(changes, page) for changes in by_quantity.values()]
    lines += [_elsewhere(digest.outside, page)] if digest.outside else []
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


def _quantity(changes: Sequence[Change], page: Page) -> str:
    """One annotation for all that changes in one quantity, in words rather than formulas."""
    quantity = changes[0].quantity
    level = max((change.level for change in changes), key=LEVELS.index)
    rules = dict.fromkeys(change.rule for change in changes)
    scenarios = dict.fromkeys(name for change in changes for name in change.scenarios)
    titles = [page.rules[rule].title.lower() if rule in page.rules else rule for rule in rules]
    summary = changes[0].summary
    is_plain = len(changes) == 1 and len(summary) <= _MAX_SUMMARY
    lines = [summary if is_plain else f"{quantity} ({changes[0].kind.label}): {', '.join(titles)}"]
    if scenarios:
        lines.append(f"scenarios: {', '.join(scenarios)}")
    change = next((change for change in changes if change.witness is not None), changes[0])
    if change.witness is not None:
        inputs = ", ".join(f"{name} = {number(value)}" for name, value in change.witness.inputs.items())
        lines.append(f"for example {number(change.witness.before)} -> {number(change.witness.after)} with {inputs}")
    for label, side in (("before", change.before), ("after", change.after)):
        if side is not None and side.locations:
            lines.append(f"{label} at {places(side.locations, _MAX_PLACES)}")
    title = f"{', '.join(rules)} {page.quantity_titles.get(quantity, quantity)}"
    return annotation(level, title, "\n".join(lines), page.pin)


def _elsewhere(groups: Sequence[Group], page: Page) -> str:
    """What shows in no scenario, in one notice."""
    count = plural(sum(len(group.changes) for group in groups), "change")
    names = ", ".join(dict.fromkeys(group.quantity for group in groups))
    title = "SGLang memory: outside every scenario"
    return annotation("notice", title, f"{count} that no family of models shows as such: {names}", page.pin)


def _data(text: str) -> str:
    # The order matters: the escapes themselves have percent signs.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
