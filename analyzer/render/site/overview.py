"""The pages that span the releases: versions, timeline, changes, meaning, rules, glossary, search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from textwrap import shorten
from typing import Any, Final

from analyzer.application.docs.pages import Documentation, Point, Release
from analyzer.application.docs.reference import machine_name
from analyzer.domain.report import Change, CommitReference, Kind, Side, Witness
from analyzer.domain.rules import FALLBACK_RULE
from analyzer.domain.scenario import GIVEN_FRACTION
from analyzer.domain.source import Revision
from analyzer.render.blocks import VERDICTS, number, share
from analyzer.render.page import Page
from analyzer.render.rules_text import reported_for
from analyzer.render.site.charts import Line, draw_chart
from analyzer.render.site.names import release_address, safe
from analyzer.render.site.program import script_data
from analyzer.render.site.release import Link, broken, place_links
from analyzer.render.site.templating import assets, fill
from analyzer.render.site.words import is_outside, misread_words
from analyzer.render.upstream import compare_link, pull_link

_SHORT_COMMIT: Final = 12
_COLOURS: Final = 6
_SHORT_SUMMARY: Final = 130
_ORDER: Final = (
    "effective_mem_fraction_static",
    "rest_memory",
    "cell_size",
    "max_total_num_tokens",
    "full_max_total_num_tokens",
    "swa_max_total_num_tokens",
    "default_mem_fraction_static",
    "max_mamba_cache_size",
    "max_num_reqs",
)
_SAME: Final = "The formula is that of the release before."


def render_overview(documentation: Documentation, programs: Mapping[str, str], page: Page) -> dict[str, bytes]:
    """Every page but those of single releases, by address; `programs` names the calculator's data of each release."""
    view = _Overview(documentation, page)
    files = {
        **assets(),
        "versions.html": fill("versions.html", "versions.html", releases=view.rows),
        "timeline.html": fill(
            "timeline.html",
            "timeline.html",
            releases=view.rows,
            scenarios=view.scenarios,
            kinds=[kind.label for kind in reversed(Kind)],
        ),
        "meaning.html": fill(
            "meaning.html",
            "meaning.html",
            releases=view.rows,
            scenarios=view.scenarios,
            charts=list(view.charts()),
        ),
        "rules.html": fill("rules.html", "rules.html", rules=view.rules()),
        "glossary.html": fill("glossary.html", "glossary.html", **view.glossary()),
        "data/programs.js": f"window.formulaPrograms = {script_data(programs)};\n".encode(),
    }
    files |= dict(view.change_pages())
    files["assets/search-index.js"] = f"window.searchIndex = {script_data(view.search_index())};\n".encode()
    return files


class _Overview:
    """What several pages show of the same documentation."""

    def __init__(self, documentation: Documentation, page: Page) -> None:
        self._documentation = documentation
        self._page = page
        self.scenarios = [{"name": name, "title": title} for name, title in documentation.scenarios.items()]
        self._addresses = dict(self._change_addresses())
        older = [None, *documentation.releases[:-1]]
        pairs = zip(documentation.releases, older, strict=True)
        self.rows = [self._row(release, before) for release, before in pairs][::-1]

    def _change_addresses(self) -> Iterator[tuple[int, str]]:
        """Where the page of each change is, by its identity."""
        for release in self._documentation.releases:
            taken: set[str] = set()
            for change in _changes(release):
                name = f"{safe(release.revision.resolved)}-{safe(change.fingerprint)}"
                while name in taken:
                    name += "-"
                taken.add(name)
                yield id(change), f"changes/{name}.html"

    def _row(self, release: Release, before: Release | None) -> dict[str, Any]:
        report = release.report
        verdict = report.verdict if report is not None else None
        compare = None if before is None else compare_link(self._page.upstream, before.revision, release.revision)
        return {
            **self._named(release.revision),
            "first": before is None,
            "kind": verdict.label if verdict is not None else "identical" if before is not None else "",
            "words": VERDICTS[verdict] if verdict is not None else _SAME,
            "compare": compare,
            "changes": [self._entry(change) for change in sorted(_changes(release), key=self._rank)],
        }

    def _rank(self, change: Change) -> tuple[bool, int, int]:
        """What people look for first: what a family shows, the strongest kind, in the order of the formula."""
        place = _ORDER.index(change.quantity) if change.quantity in _ORDER else len(_ORDER)
        return is_outside(change), -change.kind, place

    def _entry(self, change: Change) -> dict[str, Any]:
        """A change as a line of the timeline."""
        return {
            "kind": change.kind.label,
            "scenarios": change.scenarios,
            "outside": shorten(change.guard, _SHORT_SUMMARY, placeholder="...") if is_outside(change) else "",
            "quantity": change.quantity,
            "summary": change.summary,
            "short": self._short(change),
            "effect": _effect(change),
            "address": self._addresses[id(change)],
            "commits": self._commits(change.commits),
        }

    def _short(self, change: Change) -> str:
        """The summary where it can be read at a glance, else what kind of thing it is."""
        text = change.summary.removeprefix(f"{change.quantity}: ")
        return text if len(text) <= _SHORT_SUMMARY else self._page.rules.get(change.rule, FALLBACK_RULE).title

    def _named(self, revision: Revision) -> dict[str, str]:
        name = revision.resolved
        return {"name": name, "anchor": safe(name), "address": release_address(name)}

    def _commits(self, commits: Sequence[CommitReference]) -> list[Link]:
        return [
            Link(
                f"#{commit.pr}" if commit.pr is not None else commit.sha[:_SHORT_COMMIT],
                pull_link(self._page.upstream, commit.pr) if commit.pr is not None else None,
            )
            for commit in commits
        ]

    def change_pages(self) -> Iterator[tuple[str, bytes]]:
        """A page for each change."""
        releases = self._documentation.releases
        titles = {**self._page.symbol_titles, **self._documentation.quantities}
        for before, release in pairwise(releases):
            compare = compare_link(self._page.upstream, before.revision, release.revision)
            for change in _changes(release):
                address = self._addresses[id(change)]
                rule = self._page.rules.get(change.rule, FALLBACK_RULE)
                yield (
                    address,
                    fill(
                        "change.html",
                        address,
                        change=change,
                        kind_name=change.kind.label,
                        words=VERDICTS[change.kind],
                        release=self._named(release.revision),
                        before=self._named(before.revision),
                        quantity_title=titles.get(change.quantity, ""),
                        outside=is_outside(change),
                        scenarios=[
                            {"name": name, "title": self._page.scenario_titles.get(name, name)}
                            for name in change.scenarios
                        ],
                        sides=self._sides(change, before.revision, release.revision),
                        witness=_witness(change.witness),
                        rule=rule,
                        commits=self._commits(change.commits),
                        compare=compare,
                    ),
                )

    def _sides(self, change: Change, base: Revision, head: Revision) -> list[dict[str, Any]]:
        found: list[tuple[str, str, Side | None, Revision]] = [
            ("before", base.resolved, change.before, base),
            ("after", head.resolved, change.after, head),
        ]
        return [
            {
                "sign": sign,
                "label": f"{sign} ({name})",
                "text": broken(side.text) if side is not None else "nothing",
                "unit": side.unit if side is not None else "1",
                "places": place_links(side.locations if side is not None else (), revision, self._page.upstream),
            }
            for sign, name, side, revision in found
        ]

    def charts(self) -> Iterator[dict[str, Any]]:
        """Tokens of each family's servers, and the default fraction of each machine, over the releases."""
        releases = self._documentation.releases
        for scenario, title in self._documentation.scenarios.items():
            servers = [server for server in self._documentation.servers if server.scenario == scenario]
            if not servers:
                continue
            labels = [("a fraction of {fraction}", 0, False), ("the fraction that SGLang picks", 1, True)]
            series = [
                (
                    f"{server.name.rpartition(', on ')[2]}, {words.format(fraction=server.inputs[GIVEN_FRACTION])}",
                    place,
                    dashed,
                    [release.facts.trends.tokens[server.name][index] for release in releases],
                )
                for place, server in enumerate(servers)
                for words, index, dashed in labels
            ]
            model = servers[0].name.rpartition(", on ")[0]
            words = (
                f"KV-cache tokens of one GPU: {model}. What is equal from version to version is a level line; a release"
                " from before the family was supported sizes it as what it takes it for, or not at all."
            )
            yield self._chart(f"chart-{safe(scenario)}", f"Tokens: {title}", words, series, from_zero=True)
        machines = list(dict.fromkeys(machine_name(server) for server in self._documentation.servers))
        series = [
            (name, place, False, [release.facts.trends.fractions[name] for release in releases])
            for place, name in enumerate(machines)
        ]
        words = "The static fraction that SGLang picks when the user gives none."
        yield self._chart("chart-fraction", "The default fraction", words, series, from_zero=False)

    def _chart(
        self, anchor: str, title: str, words: str, series: list[tuple[str, int, bool, list[Point]]], *, from_zero: bool
    ) -> dict[str, Any]:
        names = [release.revision.resolved for release in self._documentation.releases]
        lines = [
            Line(label, tuple(_plotted(point) for point in points), place % _COLOURS, dashed=dashed)
            for label, place, dashed, points in series
        ]
        cells = [[_cell(point) for point in points] for _, _, _, points in series]
        return {
            "anchor": anchor,
            "title": title,
            "words": words,
            "svg": draw_chart(title, names, lines, from_zero=from_zero),
            "legend": [{"label": line.label, "line": line.line, "dashed": line.dashed} for line in lines],
            "rows": [{"name": name, "cells": [column[place] for column in cells]} for place, name in enumerate(names)][
                ::-1
            ],
        }

    def rules(self) -> list[dict[str, str]]:
        """The rules with their explanations."""
        return [
            {
                "id": rule.id,
                "title": rule.title,
                "level": rule.level,
                "reported": reported_for(rule),
                "why": rule.why,
                "what_to_do": rule.what_to_do,
            }
            for rule in self._documentation.rules.rules
        ]

    def glossary(self) -> dict[str, Any]:
        """What the page of words shows."""
        quantities = self._documentation.rules.quantities
        return {
            "misread": misread_words(self._documentation),
            "quantities": quantities,
            "kinds": [{"name": kind.label, "words": VERDICTS[kind]} for kind in Kind],
            "scenarios": self.scenarios,
            "names": [
                {
                    "name": item.name,
                    "anchor": safe(item.name),
                    "unit": item.unit,
                    "description": item.description,
                    "names": item.names,
                }
                for item in self._documentation.names
            ],
        }

    def search_index(self) -> list[tuple[str, str, str]]:
        """What can be found, with what it is and where."""
        found = [(row["name"], "version", row["address"]) for row in self.rows]
        found += [
            (f"{item['name']}: {item['title']}", "model family", f"index.html#{safe(item['name'])}")
            for item in self.scenarios
        ]
        found += [
            (f"{item.name}: {item.description}", "symbol", f"glossary.html#symbol-{safe(item.name)}")
            for item in self._documentation.names
        ]
        found += [
            (f"{rule.id}: {rule.title}", "rule", f"rules.html#{rule.id.lower()}")
            for rule in self._documentation.rules.rules
        ]
        found += [
            (change["summary"], f"{change['kind']} in {row['name']}", change["address"])
            for row in self.rows
            for change in row["changes"]
        ]
        return found


def _changes(release: Release) -> Sequence[Change]:
    return release.report.changes if release.report is not None else ()


def _effect(change: Change) -> str:
    """What the witness gives on both sides."""
    if change.witness is None:
        return ""
    sides = f"{number(change.witness.before)} → {number(change.witness.after)}"
    unit = next((side.unit for side in (change.after, change.before) if side is not None and side.unit != "1"), "")
    return f"{sides} {unit}".rstrip()


def _witness(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    inputs = [{"name": name, "value": number(value)} for name, value in witness.inputs.items()]
    inputs += [{"name": name, "value": "not set"} for name in witness.unset]
    return {
        "inputs": inputs,
        "before": number(witness.before),
        "after": number(witness.after),
        "relative": share(witness.relative) if witness.relative is not None else "",
    }


def _plotted(point: Point) -> float | None:
    value = point.value
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _cell(point: Point) -> str:
    return number(point.value) if point.value is not None else point.error or "none"
