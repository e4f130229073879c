"""A comparison as a pull-request comment: verdict, who is affected, the formulas, and the details folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from analyzer.domain.extraction import Gap
from analyzer.domain.report import Change, CommitReference, DiffReport, Kind, Side, Witness
from analyzer.domain.source import Revision, Span
from analyzer.render.blocks import number, plural, revision_title, share, verdict_sentence
from analyzer.render.digest import digest_of
from analyzer.render.effects import effect_advice, effect_change, effect_failure
from analyzer.render.fractions import FRACTIONS_TITLE, by_family, fraction_table, fractions_unchanged
from analyzer.render.marking import BRIEF, mark_difference
from analyzer.render.markup import code, fenced, folded, link, math, prose, table
from analyzer.render.page import Page
from analyzer.render.upstream import compare_link, line_link, pull_link

# GitHub refuses a comment of more than 65,536 characters; an action may add a line of its own.
MAX_COMMENT: Final = 60_000
_MAX_LATEX: Final = 700
_MAX_FORMULA: Final = 1_500
# An error is no mathematics.
_RAISES: Final = r"\text{raises "
_MAX_SUMMARY: Final = 240
_MAX_PLACES: Final = 8
_MAX_GAPS: Final = 20
_ALERTS: Final = {Kind.ROUNDING: "WARNING", Kind.UNDECIDED: "WARNING", Kind.SEMANTIC: "CAUTION", Kind.LOST: "CAUTION"}


def write_comment(report: DiffReport, page: Page, room: int = MAX_COMMENT) -> list[str]:
    """The lines of the comment, at most `room` characters."""
    lines = [*_summary(report, page), *_effects(report), *_affected(report, page), *_machines(report)]
    end = list(_end(report))
    lines.extend(_fitting(report, page, room - sum(len(line) + 1 for line in (*lines, *end))))
    return [*lines, *end]


def _summary(report: DiffReport, page: Page) -> Iterator[str]:
    base, head = report.base, report.head
    names = f"{code(revision_title(base))} → {code(revision_title(head))}"
    address = compare_link(page.upstream, base, head)
    yield f"## KV-cache sizing of SGLang: {report.verdict.label}"
    yield ""
    yield f"{names}{f' ([all commits]({address}))' if address else ''}"
    yield ""
    yield f"> [!{_ALERTS.get(report.verdict, 'NOTE')}]"
    yield f"> **{report.verdict.label}**: {verdict_sentence(report)}"
    yield from (f"> **fails**: {prose(failure)}" for failure in report.failures)
    yield ""


def _effects(report: DiffReport) -> Iterator[str]:
    """One row per number of a server of the project."""
    if not report.effects:
        return
    rows = [
        (
            f"**{prose(effect.server.name)}** ({prose(effect.server.scenario)})",
            prose(effect.quantity),
            prose(effect_change(effect)),
            prose("; ".join(filter(None, [effect_failure(effect), effect_advice(effect)]))),
        )
        for effect in report.effects
    ]
    yield from ("### Your servers", "", *table(("server", "quantity", "before → after", ""), rows), "")


def _affected(report: DiffReport, page: Page) -> Iterator[str]:
    """One row per scenario whose results change, with the largest example found for it."""
    rows = []
    for scenario in dict.fromkeys(name for kinds in report.verdicts.values() for name in kinds):
        kinds = {quantity: found[scenario] for quantity, found in report.verdicts.items() if scenario in found}
        changed = {quantity: kind for quantity, kind in kinds.items() if kind >= Kind.ROUNDING}
        if changed:
            who = page.audiences.get(scenario, "")
            quantities = ", ".join(f"{prose(name)} ({kind.label})" for name, kind in changed.items())
            named = f"**{prose(scenario)}** {prose(who)}".rstrip()
            rows.append((named, quantities, _largest(report, scenario)))
    if rows:
        yield from ("### Who is affected", "", *table(("scenario", "what changes", "largest example"), rows), "")
    elif report.verdict >= Kind.ROUNDING:
        yield from ("No scenario as such is affected: each change below says under which condition it shows.", "")


def _machines(report: DiffReport) -> Iterator[str]:
    """What a changed default fraction is on common machines."""
    if not report.default_fractions:
        return
    yield from (f"### {FRACTIONS_TITLE}", "")
    for families, machines in by_family(report.default_fractions):
        if families:
            yield from (f"{prose(families)}:", "")
        head, *rows = fraction_table(machines)
        unchanged = fractions_unchanged(machines)
        yield from [prose(unchanged)] if unchanged else table(head, [tuple(map(prose, row)) for row in rows])
        yield ""


def _largest(report: DiffReport, scenario: str) -> str:
    """The example with the largest relative change in `scenario`."""
    found = [
        change
        for change in report.changes
        if scenario in change.scenarios and change.witness is not None and change.witness.delta is not None
    ]
    if not found:
        return ""
    largest = max(found, key=lambda change: abs(change.witness.relative or 0) if change.witness else 0)
    assert largest.witness is not None
    return f"{prose(largest.quantity)}: {prose(_outcome(largest.witness))}"


def _outcome(witness: Witness) -> str:
    relative = f" ({share(witness.relative)})" if witness.relative is not None else ""
    return f"{number(witness.before)} → {number(witness.after)}{relative}"


def _fitting(report: DiffReport, page: Page, room: int) -> Iterator[str]:
    """The changes that matter one by one while there is room, then the others in a list."""
    digest = digest_of(report, full=page.full)
    serious = [told for told in digest.told if told.change.kind >= Kind.ROUNDING]
    for number_shown, told in enumerate(serious):
        block = list(_change(told.position, told.change, report, page))
        block += [f"- also {group.positions}: {code(group.sentence, _MAX_SUMMARY)}" for group in told.also]
        block += [""] if told.also else []
        room -= sum(len(line) + 1 for line in block)
        if room < 0:
            yield f"{plural(len(serious) - number_shown, 'more change')} not shown here; see the full report."
            yield ""
            return
        yield from block
    harmless = [change for change in report.changes if change.kind < Kind.ROUNDING]
    outside = [f"- {code(group.quantity)}: {code(group.sentence, _MAX_SUMMARY)}" for group in digest.outside]
    without_effect = [f"- {c.kind.label}, {code(c.rule)}: {prose(c.summary)}" for c in harmless]
    count = sum(len(group.changes) for group in digest.outside)
    for title, lines in (
        (f"{plural(count, 'change')} outside every scenario", outside),
        (f"{plural(len(harmless), 'change')} without effect on results", without_effect),
    ):
        room -= sum(len(line) + 1 for line in lines)
        if lines and room > 0:
            yield from (*folded(title, lines), "")


def _change(position: int, change: Change, report: DiffReport, page: Page) -> Iterator[str]:
    title = page.quantity_titles.get(change.quantity, "")
    yield f"### {position}. {prose(change.quantity)}{f' ({prose(title)})' if title else ''}"
    yield ""
    yield f"**{change.level} {prose(change.rule)}**: {prose(change.summary, _MAX_SUMMARY)}"
    yield ""
    yield from _formulas(change)
    if change.witness is not None:
        yield from _witness(change.witness, _unit(change))
    yield from (*folded("Details", list(_details(change, report, page))), "")


def _unit(change: Change) -> str:
    side = change.after or change.before
    return side.unit if side is not None and side.unit != "1" else ""


def _formulas(change: Change) -> Iterator[str]:
    """Both sides as mathematics where they are short enough to read, else what differs in their text."""
    sides = [(label, side) for label, side in (("Before", change.before), ("After", change.after)) if side]
    if not sides:
        return
    if all(side.latex and len(side.latex) <= _MAX_LATEX and _RAISES not in side.latex for _, side in sides):
        for label, side in sides:
            yield from (f"{label}{_in_unit(side)}:", "", *math(side.latex), "")
        return
    yield from (*_text_difference(change.before, change.after), "")


def _in_unit(side: Side) -> str:
    return f" ({prose(side.unit)})" if side.unit not in ("", "1") else ""


def _text_difference(before: Side | None, after: Side | None) -> list[str]:
    texts = (before.text if before else "", after.text if after else "")
    left, right = mark_difference(*texts, colour=True, cut=BRIEF)
    lines = []
    for sign, side, pieces in (("-", before, left), ("+", after, right)):
        if side:
            text = "".join(piece.text for piece in pieces)
            lines.append(f"{sign} {text if len(text) <= _MAX_FORMULA else f'{text[: _MAX_FORMULA - 3]}...'}")
    return fenced("diff", lines)


def _witness(witness: Witness, unit: str) -> Iterator[str]:
    inputs = ", ".join(code(f"{name} = {number(value)}") for name, value in witness.inputs.items())
    unset = f"{', ' if inputs else ''}unset: {', '.join(map(code, witness.unset))}" if witness.unset else ""
    outcome = f"**{prose(_outcome(witness))}**{f' {prose(unit)}' if unit and witness.delta is not None else ''}"
    yield f"For example: {inputs}{unset} gives {outcome}"
    yield ""


def _details(change: Change, report: DiffReport, page: Page) -> Iterator[str]:
    rule = page.rules.get(change.rule)
    if rule is not None:
        yield from (f"{prose(rule.title)}. {prose(rule.why)} {prose(rule.what_to_do)}", "")
    yield f"- kind: {change.kind.label}, {change.action}"
    for label, text in (
        ("scenarios", ", ".join(change.scenarios)),
        ("when", change.guard),
        ("affects", ", ".join(change.affects)),
        ("bound", change.bound or ""),
    ):
        if text:
            yield f"- {label}: {code(text, 400)}"
    for label, side, revision in (("before", change.before, report.base), ("after", change.after, report.head)):
        if side is not None and side.locations:
            yield f"- {label} at {linked_places(side.locations, revision, page)}"
    for commit in change.commits:
        yield f"- commit {_commit(commit, page)}"
    yield f"- fingerprint: {code(change.fingerprint)}"


def linked_places(spans: Sequence[Span], revision: Revision, page: Page) -> str:
    """Where something is, a few places at most, each a link."""
    found = list(dict.fromkeys(spans))
    shown = [link(str(span), line_link(page.upstream, revision, span)) for span in found[:_MAX_PLACES]]
    more = [f"{len(found) - _MAX_PLACES} more"] if len(found) > _MAX_PLACES else []
    return ", ".join([*shown, *more])


def _commit(commit: CommitReference, page: Page) -> str:
    pull = f" ([pull request {commit.pr}]({pull_link(page.upstream, commit.pr)}))" if commit.pr is not None else ""
    return f"{code(commit.sha[:12])} {prose(commit.date)} {code(commit.subject)}{pull}"


def _end(report: DiffReport) -> Iterator[str]:
    if report.accepted:
        shown = [
            f"- {code(item.change.rule)} {prose(item.change.summary, _MAX_SUMMARY)} — {prose(item.reason)}"
            for item in report.accepted[:_MAX_GAPS]
        ]
        more = len(report.accepted) - len(shown)
        shown += [f"- and {more} more"] if more else []
        yield from (*folded(f"{plural(len(report.accepted), 'accepted change')}", shown), "")
    if report.gaps:
        yield from (*folded(f"{plural(len(report.gaps), 'place')} not followed", list(gap_lines(report.gaps))), "")
    for note in report.notes:
        yield f"- {prose(note)}"


def gap_lines(gaps: Iterable[Gap]) -> Iterator[str]:
    """One item per place that was not followed, a few at most."""
    found = list(gaps)
    for gap in found[:_MAX_GAPS]:
        affects = f"; affects {code(', '.join(gap.affects))}" if gap.affects else ""
        yield f"- {code(f'{gap.path}:{gap.line}')} {code(gap.construct)}: {prose(gap.reason)}{affects}"
    if len(found) > _MAX_GAPS:
        yield f"- and {len(found) - _MAX_GAPS} more"
