"""The documentation as Markdown for a repository or a wiki: the same content, formulas between ``$$``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from analyzer.application.docs.pages import (
    Documentation,
    Example,
    Point,
    Release,
    ReleasePage,
    ScenarioFormula,
    Step,
    SymbolEntry,
)
from analyzer.application.docs.reference import machine_name
from analyzer.domain.notation import to_latex, to_text
from analyzer.domain.report import Change, Kind, Side, Witness
from analyzer.domain.rules import FALLBACK_RULE
from analyzer.domain.source import Revision, Span
from analyzer.domain.terms import Term
from analyzer.render.blocks import VERDICTS, number, share
from analyzer.render.defuse import defuse
from analyzer.render.markup import code, fenced, folded, link, prose, table
from analyzer.render.page import Page
from analyzer.render.site.names import safe
from analyzer.render.site.path_diagram import svg_file
from analyzer.render.site.release import STAGES, Neighbours, broken, coverage_words
from analyzer.render.site.words import is_outside, misread_words
from analyzer.render.upstream import compare_link, line_link, pull_link

_PLACES: Final = 3
# Where Markdown eats a backslash before punctuation, a formula still has to mean the same.
_LINE_BREAK: Final = re.compile(r"\\\\ ?")
_UNDERSCORE: Final = "\N{MODIFIER LETTER LOW MACRON}"


def release_file(name: str) -> str:
    """Where the page of a release is."""
    return f"versions/{safe(name)}.md"


def write_release(release: ReleasePage, neighbours: Neighbours, page: Page) -> dict[str, bytes]:
    """The page of one release and its drawing, by address."""
    name = release.revision.resolved
    drawing = f"versions/{safe(name)}.svg"
    lines = list(_release(release, neighbours, page, f"{safe(name)}.svg"))
    svg = svg_file(release.hops, release.revision, page.upstream)
    return {release_file(name): _encoded(lines), drawing: svg}


def write_pages(documentation: Documentation, page: Page) -> dict[str, bytes]:
    """The pages that span the releases, by address."""
    names = [release.revision.resolved for release in documentation.releases]
    return {
        "README.md": _encoded(list(_contents(documentation))),
        "timeline.md": _encoded(list(_timeline(documentation, page))),
        "meaning.md": _encoded(list(_meaning(documentation, names))),
        "glossary.md": _encoded(list(_glossary(documentation))),
        "rules.md": _encoded(list(_rules(documentation))),
        **{address: _encoded(lines) for address, lines in _changes(documentation, page)},
    }


def _encoded(lines: Sequence[str]) -> bytes:
    text = "\n".join(lines).strip("\n") + "\n"
    return defuse(text).encode("utf-8", "backslashreplace")


def _math(term: Term, name: str = "") -> list[str]:
    """A formula as a displayed block that no Markdown processor changes."""
    latex = to_latex(term, limit=300)
    if name:
        # The name stands before the first line of what may be several.
        left = rf"\mathrm{{{name}}} = "
        latex = latex.replace(r"\begin{aligned}& ", rf"\begin{{aligned}}& {left}", 1)
        latex = latex if latex.startswith(r"\begin{aligned}") else left + latex
    return ["$$", _portable(latex), "$$", ""]


def _portable(latex: str) -> str:
    """LaTeX without backslashes before punctuation, which Markdown would take for its own escapes."""
    text = latex.replace(r"\operatorname", r"\mathrm")
    text = text.replace(r"\_", _UNDERSCORE).replace("_", _UNDERSCORE) if "x_{" not in text else _named(text)
    text = _LINE_BREAK.sub(r"\\cr ", text)
    text = re.sub(r"\\([{}#$%&!,;:])", lambda found: _WORDS.get(found[1], " "), text)
    return text.replace("<", r"\lt ").replace(">", r"\gt ")


_WORDS: Final[Mapping[str, str]] = {"{": r"\lbrace ", "}": r"\rbrace ", "%": r"\mathrm{percent}", "#": r"\sharp "}


def _named(text: str) -> str:
    """`text` whose named parts, such as ``x_{1}``, keep their subscripts."""
    escaped = text.replace(r"\_", _UNDERSCORE)
    return re.sub(r"_(?!\{\d+\})", _UNDERSCORE, escaped)


def _release(release: ReleasePage, neighbours: Neighbours, page: Page, drawing: str) -> Iterator[str]:
    name = release.revision.resolved
    yield from (f"# How SGLang {prose(name)} sizes its KV cache", "")
    around = [("older", neighbours.older), ("newer", neighbours.newer)]
    links = [f"[{words}: {prose(other)}]({safe(other)}.md)" for words, other in around if other is not None]
    yield from (" · ".join([*links, "[timeline](../timeline.md)", "[contents](../README.md)"]), "")
    for formula in release.formulas:
        yield from _formula(formula, release.revision, page)
    yield from ("## Symbols", "")
    rows = [_symbol(symbol, release.revision, page) for symbol in release.symbols]
    yield from (*table(("symbol", "unit", "meaning", "default", "in the source"), rows), "")
    yield from ("## Value path", "", f"![The value path, hop by hop]({drawing})", "")
    for place, hop in enumerate(release.hops, 1):
        words = f"{place}. {prose(hop.kind)}: {code(hop.caller)} → {code(hop.callee)}"
        names = f" ({code(hop.source)} → {code(hop.target)})" if hop.source or hop.target else ""
        yield f"{words}{names} {_places([Span(hop.path, hop.line, hop.line)], release.revision, page)}"
    yield from ("", *_remarks(release, page))
    yield from ("## The full formula, with every guard", "")
    for item in release.full:
        lines = fenced("text", [f"  {line}" for line in broken(item.text).split("\n")])
        yield from folded(f"{prose(item.name)}: {prose(item.title)}", lines)
        yield ""


def _remarks(release: ReleasePage, page: Page) -> Iterator[str]:
    """Conversions, doubtful units and gaps."""
    yield from ("## Unit conversions", "")
    if release.conversions:
        rows = [
            (
                _cell(item.expression),
                prose(item.from_unit),
                prose(item.to_unit),
                _places([item.location], release.revision, page),
            )
            for item in release.conversions
        ]
        yield from (*table(("expression", "from", "to", "where"), rows), "")
    yield from (
        f"- {prose(item.message)} {_places([item.location], release.revision, page)}" for item in release.unit_findings
    )
    yield from ("", "## What the analysis could not follow", "")
    for gap in release.gaps:
        place = _places([Span(gap.path, gap.line, gap.line)], release.revision, page) if gap.path else ""
        affected = f" May affect {', '.join(map(code, gap.affects))}." if gap.affects else ""
        yield f"- {code(gap.construct)}: {prose(gap.reason)} {place}{affected}"
    yield from ("" if release.gaps else "Nothing: every step was followed.", "", coverage_words(release.coverage), "")


def _formula(formula: ScenarioFormula, revision: Revision, page: Page) -> Iterator[str]:
    titles = [f"{page.scenario_titles.get(name, name)} ({name})" for name in formula.scenarios]
    yield from (f"## {prose(', '.join(titles))}", "")
    if formula.example is not None:
        yield from _example(formula.example)
    for place, step in enumerate(formula.steps, 1):
        yield from _step(place, step, revision, page)
    if formula.switches:
        yield from ("Taken as off:", "")
        yield from (f"- {code(f'{name} = {value!r}')}" for name, value in formula.switches.items())
        yield ""
    if formula.failures:
        lines = [line for failure in formula.failures for line in ("", *_failure(failure.name, failure.term))]
        yield from (*folded("When SGLang stops instead", lines), "")


def _failure(name: str, term: Term) -> list[str]:
    return [f"Before {code(name)} is known:", "", *_math(term)]


def _example(example: Example) -> Iterator[str]:
    given = [f"{code(name)} {prose(number(value))}" for name, value in example.inputs.items()]
    found = [
        f"{code(name)} **{prose(number(value) if value is not None else example.error or 'none')}**"
        for name, value in example.values.items()
        if name not in example.inputs
    ]
    yield from (f"One server ({prose(example.server)}): {', '.join(given)}. It gets {', '.join(found)}.", "")


def _step(place: int, step: Step, revision: Revision, page: Page) -> Iterator[str]:
    unit = "" if step.unit == "1" else f" [{prose(step.unit)}]"
    converts = f"; **unit: {prose(step.converts[0])} → {prose(step.converts[1])}**" if step.converts else ""
    yield f"{place}\\. *{STAGES.get(step.stage, step.stage)}*: **{prose(step.title)}**{unit}{converts}"
    yield from ("", *_math(step.term, step.name))
    places = _places(step.locations, revision, page)
    if places:
        yield from (places, "")


def _symbol(symbol: SymbolEntry, revision: Revision, page: Page) -> tuple[str, ...]:
    default = "" if symbol.default is None else _cell(to_text(symbol.default, limit=80))
    names = ", ".join(prose(name) for name in symbol.source_names[:6])
    return (
        prose(symbol.name),
        prose(symbol.unit),
        prose(symbol.description),
        default,
        f"{names} {_places(symbol.locations[:2], revision, page)}".strip(),
    )


def _cell(text: str) -> str:
    """Code in a cell of a table, where a pipe would end it."""
    return prose(text) if "|" in text else code(text)


def _places(spans: Sequence[Span], revision: Revision, page: Page) -> str:
    unique = list(dict.fromkeys(spans))
    shown = [link(str(span), line_link(page.upstream, revision, span)).replace("|", "") for span in unique[:_PLACES]]
    return ", ".join(shown) + (f" and {len(unique) - _PLACES} more" if len(unique) > _PLACES else "")


def _contents(documentation: Documentation) -> Iterator[str]:
    newest = documentation.releases[-1].revision.resolved
    yield from ("# How SGLang sizes its KV cache", "")
    yield from (f"The newest version here: [{prose(newest)}]({release_file(newest)}).", "")
    for address, words in (
        ("timeline.md", "What changed, release by release"),
        ("meaning.md", "What it means for a server"),
        ("glossary.md", "Glossary"),
        ("rules.md", "Rules"),
    ):
        yield f"- [{words}]({address})"
    rows = [
        (
            f"[{prose(name)}]({release_file(name)})",
            prose(_verdict(release, is_first=not place)),
            str(len(release.report.changes)) if release.report is not None else "",
        )
        for place, release in enumerate(documentation.releases)
        for name in [release.revision.resolved]
    ][::-1]
    yield from ("", "## Versions", "", *table(("version", "since the one before", "changes"), rows))


def _verdict(release: Release, *, is_first: bool) -> str:
    return "" if is_first else release.report.verdict.label if release.report is not None else Kind.IDENTICAL.label


def _change_file(release: Release, change: Change) -> str:
    return f"changes/{safe(release.revision.resolved)}-{safe(change.fingerprint)}.md"


def _timeline(documentation: Documentation, page: Page) -> Iterator[str]:
    yield from ("# What changed, release by release", "")
    for before, release in [*pairwise(documentation.releases)][::-1]:
        name = release.revision.resolved
        yield from (f"## {prose(name)}: {_verdict(release, is_first=False)}", "")
        compare = compare_link(page.upstream, before.revision, release.revision)
        rest = f" [All of the source]({compare})" if compare is not None else ""
        words = VERDICTS[release.report.verdict] if release.report is not None else VERDICTS[Kind.IDENTICAL]
        yield from (f"{words} [The formula]({release_file(name)}){rest}", "")
        for change in release.report.changes if release.report is not None else ():
            pulls = [f" [#{c.pr}]({pull_link(page.upstream, c.pr)})" for c in change.commits if c.pr is not None]
            whom = f"not by default: {change.guard}" if is_outside(change) else ", ".join(change.scenarios)
            scenarios = f" ({prose(whom, 200)})" if whom else ""
            summary = f"[{prose(change.summary, 200)}]({_change_file(release, change)})"
            yield f"- **{change.kind.label}** {summary}{scenarios}{''.join(pulls)}"
        yield ""


def _changes(documentation: Documentation, page: Page) -> Iterator[tuple[str, list[str]]]:
    for before, release in pairwise(documentation.releases):
        for change in release.report.changes if release.report is not None else ():
            yield _change_file(release, change), list(_change(change, before.revision, release.revision, page))


def _change(change: Change, base: Revision, head: Revision, page: Page) -> Iterator[str]:
    rule = page.rules.get(change.rule, FALLBACK_RULE)
    yield from (f"# {prose(rule.title)}: {prose(change.quantity)}", "")
    yield from (f"{prose(base.resolved)} → {prose(head.resolved)}, [timeline](../timeline.md)", "")
    yield from (f"**{change.kind.label}**: {VERDICTS[change.kind]}", "", prose(change.summary, 2000), "")
    affected = [f"{prose(page.scenario_titles.get(name, name))} ({prose(name)})" for name in change.scenarios]
    facts = [
        ("who is affected", ", ".join(affected)),
        ("not by default" if is_outside(change) else "only if", code(change.guard)),
        ("how far", prose(change.bound or "")),
    ]
    facts.append(("also moves", ", ".join(map(code, change.affects))))
    yield from (f"- {words}: {text}" for words, text in facts if text)
    for words, side, revision in (("Before", change.before, base), ("After", change.after, head)):
        yield from _side(words, side, revision, page)
    if change.witness is not None:
        yield from _witness(change.witness, base, head)
    yield from ("", "## Why it matters", "", f"[{rule.id}](../rules.md#{rule.id.lower()}): {prose(rule.why, 2000)}")
    yield from ("", f"What to do: {prose(rule.what_to_do, 2000)}")


def _side(words: str, side: Side | None, revision: Revision, page: Page) -> Iterator[str]:
    yield from ("", f"## {words} ({prose(revision.resolved)})", "")
    if side is None:
        yield "Nothing."
        return
    if side.latex:
        yield from ("$$", _portable(side.latex), "$$", "")
    yield from (*fenced("text", [f"  {line}" for line in broken(side.text).split("\n")]), "")
    yield _places(side.locations, revision, page)


def _witness(witness: Witness, base: Revision, head: Revision) -> Iterator[str]:
    rows = [(prose(name), prose(number(value))) for name, value in witness.inputs.items()]
    rows += [(prose(name), "not set") for name in witness.unset]
    yield from ("", "## Witness", "", *table(("input", "value"), rows), "")
    relative = f" ({share(witness.relative)})" if witness.relative is not None else ""
    yield f"{prose(base.resolved)} gives {prose(number(witness.before))}, {prose(head.resolved)}"
    yield f"gives **{prose(number(witness.after))}**{relative}."


def _meaning(documentation: Documentation, names: Sequence[str]) -> Iterator[str]:
    yield from ("# What it means for a server", "")
    for scenario, title in documentation.scenarios.items():
        servers = [server for server in documentation.servers if server.scenario == scenario]
        if not servers:
            continue
        head = ["version"]
        columns: list[list[Point]] = []
        for server in servers:
            machine = server.name.rpartition(", on ")[2]
            for index, words in enumerate((f"fraction {server.inputs['mem_fraction_static']}", "default fraction")):
                head.append(f"{machine}, {words}")
                columns.append([release.facts.trends.tokens[server.name][index] for release in documentation.releases])
        model = servers[0].name.rpartition(", on ")[0]
        yield from (f"## Tokens: {prose(title)}", "", f"KV-cache tokens of one GPU: {prose(model)}.", "")
        yield from (*table(head, _rows(names, columns)), "")
    machines = list(dict.fromkeys(map(machine_name, documentation.servers)))
    columns = [[release.facts.trends.fractions[name] for release in documentation.releases] for name in machines]
    yield from ("## The default fraction", "", *table(["version", *machines], _rows(names, columns)))


def _rows(names: Sequence[str], columns: Sequence[Sequence[Point]]) -> list[list[str]]:
    rows = [[prose(name), *(_point(column[place]) for column in columns)] for place, name in enumerate(names)]
    return rows[::-1]


def _point(point: Point) -> str:
    return prose(number(point.value) if point.value is not None else point.error or "none")


def _glossary(documentation: Documentation) -> Iterator[str]:
    quantities = documentation.rules.quantities
    yield from ("# Glossary", "", "## Words that mislead", "")
    yield from (f"- **{prose(word)}**: {prose(meaning)}" for word, meaning in misread_words(documentation))
    yield from ("", "## Quantities", "")
    rows = [(prose(r.name), prose(r.unit), f"{prose(r.title)}: {prose(r.description)}") for r in quantities]
    yield from (*table(("quantity", "unit", "what it is"), rows), "", "## Kinds of change", "")
    yield from (f"- **{kind.label}**: {VERDICTS[kind]}" for kind in Kind)
    yield from ("", "## Model families", "")
    yield from (f"- {code(name)}: {prose(title)}" for name, title in documentation.scenarios.items())
    yield from ("", "## What the versions call it", "")
    names = [
        (
            prose(item.name),
            prose(item.unit),
            prose(item.description),
            "; ".join(f"{prose(name)} ({prose(first)} to {prose(last)})" for name, first, last in item.names),
        )
        for item in documentation.names
    ]
    yield from table(("symbol", "unit", "meaning", "names in the source"), names)


def _rules(documentation: Documentation) -> Iterator[str]:
    yield from ("# Rules", "")
    for rule in documentation.rules.rules:
        yield from (f"### {prose(rule.id)}", "", f"**{prose(rule.title)}** ({rule.level})", "", prose(rule.why, 2000))
        yield from ("", f"What to do: {prose(rule.what_to_do, 2000)}", "")
