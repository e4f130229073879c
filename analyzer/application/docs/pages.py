"""What the documentation of formulas holds, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.domain.effect import Server
from analyzer.domain.evaluation import Value
from analyzer.domain.extraction import Coverage, Gap, Hop, UnitConversion, UnitFinding
from analyzer.domain.report import DiffReport
from analyzer.domain.source import Revision, Span
from analyzer.domain.terms import Term
from analyzer.domain.views import RulesReport


@dataclass(frozen=True, slots=True)
class Step:
    """One step from measured memory to a count.

    `stage` is measured, headroom, reservation, budget, bytes, cost, tokens, clamp, pool or requests; `name` is what
    the step computes, `term` how; `converts` are the units before and after where the step changes them.
    """

    stage: str
    title: str
    name: str
    term: Term
    unit: str
    converts: tuple[str, str] | None = None
    locations: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """What SGLang raises instead of going on, and when."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class Example:
    """One server put into the formulas of a release; a value is None where it has none."""

    server: str
    inputs: Mapping[str, Value]
    values: Mapping[str, Value]
    error: str | None


@dataclass(frozen=True, slots=True)
class ScenarioFormula:
    """The formula under each of `scenarios`, which share it.

    `switches` are options that it would also hang on, with the defaults that they are taken to have.
    """

    scenarios: tuple[str, ...]
    steps: tuple[Step, ...]
    failures: tuple[Failure, ...]
    switches: Mapping[str, Value] = field(default_factory=dict)
    example: Example | None = None


@dataclass(frozen=True, slots=True)
class SymbolEntry:
    """One name in the formulas of a release."""

    name: str
    unit: str
    description: str
    source_names: tuple[str, ...]
    locations: tuple[Span, ...]
    default: Term | None
    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FullFormula:
    """One quantity with every guard that the source has."""

    name: str
    title: str
    unit: str
    text: str
    locations: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ReleasePage:
    """All that is said about one release by itself."""

    revision: Revision
    entry: str
    formulas: tuple[ScenarioFormula, ...]
    symbols: tuple[SymbolEntry, ...]
    full: tuple[FullFormula, ...]
    hops: tuple[Hop, ...]
    conversions: tuple[UnitConversion, ...]
    unit_findings: tuple[UnitFinding, ...]
    gaps: tuple[Gap, ...]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class ScenarioProgram:
    """What a scenario fixes and leaves open, what it computes, which inputs that reads, and a server to begin with."""

    fixed: Mapping[str, Value]
    open: tuple[str, ...]
    shown: tuple[str, ...]
    fields: tuple[str, ...]
    example: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Program:
    """The formulas of one release as data that can be evaluated without this program.

    `nodes` are terms, operands before their users, each a list that begins with its kind. `results` maps a quantity
    to its term and its error (-1: none), and `names` a name to the terms that can give its value, in the order in
    which they are tried. A quantity in `free` is shown in every scenario, whatever its steps. `guesses` holds other
    values of what is None only because nothing tells. `units` are those of the results;
    `inputs` gives the unit and the meaning of what may be given, `declared` those whose lack is an error where every
    other one is an option that is off, `records` those that stand for an object as a whole, and `defined` what the
    release computes itself.
    """

    nodes: tuple[tuple[object, ...], ...]
    results: Mapping[str, tuple[int, int]]
    names: Mapping[str, tuple[int, ...]]
    scenarios: Mapping[str, ScenarioProgram]
    guesses: Mapping[str, tuple[Value, ...]]
    free: tuple[str, ...]
    units: Mapping[str, str]
    inputs: Mapping[str, tuple[str, str]]
    declared: tuple[str, ...]
    records: tuple[str, ...]
    defined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """What one release gives one server; `error` is what it raises instead."""

    value: Value
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Trends:
    """What one release gives the reference servers: tokens by server, and the default fraction by machine.

    `tokens` has each server with its own fraction and with the one that SGLang picks.
    """

    tokens: Mapping[str, tuple[Point, Point]]
    fractions: Mapping[str, Point]


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What the pages about all releases need of one of them."""

    revision: Revision
    trends: Trends
    names: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class NameHistory:
    """A symbol, and what the releases call it: each name with the first and the last release that has it."""

    name: str
    unit: str
    description: str
    names: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Release:
    """A release in the timeline: what changed since the one before it, None for the first one."""

    facts: ReleaseFacts
    report: DiffReport | None

    @property
    def revision(self) -> Revision:
        """The release itself."""
        return self.facts.revision


@dataclass(frozen=True, slots=True)
class Documentation:
    """What spans the releases, oldest first; each has a page of its own beside it.

    `scenarios` and `quantities` give the titles of the names that are used.
    """

    releases: tuple[Release, ...]
    scenarios: Mapping[str, str]
    quantities: Mapping[str, str]
    servers: tuple[Server, ...]
    names: tuple[NameHistory, ...]
    rules: RulesReport
