"""How much of each release was followed, for people; what Markdown shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.domain.coverage import CoverageReport, ReleaseCoverage
from analyzer.render.blocks import plural
from analyzer.render.document import Document

HEADER: Final = ("release", "modules", "functions", "guards", "decided", "gaps", "opaque calls")


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """What some releases have in common that was not followed."""

    what: str
    reason: str
    releases: tuple[str, ...]
    affects: tuple[str, ...]


def write_coverage(document: Document, report: CoverageReport) -> None:
    """Write the whole report."""
    document.say(headline(report), "title", hanging=4)
    document.say(verdict(report))
    document.blank()
    document.table([HEADER, *(row(release) for release in report.releases)])
    for title, ends in open_ends(report):
        document.heading(title)
        for end in ends:
            document.say(f"{end.what}: {end.reason}", indent=1, hanging=2)
            document.say(", ".join(filter(None, (affected(end), spans(end, report)))), "place", indent=2, hanging=2)
    lost = [release for release in report.releases if release.lost is not None]
    if lost:
        document.heading("No formulas")
        document.table([(release.release, release.lost or "") for release in lost])


def headline(report: CoverageReport) -> str:
    """Which releases these are."""
    first, last = report.releases[0].release, report.releases[-1].release
    return f"What was followed in {first if first == last else f'{first} to {last}'}"


def verdict(report: CoverageReport) -> str:
    """How many ends the formulas have that were not followed."""
    counts = [release.open_ends for release in report.releases if release.lost is None]
    if not counts:
        return "The formulas of none of these releases could be had."
    if max(counts) == 0:
        return "Nothing was left open."
    return f"At most {plural(max(counts), 'open end')} in a release; none in {counts.count(0)} of {len(counts)}."


def row(release: ReleaseCoverage) -> tuple[str, ...]:
    """The numbers of one release; dashes where it has none."""
    found = release.coverage
    if found is None:
        return (release.release, *("-" for _ in HEADER[1:]))
    guards = found.guards_decided + found.guards_undecided
    numbers = (found.modules, found.functions, guards, found.guards_decided, len(release.gaps), len(release.calls))
    return (release.release, *map(str, numbers))


def open_ends(report: CoverageReport) -> Iterator[tuple[str, list[OpenEnd]]]:
    """The gaps and the opaque calls of all releases, what is the same once, most frequent first."""
    gaps: dict[tuple[str, str], dict[str, set[str]]] = {}
    calls: dict[tuple[str, str], dict[str, set[str]]] = {}
    for release in report.releases:
        for gap in release.gaps:
            key = (f"{gap.construct} in {gap.path.rsplit('/', 1)[-1]}", gap.reason)
            gaps.setdefault(key, {}).setdefault(release.release, set()).update(gap.affects)
        for call in release.calls:
            calls.setdefault((call.name, call.reason), {}).setdefault(release.release, set())
    for title, found in (("Not followed", gaps), ("Called, and not part of the source", calls)):
        if found:
            ends = [
                OpenEnd(*key, tuple(where), tuple(sorted(set().union(*where.values())))) for key, where in found.items()
            ]
            yield title, sorted(ends, key=lambda end: (-len(end.releases), end.what))


def affected(end: OpenEnd) -> str:
    """What depends on it."""
    return f"affects {', '.join(end.affects)}" if end.affects else ""


def spans(end: OpenEnd, report: CoverageReport) -> str:
    """In which releases it is: neighbours together."""
    names = [release.release for release in report.releases if release.lost is None]
    if len(names) == len(end.releases):
        return "in every release" if len(names) > 1 else ""
    runs: list[list[str]] = []
    for position, name in enumerate(names):
        if name not in end.releases:
            continue
        if runs and position and names[position - 1] == runs[-1][-1]:
            runs[-1].append(name)
        else:
            runs.append([name])
    return f"in {', '.join(_span(run) for run in runs)}"


def _span(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"
