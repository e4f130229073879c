"""One quantity over releases, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_letters
from typing import Final

from analyzer.domain.characters import printable
from analyzer.domain.timeline import Moment, TimelineReport
from analyzer.render.blocks import number, plural, share, write_missing, write_notes
from analyzer.render.document import Document, Piece
from analyzer.render.page import Page
from analyzer.render.plot import Mark, draw_plot

_MORE_CHANGES: Final = "+"
# What a token costs is better low, everything else is better high.
_COST_UNIT: Final = "byte/token"


def write_timeline(document: Document, report: TimelineReport, page: Page) -> None:
    """Write the whole report."""
    document.say(headline(report, page), "title", hanging=4)
    falls = any(is_worse(moment, report) for moment in report.changes)
    document.say(verdict(report), "bad" if falls else "attention" if report.changes else "good")
    letters = dict(zip(report.changes, _letters(), strict=False))
    draw_plot(
        document,
        [Mark(item.number, _style(item, report), letters.get(item, _unlettered(item))) for item in report.moments],
    )
    document.blank()
    _write_runs(document, report, {moment: letters.get(moment, _MORE_CHANGES) for moment in report.changes})
    missing = [name for moment in report.moments if moment.result is not None for name in moment.result.missing]
    write_missing(document, dict.fromkeys(missing), page)
    if report.assumed:
        document.heading(f"Assumed for {report.moments[-1].release}")
        document.table(list(report.assumed.items()))
    write_notes(document, report.notes)


def headline(report: TimelineReport, page: Page) -> str:
    """What is followed, and over which releases."""
    title = page.quantity_titles.get(report.quantity, report.quantity)
    unit = "" if report.unit in ("", "1") else f" [{report.unit}]"
    scenario = page.scenario_titles.get(report.scenario, "")
    family = f"{report.scenario}{f' ({scenario})' if scenario else ''}"
    first, last = report.moments[0].release, report.moments[-1].release
    return f"{report.quantity}{unit}, {title}, for {family}: {first} to {last}"


def verdict(report: TimelineReport) -> str:
    """At how many releases it changes, and how many have no number."""
    count = len(report.moments)
    nothing = sum(moment.number is None for moment in report.moments)
    if nothing == count:
        return "None of these releases has a number." if count > 1 else "There is no number."
    more = f"; {plural(nothing, 'release')} without a number" if nothing else ""
    if not report.changes:
        return f"The same in {'the one release' if count == 1 else f'all {count} releases'}{more}."
    worse = sum(is_worse(moment, report) for moment in report.changes)
    less = f", {worse} of them for the worse" if worse else ""
    return f"It changes at {len(report.changes)} of {plural(count, 'release')}{less}{more}."


def is_worse(moment: Moment, report: TimelineReport) -> bool:
    """Whether a release has less room than the one before it."""
    if not moment.changed:
        return False
    if moment.number is None:
        return moment.before is not None
    fell = moment.delta is not None and moment.delta < 0
    rose = moment.delta is not None and moment.delta > 0
    return rose if report.unit == _COST_UNIT else fell


def runs(report: TimelineReport) -> list[list[Moment]]:
    """Neighbours with the same outcome, for the same reason, together."""
    found: list[list[Moment]] = []
    for moment in report.moments:
        if found and not moment.changed and reason(found[-1][0], report) == reason(moment, report):
            found[-1].append(moment)
        else:
            found.append([moment])
    return found


def releases(run: Sequence[Moment]) -> str:
    """The releases of a run."""
    if len(run) == 1:
        return run[0].release
    return f"{run[0].release} .. {run[-1].release} ({len(run)})"


def value(moment: Moment) -> str:
    """The number of a release, or a dash."""
    return "-" if moment.number is None else number(moment.number)


def change(moment: Moment) -> str:
    """How far a release is from the last number before it."""
    if not moment.changed or moment.delta is None:
        return ""
    if moment.delta == 0:
        return "as before"
    relative = f" ({share(moment.relative)})" if moment.relative is not None else ""
    return f"{'+' if moment.delta > 0 else ''}{number(moment.delta)}{relative}"


def reason(moment: Moment, report: TimelineReport) -> str:
    """Why there is no number, which default it rests on, and the family when that is not the newest release's."""
    family = f"sized as {moment.scenario}" if moment.scenario != report.scenario and moment.lost is None else ""
    return "; ".join(filter(None, [_why(moment), family]))


def _why(moment: Moment) -> str:
    result = moment.result
    if result is None:
        return f"lost: {moment.lost}"
    if result.error is not None:
        return f"SGLang raises {result.error}"
    if result.absent:
        return "does not exist for this model"
    if moment.number is None:
        return f"needs {', '.join(result.missing)}" if result.missing else "not computed"
    return f"with the default fraction {number(moment.fraction)}" if moment.fraction is not None else ""


def _write_runs(document: Document, report: TimelineReport, letters: dict[Moment, str]) -> None:
    found = [run[0] for run in runs(report)]
    names = [printable(releases(run)) for run in runs(report)]
    name_width, value_width, change_width = (
        max(map(len, texts)) for texts in (names, map(value, found), map(change, found))
    )
    for name, moment in zip(names, found, strict=True):
        lead = f"{letters.get(moment, ' ')} {name:<{name_width}}  {value(moment):>{value_width}}  "
        gap = " " * (change_width - len(change(moment)) + 2)
        if change(moment):
            rest = (Piece(change(moment), _style(moment, report)), Piece(gap), Piece(reason(moment, report)))
        else:
            rest = (Piece(gap, "column"), Piece(reason(moment, report)), Piece(""))
        document.write((Piece(lead, "column"), *rest), indent=1, hanging=len(lead))


def _style(moment: Moment, report: TimelineReport) -> str:
    if not moment.changed:
        return ""
    if is_worse(moment, report):
        return "bad"
    return "good" if moment.number is not None else "attention"


def _letters() -> Iterator[str]:
    yield from ascii_letters


def _unlettered(moment: Moment) -> str:
    return _MORE_CHANGES if moment.changed else " "
