"""The data under `rules/`, parsed: quantities, symbols, scenarios, units, change rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from analyzer.domain.terms import Scalar, Symbol, Term

LEVELS: Final = ("note", "warning", "error")
"""How loud a finding is shown, quietest first."""

_OPTION: Final = "ServerArgs."


@dataclass(frozen=True, slots=True)
class Domain:
    """The values a symbol is sampled from.

    `kind` is integer, real, boolean, choice, memory, object (never sampled) or record (an object that is
    always there, so that only its attributes matter); `low`..`high` bound numbers;
    `choices` list likely or telling values; `optional` adds None.
    """

    kind: str
    low: float = 0
    high: float = 0
    choices: tuple[Scalar | tuple[Scalar, ...], ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class SymbolRule:
    """A declared input or sub-quantity.

    `sources` are origins (``Class.attribute``, ``Class.method()``, ``function()``) that *are* this
    symbol; `default` is a formula over other symbols for when a case leaves it out and the release
    has no default of its own. `free` symbols stay open inside every scenario. An `initial` symbol is
    what its class computes: what other code writes to the attribute later replaces it. `hint` says
    where a person finds the value.
    """

    name: str
    unit: str
    description: str
    domain: Domain
    sources: tuple[str, ...] = ()
    default: Term | None = None
    free: bool = False
    initial: bool = False
    hint: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The server arguments that are this symbol."""
        return tuple(source.removeprefix(_OPTION) for source in self.sources if source.startswith(_OPTION))


# What an exploration starts from: who constructs the runner, or the constructor of the options. The settings start
# there as well, for what becomes of the options that the sizing reads; no quantity comes from them.
RUNNER: Final = "runner"
OPTIONS: Final = "options"
SETTINGS: Final = "settings"
QUANTITY_ROOTS: Final = (RUNNER, OPTIONS)
ROOTS: Final = (*QUANTITY_ROOTS, SETTINGS)


@dataclass(frozen=True, slots=True)
class QuantityRule:
    """A tracked quantity: its unit, and what it is called in words.

    `root` says which exploration yields it.
    """

    name: str
    unit: str
    title: str
    description: str
    sinks: tuple[str, ...] = ()
    scenario_free: bool = False
    root: str = RUNNER


@dataclass(frozen=True, slots=True)
class ScenarioRule:
    """A family of models, or a modifier (name begins with ``+``): what it fixes, and what it leaves open."""

    name: str
    title: str
    who: str
    values: Mapping[str, Scalar | tuple[Scalar, ...]]
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeExample:
    """A change of a release of SGLang, cut down to what matters, with which the rule can be tried.

    `before` and `after` are formulas of `quantity`, "" where there is none; `defaults` gives the default of
    `input` by the same two names, `settings` what SGLang itself sets it to. Each pair holds what a formula does not
    show: the units at the source, the files, the reasons why the analysis stopped, what is done before a measurement.
    """

    seen: str
    quantity: str
    before: str
    after: str
    units: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    input: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """Turns a structural difference into a finding.

    `area` is what changed (term, factor, guard, clamp, input, conversion, default, setting, order, error,
    path, unit, rounding, extraction) and `action` how (added, removed, changed, any).
    `kinds` are the kinds of change it applies to; `quantities` empty means every quantity.
    """

    id: str
    area: str
    action: str
    kinds: tuple[str, ...]
    quantities: tuple[str, ...]
    level: str
    title: str
    message: str
    why: str
    what_to_do: str
    example: ChangeExample | None = None


@dataclass(frozen=True, slots=True)
class InvariantRule:
    """Judges one ref by itself; `check` names what is looked for.

    `seen` says which releases had it. `pools` maps the size of one entry of a pool, an input, to the quantity
    that counts its entries.
    """

    id: str
    check: str
    level: str
    title: str
    message: str
    why: str
    what_to_do: str
    seen: str
    example: str
    pools: Mapping[str, str] = field(default_factory=dict)


AnyRule = ChangeRule | InvariantRule

FALLBACK_RULE: Final = ChangeRule(
    id="SGM100",
    area="any",
    action="any",
    kinds=(),
    quantities=(),
    level="warning",
    title="Formula changed",
    message="{quantity}: {before} became {after}",
    why="No more specific rule describes this change.",
    what_to_do="Read both formulas.",
)
"""Turns a difference that no rule of a rules folder fits into a finding."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """Names in SGLang that the search for the formula starts from, several ways for each."""

    values: Mapping[str, tuple[str, ...]]

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules, and a digest of the files they came from.

    `units` gives the unit of what a function or attribute outside the analysed code returns, by its
    dotted name or, after ``*.``, by the last part alone.
    `origins` maps an origin (``Class.attribute``, ``function()``, or a whole expression over symbols) to
    what it is worth: a symbol, or a formula over symbols (``is_hip()`` is ``device == "hip"``).
    """

    anchors: Anchors
    quantities: Mapping[str, QuantityRule]
    symbols: Mapping[str, SymbolRule]
    origins: Mapping[str, Term]
    scenarios: Mapping[str, ScenarioRule]
    units: Mapping[str, str]
    changes: tuple[ChangeRule, ...]
    digest: str
    invariants: tuple[InvariantRule, ...] = ()

    def is_record(self, term: Term) -> bool:
        """Whether `term` is an input that is a record of attributes as a whole."""
        rule = self.symbols.get(term.name) if isinstance(term, Symbol) else None
        return rule is not None and rule.domain.kind == "record"

    def unit_of(self, origin: str) -> str | None:
        """The unit of what `origin` returns, None when no rule says."""
        return self.units.get(origin) or self.units.get(f"*.{origin.rsplit('.', 1)[-1]}")

    def every_rule(self) -> Mapping[str, AnyRule]:
        """All that a finding can have, by id."""
        rules: tuple[AnyRule, ...] = (FALLBACK_RULE, *self.changes, *self.invariants)
        return {rule.id: rule for rule in rules}
