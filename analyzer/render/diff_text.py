"""The text of a comparison: the answer first, then who, what, how much and where."""

from __future__ import annotations

from collections import Counter
from typing import Final

from analyzer.domain.report import Change, CommitReference, DiffReport, Kind, Side, Witness
from analyzer.render.blocks import (
    coverage_line,
    number,
    places,
    plural,
    revision_title,
    share,
    verdict_sentence,
    write_gaps,
    write_notes,
)
from analyzer.render.digest import Digest, digest_of
from analyzer.render.document import INDENT, Document, Piece, wrap
from analyzer.render.effects import write_effects
from analyzer.render.fractions import FRACTIONS_TITLE, by_family, fraction_table, fractions_unchanged
from analyzer.render.marking import BRIEF, FULL, Cut, mark_difference
from analyzer.render.page import Page
from analyzer.render.rules_text import LEVEL_STYLES

_WIDE: Final = 110
_FEW_PLACES: Final = 2
_MANY_ACCEPTED: Final = 8


def write_diff(document: Document, report: DiffReport, page: Page) -> None:
    """Write the whole report."""
    document.say(f"{revision_title(report.base)} -> {revision_title(report.head)}", "title", hanging=4)
    verdict = report.verdict
    document.write((Piece(verdict.label, _verdict_style(verdict)), Piece(f": {verdict_sentence(report)}")))
    for failure in report.failures:
        document.say(f"fails: {failure}", "bad", hanging=4)
    write_effects(document, report)
    _write_affected(document, report, page)
    _write_machines(document, report)
    digest = digest_of(report, full=page.full)
    for told in digest.told:
        change = told.change
        _write_change(document, told.position, change, page, full=digest.is_full)
        if change.witness is not None:
            _write_witness(document, change.witness, _unit(change))
        _write_places(document, change, None if digest.is_full else _FEW_PLACES)
        for commit in change.commits:
            document.say(f"Commit: {_commit(commit)}", indent=1, hanging=8)
        for group in told.also:
            document.say(f"Also {group.positions}: {group.sentence}", indent=1, hanging=4)
    _write_folded(document, digest)
    _write_accepted(document, report)
    _write_verdicts(document, report)
    _write_coverage(document, report)
    write_notes(document, report.notes)
    write_gaps(document, report.gaps)


def _write_coverage(document: Document, report: DiffReport) -> None:
    document.heading("Coverage")
    for side, coverage in report.coverage.items():
        document.say(f"{side}: {coverage_line(coverage)}", indent=1, hanging=6)


def _verdict_style(kind: Kind) -> str:
    if kind <= Kind.UNIT:
        return "good"
    return "bad" if kind >= Kind.SEMANTIC else "attention"


def _write_affected(document: Document, report: DiffReport, page: Page) -> None:
    """The scenarios whose results change, in words, and the quantities that do."""
    affected: dict[str, list[str]] = {}
    for quantity, kinds in report.verdicts.items():
        for scenario, kind in kinds.items():
            if kind >= Kind.ROUNDING:
                affected.setdefault(scenario, []).append(quantity)
    if not affected:
        return
    document.heading("Who is affected")
    for scenario, quantities in affected.items():
        who = page.audiences.get(scenario, "")
        name = f"{scenario} - {who}" if who else scenario
        document.say(f"{name}: {', '.join(quantities)}", indent=1, hanging=4)


def _write_folded(document: Document, digest: Digest) -> None:
    """One line for each difference that is not told in full."""
    for title, groups in (("Outside every scenario", digest.outside), ("Proven equal", digest.harmless)):
        if groups:
            count = sum(len(group.changes) for group in groups)
            document.heading(f"{title} ({plural(count, 'change')})")
        for group in groups:
            document.line(f"{group.positions}. {group.quantity}: {group.sentence}", indent=1)
    if digest.outside or digest.harmless:
        document.say("in full with --quantity NAME, all of them with --format json", "quiet", indent=1, hanging=2)


def _write_change(document: Document, position: int, change: Change, page: Page, *, full: bool) -> None:
    document.blank()
    style = LEVEL_STYLES.get(change.level, "title")
    title = page.quantity_titles.get(change.quantity, "")
    name = f"{change.quantity} - {title}" if title else change.quantity
    heading = (Piece(f"{position}. "), Piece(f"{change.level} {change.rule}", style), Piece(f"  {name}"))
    document.write(heading, hanging=4)
    if full:
        document.say(change.summary, indent=1)
    else:
        document.line(change.summary, indent=1)
    _write_facts(document, change)
    _write_sides(document, change, page, FULL if full else BRIEF)


def _write_facts(document: Document, change: Change) -> None:
    facts = [("Kind", f"{change.kind.label}, {change.action}")]
    if change.scenarios:
        facts.append(("Under", ", ".join(change.scenarios)))
    if change.guard:
        facts.append(("When", change.guard))
    if change.affects:
        facts.append(("Affects", ", ".join(change.affects)))
    if change.bound:
        facts.append(("Bound", change.bound))
    for label, text in facts:
        document.say(f"{label}: {text}", indent=1, hanging=len(label) + 2)


def _unit(change: Change) -> str:
    side = change.after or change.before
    return side.unit if side is not None and side.unit != "1" else ""


def _write_sides(document: Document, change: Change, page: Page, cut: Cut) -> None:
    """Both formulas with the difference marked, side by side where there is room."""
    before, after = change.before, change.after
    texts = (before.text if before else "", after.text if after else "")
    left, right = mark_difference(*texts, colour=page.colour, cut=cut)
    titles = _side_title("Before", before), _side_title("After", after)
    if page.width >= _WIDE and before and after:
        column = page.width // 2
        width = column - 2 * len(INDENT)
        document.beside(
            [(Piece(titles[0], "title"),), *wrap(left, width)],
            [(Piece(titles[1], "title"),), *wrap(right, width)],
            1,
            column,
        )
        return
    for title, side, pieces in ((titles[0], before, left), (titles[1], after, right)):
        if side:
            document.say(title, "title", indent=1)
            document.write(pieces, indent=2, hanging=2)


def _side_title(label: str, side: Side | None) -> str:
    return f"{label} ({side.unit})" if side and side.unit not in ("", "1") else label


def _write_witness(document: Document, witness: Witness, unit: str) -> None:
    inputs = ", ".join(f"{name} = {number(value)}" for name, value in witness.inputs.items())
    unset = f"{'; ' if inputs else ''}unset: {', '.join(witness.unset)}" if witness.unset else ""
    document.say(f"Example: {inputs}{unset}", indent=1, hanging=4)
    document.write(
        (
            Piece("before "),
            Piece(number(witness.before), "removed"),
            Piece("  after "),
            Piece(number(witness.after), "added"),
            Piece(f" {unit}" if unit and witness.delta is not None else ""),
            Piece(_delta(witness)),
        ),
        indent=2,
    )


def _delta(witness: Witness) -> str:
    delta, relative = witness.delta, witness.relative
    if delta is None:
        return ""
    sign = "+" if delta > 0 else ""
    percent = f", {share(relative)}" if relative is not None else ""
    return f"  ({sign}{number(delta)}{percent})"


def _write_places(document: Document, change: Change, limit: int | None) -> None:
    for label, side in (("Before", change.before), ("After", change.after)):
        if side is not None and side.locations:
            shown = places(side.locations) if limit is None else places(side.locations, limit)
            document.say(f"{label} at {shown}", "place", indent=1, hanging=4)


def _commit(commit: CommitReference) -> str:
    pr = f" (#{commit.pr})" if commit.pr is not None and f"#{commit.pr}" not in commit.subject else ""
    return f"{commit.sha[:12]} {commit.date} {commit.subject}{pr}"


def _write_accepted(document: Document, report: DiffReport) -> None:
    if report.accepted:
        document.heading("Accepted")
    if len(report.accepted) > _MANY_ACCEPTED:
        for reason, count in Counter(item.reason for item in report.accepted).items():
            document.say(f"{plural(count, 'change')}: {reason}", indent=1, hanging=4)
        return
    for item in report.accepted:
        change = item.change
        document.say(f"{change.rule} {change.fingerprint} {change.summary}", indent=1, hanging=4)
        document.say(f"why: {item.reason}", "quiet", indent=2, hanging=2)


def _write_machines(document: Document, report: DiffReport) -> None:
    """What a changed default fraction is on common machines."""
    if not report.default_fractions:
        return
    document.heading(FRACTIONS_TITLE)
    for families, machines in by_family(report.default_fractions):
        if families:
            document.say(f"{families}:", indent=1, hanging=2)
        unchanged = fractions_unchanged(machines)
        if unchanged:
            document.say(unchanged, indent=1, hanging=2)
        else:
            document.table(fraction_table(machines))


def _write_verdicts(document: Document, report: DiffReport) -> None:
    """What was compared and held, so that silence is an answer too."""
    unchanged: dict[Kind, list[str]] = {}
    for quantity, kinds in report.verdicts.items():
        worst = max(kinds.values(), default=Kind.IDENTICAL)
        if worst < Kind.ROUNDING:
            unchanged.setdefault(worst, []).append(quantity)
    if not unchanged:
        return
    document.heading("The same in every scenario compared")
    for kind in sorted(unchanged):
        document.say(f"{kind.label}: {', '.join(unchanged[kind])}", indent=1, hanging=len(kind.label) + 2)
