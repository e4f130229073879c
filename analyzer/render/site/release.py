"""The page of one release."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.application.docs.pages import Example, ReleasePage, ScenarioFormula, Step, SymbolEntry
from analyzer.domain.extraction import Coverage
from analyzer.domain.notation import to_text
from analyzer.domain.source import Revision, Span
from analyzer.render.blocks import is_commit, number, plural
from analyzer.render.page import Page
from analyzer.render.site.mathml import math
from analyzer.render.site.names import release_address, safe
from analyzer.render.site.path_diagram import draw_path
from analyzer.render.site.templating import fill
from analyzer.render.upstream import line_link, revision_name

STAGES: Final[Mapping[str, str]] = {
    "measured": "measured",
    "headroom": "stays free",
    "reservation": "set aside",
    "budget": "is left",
    "bytes": "in bytes",
    "cost": "one token",
    "tokens": "fit",
    "clamp": "limited by",
    "pool": "also sized",
}
_IN_SHORT: Final = ("budget", "cost", "bytes", "tokens")


@dataclass(frozen=True, slots=True)
class Link:
    """What is shown, and where it leads; None where nothing is known."""

    text: str
    address: str | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The names of the releases around one."""

    older: str | None
    newer: str | None


def place_link(span: Span, revision: Revision, upstream: str) -> Link:
    """A place in the source of a release."""
    return Link(str(span), line_link(upstream, revision, span))


def place_links(spans: Iterable[Span], revision: Revision, upstream: str, first: Container[str] = ()) -> list[Link]:
    """Places in the source of a release, each once, those in the files `first` before the others."""
    ordered = sorted(spans, key=lambda span: span.path not in first)
    return list(dict.fromkeys(place_link(span, revision, upstream) for span in ordered))


def render_release(release: ReleasePage, neighbours: Neighbours, page: Page, address: str) -> bytes:
    """The page of a release at `address`."""
    revision = release.revision
    name = revision.resolved
    return fill(
        "release.html",
        address,
        name=name,
        anchor=safe(name),
        older=_named(neighbours.older),
        newer=_named(neighbours.newer),
        source=_source(revision, page.upstream),
        formulas=[_formula(formula, release, page) for formula in release.formulas],
        symbols=[_symbol(symbol, revision, page.upstream) for symbol in release.symbols],
        entry=release.entry,
        path=draw_path(release.hops, revision, page.upstream),
        conversions=[
            {
                "place": place_link(item.location, revision, page.upstream),
                "expression": item.expression,
                "from_unit": item.from_unit,
                "to_unit": item.to_unit,
            }
            for item in release.conversions
        ],
        unit_findings=[
            {"message": item.message, "place": place_link(item.location, revision, page.upstream)}
            for item in release.unit_findings
        ],
        gaps=[
            {
                "construct": gap.construct,
                "reason": gap.reason,
                "affects": gap.affects,
                "place": place_link(Span(gap.path, gap.line, gap.line), revision, page.upstream)
                if gap.path
                else Link("", None),
            }
            for gap in release.gaps
        ],
        coverage=coverage_words(release.coverage),
        full=[
            {
                "name": item.name,
                "title": item.title,
                "unit": item.unit,
                "text": broken(item.text),
                "places": place_links(item.locations, revision, page.upstream),
            }
            for item in release.full
        ],
    )


def _named(name: str | None) -> dict[str, str] | None:
    return None if name is None else {"name": name, "address": release_address(name)}


def _source(revision: Revision, upstream: str) -> Link:
    known = revision_name(revision)
    text = revision.commit[:12] if is_commit(revision) else revision.resolved
    return Link(text, None if known is None else f"{upstream}/tree/{known}")


def coverage_words(coverage: Coverage) -> str:
    """How much was read, in a sentence."""
    read = f"{plural(coverage.functions, 'function')} in {plural(coverage.modules, 'file')} were read"
    return (
        f"{read}; of their conditions {coverage.guards_decided} are settled and {coverage.guards_undecided} are open."
    )


def broken(text: str) -> str:
    """A long formula with each named part on a line of its own."""
    body, where, rest = text.partition(" where x1 = ")
    if not where:
        return text
    lines = []
    number_ = 1
    while rest:
        part, mark, rest = rest.partition(f", x{number_ + 1} = ")
        lines.append(f"  x{number_} = {part}")
        number_ += 1
        if not mark:
            break
    return "\n".join([body, "where", *lines])


def _formula(formula: ScenarioFormula, release: ReleasePage, page: Page) -> dict[str, Any]:
    units = {step.name: step.unit for step in formula.steps}
    units |= {symbol.name: symbol.unit for symbol in release.symbols}
    # What happens on the path says more about a step than what it reads elsewhere.
    files = {hop.path for hop in release.hops}
    descriptions = {symbol.name: symbol.description for symbol in release.symbols}
    return {
        "anchor": safe(formula.scenarios[0]),
        "scenarios": [
            {"name": name, "title": page.scenario_titles.get(name, name), "anchor": safe(name)}
            for name in formula.scenarios
        ],
        "short": [_step(step, release.revision, page, files) for step in _short(formula.steps)],
        "steps": [_step(step, release.revision, page, files) for step in formula.steps],
        "limits": dict.fromkeys(step.title for step in formula.steps if step.stage == "clamp"),
        "example": _example(formula.example, units),
        "switches": [
            {"name": name, "value": repr(value), "description": descriptions.get(name, page_description(name, page))}
            for name, value in formula.switches.items()
        ],
        "failures": [{"name": failure.name, "math": math(failure.term)} for failure in formula.failures],
    }


def page_description(name: str, page: Page) -> str:
    """What a name means where the formula itself does not read it."""
    return page.symbol_titles.get(name, "")


def _short(steps: Sequence[Step]) -> list[Step]:
    """The steps that answer how the cache is sized: what is left, what one token costs, how many fit."""
    return [step for step in steps if step.stage in _IN_SHORT]


def _step(step: Step, revision: Revision, page: Page, files: Container[str]) -> dict[str, Any]:
    return {
        "stage": step.stage,
        "words": STAGES.get(step.stage, step.stage),
        "title": step.title,
        "math": math(step.term, defines=step.name),
        "unit": step.unit,
        "converts": step.converts,
        "places": place_links(step.locations, revision, page.upstream, files),
    }


def _example(example: Example | None, units: Mapping[str, str]) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "server": example.server,
        "inputs": [_item(name, value, units) for name, value in example.inputs.items()],
        "results": [
            _item(name, value if value is not None else example.error or "none", units)
            for name, value in example.values.items()
            if name not in example.inputs
        ],
    }


def _item(name: str, value: Any, units: Mapping[str, str]) -> dict[str, str]:
    return {"name": name, "value": number(value), "unit": units.get(name, "1")}


def _symbol(symbol: SymbolEntry, revision: Revision, upstream: str) -> dict[str, Any]:
    return {
        "name": symbol.name,
        "unit": symbol.unit,
        "description": symbol.description,
        "default": "" if symbol.default is None else to_text(symbol.default, limit=80),
        "source_names": symbol.source_names[:6],
        "places": place_links(symbol.locations, revision, upstream),
    }
