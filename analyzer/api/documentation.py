"""Puts the documentation of formulas together: releases in parallel, then what spans them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from analyzer.adapters.workers import run_all
from analyzer.api.workspace import Workspace
from analyzer.application.catalogue import catalogue
from analyzer.application.comparisons import Comparisons
from analyzer.application.docs.calculator import build_program
from analyzer.application.docs.pages import Documentation, Release, ReleaseFacts, ReleasePage
from analyzer.application.docs.reference import reference_servers
from analyzer.application.docs.release import document_release
from analyzer.application.docs.timeline import same_formula
from analyzer.application.docs.trends import gather_facts, trace_names
from analyzer.application.scope import Scope
from analyzer.application.selection import scenario_title, select_scenarios
from analyzer.application.side import Side
from analyzer.domain.effect import Server
from analyzer.domain.errors import ExtractionError, UsageError
from analyzer.domain.evaluation import DEFAULT_SCENARIO
from analyzer.domain.report import DiffReport
from analyzer.domain.rules import ROOTS, RuleSet
from analyzer.domain.snapshot import Snapshot
from analyzer.render.page import Page
from analyzer.render.site import (
    Neighbours,
    program_name,
    program_text,
    render_overview,
    render_release,
    write_pages,
    write_release,
)
from analyzer.render.site.names import release_address


def build(
    workspace: Workspace, first: str | None, last: str | None, scope: Scope, file_format: str
) -> dict[str, bytes]:
    """The files of the documentation in one format, by address. Raises UnknownRefError, UsageError."""
    builder = _builder(workspace, first, last, scope)
    return builder.html() if file_format == "html" else builder.markdown()


def _builder(workspace: Workspace, first: str | None, last: str | None, scope: Scope) -> Builder:
    rules = workspace.rules
    snapshots = []
    for name in workspace.releases(first, last):
        try:
            snapshots.append(workspace.snapshot(name, ROOTS))
        except ExtractionError as error:
            workspace.note(f"{name} is left out: {error}")
    if not snapshots:
        raise UsageError("there is no release to document", hint="give a clone with --repo, or widen --from and --to")
    chosen = select_scenarios(scope.scenarios, rules)
    # The family that is meant where none is named comes first.
    ordered = sorted(chosen, key=lambda name: name != DEFAULT_SCENARIO)
    return Builder(snapshots, rules, workspace.comparisons, scope, ordered)


@dataclass(frozen=True, slots=True)
class _Made:
    """What one release adds: its pages by address, its data for the calculator, and its facts."""

    facts: ReleaseFacts
    files: dict[str, bytes]
    program: str = ""


@dataclass(frozen=True, slots=True)
class Builder:
    """Everything that the pages are made from; the snapshots are in order, oldest first."""

    snapshots: Sequence[Snapshot]
    rules: RuleSet
    comparisons: Comparisons
    scope: Scope
    scenarios: Sequence[str]

    def html(self) -> dict[str, bytes]:
        """The files of the site, by address."""
        documentation, made = self._make(self._html_release)
        programs = {item.facts.revision.resolved: item.program for item in made}
        return {**_files(made), **render_overview(documentation, programs, self._page)}

    def markdown(self) -> dict[str, bytes]:
        """The same content as Markdown, by address."""
        documentation, made = self._make(self._markdown_release)
        return {**_files(made), **write_pages(documentation, self._page)}

    def _make(self, render: Callable[[int], _Made]) -> tuple[Documentation, Sequence[_Made]]:
        """What `render` makes of each release, and what spans them."""
        places = range(len(self.snapshots))
        # The newest releases have the largest formulas: what takes longest begins first.
        newest_first = places[::-1]
        tasks: list[Callable[[], _Made | DiffReport | None]] = []
        tasks += [partial(self._compare, place) for place in newest_first if place]
        tasks += [partial(render, place) for place in newest_first]
        results = run_all(tasks)
        reports = [*(r for r in results[: len(places) - 1] if not isinstance(r, _Made)), None][::-1]
        made = [item for item in results[len(places) - 1 :] if isinstance(item, _Made)][::-1]
        releases = tuple(Release(item.facts, report) for item, report in zip(made, reports, strict=True))
        return self._documentation(releases), made

    def _documentation(self, releases: tuple[Release, ...]) -> Documentation:
        return Documentation(
            releases=releases,
            scenarios={name: scenario_title(name, self.rules) for name in self.scenarios},
            quantities={name: rule.title for name, rule in self.rules.quantities.items()},
            servers=self._servers,
            names=trace_names([release.facts for release in releases], self.rules),
            rules=catalogue(self.rules, ()),
        )

    @property
    def _page(self) -> Page:
        return Page(
            scenario_titles={
                name: scenario_title(name, self.rules) for name in (*self.scenarios, *self.rules.scenarios)
            },
            quantity_titles={name: rule.title for name, rule in self.rules.quantities.items()},
            symbol_titles={name: rule.description for name, rule in self.rules.symbols.items()},
            rules=self.rules.every_rule(),
        )

    def _compare(self, place: int) -> DiffReport | None:
        base, head = self.snapshots[place - 1], self.snapshots[place]
        if same_formula(base.extraction, head.extraction):
            return None
        return self.comparisons.report(_side(base), _side(head), self.scope)

    def _html_release(self, place: int) -> _Made:
        snapshot, servers = self.snapshots[place], self._servers
        page = self._document(place)
        text = program_text(build_program(snapshot.extraction, self.rules, page.formulas, servers))
        program = program_name(text)
        around = self._around(place)
        address = release_address(snapshot.revision.resolved)
        files = {
            address: render_release(page, around, self._page, address),
            f"data/{program}.js": f'formulaProgram("{program}", {text});\n'.encode(),
        }
        if around.newer is None:
            files["index.html"] = render_release(page, around, self._page, "index.html")
        return _Made(gather_facts(snapshot, self.rules, servers), files, program)

    def _markdown_release(self, place: int) -> _Made:
        files = write_release(self._document(place), self._around(place), self._page)
        return _Made(gather_facts(self.snapshots[place], self.rules, self._servers), files)

    def _document(self, place: int) -> ReleasePage:
        return document_release(self.snapshots[place], self.rules, self.scenarios, self.scope.quantities, self._servers)

    def _around(self, place: int) -> Neighbours:
        return Neighbours(*(self._name(place + step) for step in (-1, 1)))

    @property
    def _servers(self) -> tuple[Server, ...]:
        return tuple(server for server in reference_servers() if server.scenario in self.scenarios)

    def _name(self, place: int) -> str | None:
        return self.snapshots[place].revision.resolved if 0 <= place < len(self.snapshots) else None


def _side(snapshot: Snapshot) -> Side:
    return Side(snapshot.revision, lambda _: snapshot)


def _files(made: Sequence[_Made]) -> dict[str, bytes]:
    return {address: content for item in made for address, content in item.files.items()}
