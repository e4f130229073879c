"""What an analysis of one ref yields: formulas, the value path, inputs, gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from analyzer.domain.source import Span
from analyzer.domain.terms import Term


@dataclass(frozen=True, slots=True)
class Formula:
    """One quantity as the source computes it, with every guard the source has.

    `error` is None, or a term that is a Raise exactly where SGLang would have raised before
    the value exists; it evaluates to None elsewhere.
    `source_unit` is the unit the source computes in; `unit` the one results are given in.
    `preceded_by` is what takes memory of the device before this is measured, for what is measured.
    """

    term: Term
    unit: str
    source_unit: str
    error: Term | None = None
    source_name: str = ""
    locations: tuple[Span, ...] = field(default=(), compare=False)
    preceded_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputFacts:
    """An input of the formulas of one ref: `default` is the release's own, None where it has none.

    A default of `Constant(None)` is a release that defaults to None.
    """

    name: str
    default: Term | None
    source_names: tuple[str, ...]
    locations: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the value path.

    `kind` is measure, return, argument, attribute, field, assign, call, clamp, sink or second_sink.
    """

    kind: str
    caller: str
    callee: str
    source: str
    target: str
    path: str = field(compare=False)
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the analysis went into: an edge of the explored call graph."""

    caller: str
    callee: str
    location: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Gap:
    """A place the analysis could not follow, and the quantities that depend on it."""

    path: str = field(compare=False)
    line: int = field(compare=False)
    construct: str
    reason: str
    affects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitConversion:
    """A multiplication or division that changes the scale of a memory quantity."""

    expression: str
    from_unit: str
    to_unit: str
    location: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class UnitFinding:
    """A mixture of units of memory that cannot be meant; with `is_wording`, words that name another unit."""

    message: str
    location: Span = field(compare=False)
    is_wording: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the explored code was decided.

    `guards_decided` and `guards_undecided` are the places of conditions that were met: the one is settled on
    every way there, the other is open on some. `opaque_calls` are the names of uninterpreted functions that a
    tracked quantity reads.
    """

    modules: int
    functions: int
    guards_decided: int
    guards_undecided: int
    opaque_calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything the analysis of one ref found; what a snapshot stores.

    `quantities` are the tracked ones; `definitions` give each sub-quantity symbol its own formula. `settings` say what
    SGLang makes of an option before the runner reads it: the option's own symbol in it is what the user gave, while in
    the formulas it is what the runner gets.
    `setting_gaps` are what could not be followed on the way to the settings; no formula depends on them.
    `manifest` maps every path that was looked at to its blob id, None for an absence.
    """

    entry: str
    quantities: Mapping[str, Formula]
    definitions: Mapping[str, Formula]
    inputs: Mapping[str, InputFacts]
    hops: tuple[Hop, ...]
    gaps: tuple[Gap, ...]
    coverage: Coverage
    unit_conversions: tuple[UnitConversion, ...]
    unit_findings: tuple[UnitFinding, ...]
    manifest: Mapping[str, str | None]
    calls: tuple[Call, ...] = ()
    settings: Mapping[str, Formula] = field(default_factory=dict)
    setting_gaps: tuple[Gap, ...] = ()

    @property
    def every_gap(self) -> tuple[Gap, ...]:
        """What could not be followed, in the formulas and on the way to the settings."""
        return self.gaps + self.setting_gaps


def joined(first: Extraction, second: Extraction) -> Extraction:
    """What two explorations of one ref found together; the first one names the entry and the path."""
    manifest = {**second.manifest, **first.manifest}
    coverage = (first.coverage, second.coverage)
    return replace(
        first,
        quantities={**second.quantities, **first.quantities},
        definitions={**second.definitions, **first.definitions},
        inputs={**second.inputs, **first.inputs},
        gaps=(*first.gaps, *second.gaps),
        coverage=Coverage(
            sum(blob is not None for blob in manifest.values()),
            sum(found.functions for found in coverage),
            sum(found.guards_decided for found in coverage),
            sum(found.guards_undecided for found in coverage),
            tuple(sorted({name for found in coverage for name in found.opaque_calls})),
        ),
        unit_conversions=(*first.unit_conversions, *second.unit_conversions),
        unit_findings=(*first.unit_findings, *second.unit_findings),
        manifest=manifest,
    )


def with_settings(found: Extraction, more: Extraction) -> Extraction:
    """The formulas of `found` and the settings of `more`; how much was covered is said of the formulas alone."""
    manifest = {**more.manifest, **found.manifest}
    return replace(found, settings=more.settings, setting_gaps=more.setting_gaps, manifest=manifest)


def without_settings(found: Extraction) -> Extraction:
    """The formulas of `found` alone."""
    return replace(found, settings={}, setting_gaps=())
