"""Everything the interpreter allocates: objects, functions, deferred computations, records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from analyzer.domain.build import substitute
from analyzer.domain.modules import Definition
from analyzer.domain.source import Span
from analyzer.domain.steps import Step
from analyzer.domain.syntax import Expr, Parameter, Stmt
from analyzer.domain.terms import Handle, Opaque, Symbol, Term, handle, opaque, symbols_of
from analyzer.symbolic.state import Frame, State

# What owns the sizes that a draft worker is handed.
TARGET: Final = "target"
UNKNOWN_LENGTH: Final = "a sequence of unknown length"
# What a loop that is not unrolled binds to its target.
ELEMENT: Final = opaque("each")


def item_key(key: Term) -> str:
    """The name under which a dict stores the value of a constant key."""
    return f"[{key!r}]"


@dataclass(frozen=True, slots=True)
class SymbolFormula:
    """What a symbol stands for: when it was first asked for, and at the end of the run."""

    first: Callable[[], Term]
    last: Callable[[], Term]

    @classmethod
    def of(cls, formula: Callable[[], Term]) -> Self:
        """One that never changes."""
        return cls(formula, formula)


@dataclass(slots=True)
class ObjectInfo:
    """An object on the heap.

    `kind` is instance, symbolic (an instance whose constructor is not seen), list, dict or tensor;
    `initializer` runs the constructor the first time an attribute is asked for. `variable` is a name of its own, by
    which `module` knows an instance of `class_key` or of a subclass that it does not make, such as a module variable.
    """

    kind: str
    class_key: str | None = None
    origin: str = ""
    initializer: Callable[[], None] | None = None
    variable: str = ""
    module: str = ""


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A callable body with its environment: a definition, a nested function or a lambda.

    `defaults` are those of a nested function, which are computed where it is defined; `rebinds` are the names of the
    function around it that it declares nonlocal.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...] | Expr
    frame: Frame
    definition: Definition | None = None
    defaults: Mapping[str, Term] = field(default_factory=dict)
    rebinds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Measurement:
    """One execution of the measuring function."""

    term: Symbol
    time: tuple[int, ...]
    span: Span
    define: Callable[[], Term]
    function: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RaiseSite:
    """A raise statement that was reached: `guard` is the condition nearest around it."""

    exception: str
    calls: tuple[str, ...]
    time: tuple[int, ...]
    guard: Term
    span: Span


@dataclass(slots=True)
class Skipped:
    """Callees and attributes (with the class, "" for any) of statements that were left alone."""

    calls: set[str] = field(default_factory=set)
    writes: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class World:
    """Global tables of one interpretation; keys are the handles that states refer to."""

    objects: dict[Handle, ObjectInfo] = field(default_factory=dict)
    functions: dict[Handle, FunctionValue] = field(default_factory=dict)
    bound: dict[Handle, tuple[Term, Term]] = field(default_factory=dict)
    # Functions with their first arguments and some keywords.
    partial: dict[Handle, tuple[Term, tuple[Term, ...], Mapping[str, Term]]] = field(default_factory=dict)
    deferred: dict[Handle, Callable[[], Term]] = field(default_factory=dict)
    forced: dict[Handle, Term] = field(default_factory=dict)
    base: dict[Term, dict[str, Term]] = field(default_factory=dict)
    origins: dict[Term, Span] = field(default_factory=dict)
    opaque_reasons: dict[Term, tuple[Span, str, str]] = field(default_factory=dict)
    # The function that is not looked into, for what it returns.
    returned_by: dict[Term, Definition] = field(default_factory=dict)
    events: list[Step] = field(default_factory=list)
    constructed: dict[Handle, tuple[tuple[Term, ...], dict[str, Term]]] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    raises: dict[str, RaiseSite] = field(default_factory=dict)
    late_errors: list[tuple[tuple[int, ...], Mapping[Term, bool], Term]] = field(default_factory=list)
    sink_writes: list[tuple[Term, str, tuple[str, ...], Span, tuple[int, ...]]] = field(default_factory=list)
    # Symbols for what attributes hold, by each attribute, and symbols for what a call returns.
    definitions: dict[str, dict[str, SymbolFormula]] = field(default_factory=dict)
    call_definitions: dict[str, SymbolFormula] = field(default_factory=dict)
    # When the object was made that a symbol has its formula from, by the symbol and the attribute.
    _defined_by: dict[tuple[str, str], int] = field(default_factory=dict)
    # When something that takes memory of the device is done first, by its name.
    steps: dict[str, tuple[int, ...]] = field(default_factory=dict)
    # For a symbol that tells kinds apart: what is there, or None, for each kind that was asked about.
    kinds: dict[str, dict[str, Callable[[], Term]]] = field(default_factory=dict)
    input_defaults: dict[str, Callable[[], Term | None]] = field(default_factory=dict)
    input_sources: dict[str, dict[str, Span]] = field(default_factory=dict)
    functions_run: set[str] = field(default_factory=set)
    # Where a condition was met, and whether it was settled whenever it was.
    guards: dict[Span, bool] = field(default_factory=dict)
    counter: int = 0

    def fresh(self, kind: str, label: str = "") -> Handle:
        """A new handle."""
        self.counter += 1
        return handle(kind, f"{self.counter}{':' if label else ''}{label}")

    def definition(self, name: str) -> Term | None:
        """The formula of the symbol `name`, None where it has none.

        An attribute may hold what a call returned or what another attribute holds that has the same symbol, and what
        is read at the end may have been computed from what was there before: there stands the formula of the earlier
        one.
        """
        formulas = [*self.definitions.get(name, {}).values()]
        if name in self.call_definitions:
            formulas.append(self.call_definitions[name])
        if not formulas:
            return None
        value = formulas[0].last()
        for earlier in (*(formula.last for formula in formulas[1:]), *(formula.first for formula in formulas[::-1])):
            if name not in symbols_of(value):
                break
            value = substitute(value, {name: earlier()})
        return value

    def define(self, name: str, source: str, formula: SymbolFormula) -> None:
        """The symbol `name` is what `source` holds; the first formula of a source stays."""
        self.definitions.setdefault(name, {}).setdefault(source, formula)

    def define_by(self, owner: Handle, name: str, source: str, formula: Callable[[], SymbolFormula]) -> None:
        """The symbol `name` is what `owner` holds: of several objects of a class, the one that was made first.

        Those that are made later stand beside it, such as the configuration of a draft model.
        """
        number = _number(owner)
        if number < self._defined_by.get((name, source), number + 1):
            self._defined_by[name, source] = number
            self.definitions.setdefault(name, {})[source] = formula()

    def is_newer(self, reference: Term, counter: int) -> bool:
        """Whether `reference` was made after the world had counted to `counter`."""
        return isinstance(reference, Handle) and _number(reference) > counter

    def allocate(self, info: ObjectInfo) -> Handle:
        """A new heap object."""
        reference = self.fresh("object", info.class_key or info.kind)
        self.objects[reference] = info
        return reference

    def container(self, kind: str, state: State, content: Mapping[str, Term]) -> Handle:
        """A new list, dict or tensor with its content."""
        reference = self.allocate(ObjectInfo(kind))
        state.put(reference, dict(content))
        return reference

    def unknown(self, construct: str, reason: str, span: Span, *args: Term) -> Opaque:
        """An uninterpreted value that is reported as a gap if a quantity depends on it."""
        term = opaque(f"{construct}", args)
        self.opaque_reasons.setdefault(term, (span, construct, reason))
        return term


def _number(reference: Handle) -> int:
    """What the world had counted to when `reference` was made; -1 for what was there before."""
    number = reference.key.split(":", 1)[0]
    return int(number) if number.isdigit() else -1
