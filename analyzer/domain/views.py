"""What `show`, `trace`, `graph`, `rules` and `cache` report, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analyzer.domain.code import PythonFunction
from analyzer.domain.extraction import Coverage, Gap, Hop, UnitConversion, UnitFinding
from analyzer.domain.rules import AnyRule, ChangeRule, InvariantRule, QuantityRule
from analyzer.domain.source import Revision, Span


@dataclass(frozen=True, slots=True)
class FormulaView:
    """A formula written down; `guards` are the conditions that it still depends on."""

    text: str
    latex: str
    guards: tuple[str, ...]
    locations: tuple[Span, ...]
    raises: str | None = None


@dataclass(frozen=True, slots=True)
class QuantityView:
    """One quantity: under each scenario, and with every guard the source has."""

    title: str
    unit: str
    source_unit: str
    scenarios: Mapping[str, FormulaView]
    full: FormulaView


@dataclass(frozen=True, slots=True)
class SymbolView:
    """An input that a shown formula reads."""

    unit: str
    description: str
    source_names: tuple[str, ...]
    locations: tuple[Span, ...]
    default: str | None


@dataclass(frozen=True, slots=True)
class ShowReport:
    """The formulas of one ref; `functions` are those that were asked for as source."""

    revision: Revision
    entry: str
    path: tuple[Hop, ...]
    quantities: Mapping[str, QuantityView]
    symbols: Mapping[str, SymbolView]
    unit_conversions: tuple[UnitConversion, ...]
    unit_findings: tuple[UnitFinding, ...]
    gaps: tuple[Gap, ...]
    coverage: Coverage
    notes: tuple[str, ...]
    functions: tuple[PythonFunction, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceReport:
    """The value path of one ref."""

    revision: Revision
    entry: str
    path: tuple[Hop, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulesReport:
    """What the program looks for: in two refs, in one, and the quantities that are followed."""

    changes: tuple[ChangeRule, ...]
    invariants: tuple[InvariantRule, ...]
    quantities: tuple[QuantityRule, ...]

    @property
    def rules(self) -> tuple[AnyRule, ...]:
        """Every rule, those of changes first."""
        return (*self.changes, *self.invariants)


@dataclass(frozen=True, slots=True)
class CachePart:
    """One kind of thing in the cache: how many files, and how many bytes they have."""

    name: str
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class CacheReport:
    """Where the cache is and what is in it, largest first."""

    folder: Path
    parts: tuple[CachePart, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(part.size for part in self.parts)


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A function that was gone into.

    `role` is entry, measure, sink (it sets a count), path (the value passes it) or explored.
    """

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Who calls whom, and in which places."""

    caller: str
    callee: str
    locations: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GraphReport:
    """The explored call graph of one ref."""

    revision: Revision
    entry: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocsReport:
    """Where documentation is and how many files it has; `stale` are those that are not what would be written now."""

    folder: Path
    files: int
    stale: tuple[str, ...] = ()
