"""The symbolic machine: one interpretation, and the tables its parts share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Protocol

from analyzer.domain import build
from analyzer.domain.modules import Definition, Slot
from analyzer.domain.rules import RuleSet
from analyzer.domain.source import Span
from analyzer.domain.steps import Step
from analyzer.domain.syntax import Expr, FunctionSyntax, Stmt
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    Apply,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    atom,
    constant,
    opaque,
    raising,
    raw_apply,
    symbol,
)
from analyzer.ports.program import Program
from analyzer.symbolic.attributes import Attributes
from analyzer.symbolic.backends import Backends
from analyzer.symbolic.calls import Calls
from analyzer.symbolic.closures import Closures
from analyzer.symbolic.comprehensions import count_of
from analyzer.symbolic.containers import tuple_of, unguarded
from analyzer.symbolic.decorators import Decorators
from analyzer.symbolic.effects import StatementEffects
from analyzer.symbolic.expressions import Expressions
from analyzer.symbolic.higher_order import HigherOrder
from analyzer.symbolic.members import Members
from analyzer.symbolic.methods import Methods
from analyzer.symbolic.options import Options
from analyzer.symbolic.origins import expression_origins, named_origins
from analyzer.symbolic.registries import Registries
from analyzer.symbolic.sequences import Sequences
from analyzer.symbolic.shapes import Shapes
from analyzer.symbolic.state import Frame, State, merge
from analyzer.symbolic.statements import Statements
from analyzer.symbolic.toplevel import TopLevel
from analyzer.symbolic.unrolling import Comprehensions
from analyzer.symbolic.world import Skipped, SymbolFormula, World, item_key

# Where a computation was put off: span, time, the calls around it, whether it is opted into, position.
Place = tuple[Span, tuple[int, ...], tuple[int, ...], bool, tuple[int, ...]]

_CONTAINER_NODES: Final = frozenset({"Sequence", "Comprehension", "Mapping"})
_COMPARES_EQUAL = frozenset({"is", "is not", "==", "!="})


class Lowering(Protocol):
    """The part of the frontend that turns text into syntax."""

    def function(self, text: str) -> FunctionSyntax:
        """The function in `text`."""
        ...

    def statements(self, text: str) -> tuple[Stmt, ...]:
        """The statements in `text`."""
        ...

    def expression(self, text: str) -> Expr:
        """The expression in `text`."""
        ...


class Relevance(Protocol):
    """Which statements and calls can change a value the formula reads."""

    @property
    def relevant(self) -> Mapping[str, frozenset[str]]:
        """Attribute names that the formula reads, with the classes on whose instances it reads them."""
        ...

    def concerns(self, owner: str, name: str) -> bool:
        """Whether somebody reads the attribute `name` of instances of the class `owner`."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """Simple names of callees that may write a relevant attribute."""
        ...

    @property
    def taken(self) -> frozenset[str]:
        """Simple names of functions that may write a relevant attribute and are taken as values."""
        ...

    @property
    def taking(self) -> frozenset[str]:
        """Keys of definitions that take functions as values which may write a relevant attribute."""
        ...

    @property
    def sizing(self) -> str:
        """The definition inside which a raise belongs to the formula; "" when not known yet."""
        ...

    @property
    def raising_names(self) -> frozenset[str]:
        """Simple names of callees that may reach a raise statement."""
        ...

    def matters(self, definition: Definition) -> bool:
        """Whether running `definition` may write something relevant."""
        ...

    def changes(self, callee: str, slot: Slot) -> bool:
        """Whether a function of this name may change the container that it gets as an argument."""
        ...

    def changed_parameters(self, definition: Definition) -> frozenset[str]:
        """The parameters whose containers `definition` changes."""
        ...

    def may_raise(self, definition: Definition) -> bool:
        """Whether running `definition` may reach a raise statement."""
        ...


class Schedule(Protocol):
    """What matters at each position of the execution."""

    @property
    def timed(self) -> bool:
        """Whether what matters depends on the position."""
        ...

    def view(self, position: tuple[int, ...]) -> Relevance:
        """What matters at `position`."""
        ...


# A position is told by the lines of this many calls, outermost first: below, two calls may share a line.
_POSITION_DEPTH: Final = 2


class Machine:
    """Shared services of the interpreter's parts, each of which is an attribute of it."""

    def __init__(
        self, program: Program, lowering: Lowering, rules: RuleSet, schedule: Schedule, backends: Backends
    ) -> None:
        self.program = program
        self.lowering = lowering
        self.rules = rules
        self.schedule = schedule
        self.backends = backends
        self.relevance: Relevance = schedule.view(())
        self.position: tuple[int, ...] = ()
        self.loops: list[tuple[int, int]] = []
        self.read_until: dict[str, tuple[int, ...]] = {}
        self.skipped: dict[tuple[int, ...], Skipped] = {}
        self.world = World()
        self.origins = named_origins(rules)
        self.rewrites: dict[Term, Term] = {}
        self._rewrites_opposite: dict[Term, Term] = {}
        self.span = Span("", 0, 0)
        self.attributes = Attributes(self)
        self.members = Members(self)
        self.decorators = Decorators(self)
        self.options = Options(self)
        self.toplevel = TopLevel(self)
        self.registries = Registries(self)
        self.sequences = Sequences(self)
        self.higher_order = HigherOrder(self)
        self.methods = Methods(self)
        self.comprehensions = Comprehensions(self)
        self.closures = Closures(self)
        self.calls = Calls(self)
        self.expressions = Expressions(self)
        self.statements = Statements(self)
        # The state at the end of the run, once it is there.
        self.final: State | None = None
        self.reads: dict[str, set[str]] = {}
        self.opt_in = frozenset(rules.anchors["opt_in"])
        self._steps = frozenset(rules.anchors["weight_loaders"])
        # Inside what the user has to opt into: what is read there makes nothing else relevant.
        self.optional = False
        # Inside a measuring function: there it counts what else is done to the device.
        self.measuring = False
        # Inside what is run once for all it does: nothing is left for later.
        self.eager = False
        self.time: tuple[int, ...] = (0,)
        self.keyword_lines: dict[str, int] = {}
        self._forced_conditionals: dict[Term, Term] = {}
        self._shapes = Shapes()
        self.rewrites = {
            self.expressions.over_symbols(lowering.expression(text)): worth
            for text, worth in expression_origins(rules).items()
        }
        self._rewrites_opposite = {
            build.negate(guard): build.negate(worth)
            for guard, worth in self.rewrites.items()
            if build.is_boolean(guard)
        }

    def force(self, term: Term) -> Term:
        """`term` with every deferred computation in it carried out."""
        if isinstance(term, Handle):
            return self._force_handle(term)
        if isinstance(term, Conditional):
            known = self._forced_conditionals.get(term)
            if known is None:
                known = build.map_leaves(term, self._force_leaf)
                self._forced_conditionals[term] = known
            return known
        return term

    def _force_leaf(self, leaf: Term) -> Term:
        return self._force_handle(leaf) if isinstance(leaf, Handle) else leaf

    def _force_handle(self, term: Handle) -> Term:
        if term.kind != "deferred":
            return term
        forced = self.world.forced
        if term not in forced:
            forced[term] = self.world.unknown("recursion", "a value that depends on itself", self.span)
            forced[term] = self.force(self.world.deferred[term]())
        return forced[term]

    def defer(self, compute: Callable[[State], Term], state: State, label: str) -> Handle:
        """A value computed from the present state when somebody needs it."""
        reference = self.world.fresh("deferred", label)
        snapshot, place = state.fork(), (self.span, self.tick(), self.calls.extent, self.optional, self.position)
        self.world.deferred[reference] = lambda: self.out_of_order(compute, snapshot, place)
        return reference

    def displayed(self, term: Term) -> Term:
        """`term`, carried out if that was done before or only makes a container that is written down."""
        if not isinstance(term, Handle) or term.kind != "deferred":
            return term
        if term in self.world.forced or term.key.partition(":")[2] in _CONTAINER_NODES:
            return self.force(term)
        return term

    def initialize(self, deferred: Handle) -> None:
        """Carry out a deferred constructor for its effect on the new object."""
        self.force(deferred)

    @contextmanager
    def unnoted(self) -> Iterator[None]:
        """What is read inside makes nothing relevant."""
        before, self.optional = self.optional, True
        yield
        self.optional = before

    def note_read(self, target: Term, name: str) -> None:
        """Remember that an attribute is read, and of which class, so that its writers become relevant."""
        if self.optional:
            return
        self.note_variable(name)
        info = self.world.objects.get(target) if isinstance(target, Handle) else None
        key = info.class_key if info is not None else None
        if isinstance(target, Handle) and target.kind == "class":
            key = target.key
        if key is not None:
            self.reads[name] |= self.program.base_names(key)

    def note_variable(self, name: str) -> None:
        """Remember that a container is read that a module variable holds: who changes it becomes relevant."""
        if not self.optional:
            self.read_until[name] = max(self.position, self.read_until.get(name, ()))
            self.reads.setdefault(name, set())

    def advance(self) -> None:
        """Note where execution stands, and with it what still matters."""
        if not self.schedule.timed or len(self.calls.extent) > _POSITION_DEPTH:
            return
        events = self.world.events
        lines = [events[index].span.line for index in self.calls.extent[1:]] + [self.span.line]
        for depth, line in self.loops:
            # An iteration comes before and after every line of its loop.
            if depth < len(lines):
                lines[depth] = line
        self.at(tuple(lines))

    @contextmanager
    def looping(self) -> Iterator[None]:
        """What is done inside is done again and again: all of it stands at the present line."""
        self.loops.append((len(self.calls.extent) - 1, self.span.line))
        yield
        self.loops.pop()

    def at(self, position: tuple[int, ...]) -> None:
        """Go to a position."""
        if position != self.position:
            self.position = position
            self.relevance = self.schedule.view(position)

    def skip(self, effects: StatementEffects, owner: str) -> None:
        """Remember what a statement that was left alone could have done."""
        skipped = self.skipped.setdefault(self.position, Skipped())
        skipped.calls |= effects.calls
        skipped.writes |= {("", name) for name in effects.writes}
        skipped.writes |= {(owner, name) for name in effects.own_writes}

    def note_steps(self, names: Iterable[str]) -> None:
        """Remember when what takes memory of the device is done first, whether it is gone into or not."""
        for name in names:
            if name in self._steps:
                self.world.steps[name] = min(self.time, self.world.steps.get(name, self.time))

    def skip_calls(self, names: Iterable[str]) -> None:
        """Remember callees that were left alone."""
        self.skipped.setdefault(self.position, Skipped()).calls.update(names)

    def tick(self) -> tuple[int, ...]:
        """Advance the clock that orders measurements by when the program would make them."""
        self.time = (*self.time[:-1], self.time[-1] + 1)
        return self.time

    def out_of_order(self, compute: Callable[[State], Term], state: State, place: Place) -> Term:
        """Compute something in an earlier state: what it allocates is kept, nothing else changes."""
        saved = self.span, self.time, self.calls.extent, self.optional
        there, self.loops, loops = self.position, [], self.loops
        span, time, extent, optional, position = place
        self.at(position)
        self.span, self.time, self.calls.extent, self.optional = span, (*time, 0), extent, optional
        known, start, path = state.heap, self.world.counter, state.facts.known
        state.error = NONE
        result = self.force(compute(state))
        if state.error is not NONE:
            self.world.late_errors.append((time, path, state.error))
        made = () if state.heap is known else [item for item in state.heap.items() if item[0] not in known]
        for target, attributes in made:
            base = self.world.base.setdefault(target, {})
            if self.world.is_newer(target, start):
                base.update(attributes)
            else:
                # An object that waited for its constructor: what others already saw of it stays.
                self.world.base[target] = {**attributes, **base}
        self.span, self.time, self.calls.extent, self.optional = saved
        self.loops = loops
        self.at(there)
        return result

    def value(self, term: Term) -> Term:
        """`term` as an operand: forced, its items too, and a group of options that turned out to be one resolved."""
        term = self.force(term)
        if isinstance(term, Conditional):
            return build.map_leaves(term, self._operand)
        return self._operand(term)

    def _operand(self, leaf: Term) -> Term:
        if isinstance(leaf, Handle) and leaf.kind == "bag":
            return self.options.of_group(leaf)
        if isinstance(leaf, Apply) and leaf.op == "tuple" and any(isinstance(item, Handle) for item in leaf.args):
            return tuple_of((guard, self.value(item)) for guard, item in map(unguarded, leaf.args))
        return leaf

    def apply(self, op: str, *args: Term) -> Term:
        """An operation at the current place."""
        values = [self.value(arg) for arg in args]
        if op not in _COMPARES_EQUAL or any(isinstance(value, Constant) for value in values):
            values = [build.map_leaves(value, self.attributes.number) for value in values]
        if op in _COMPARES_EQUAL and NONE in values:
            values = [build.map_leaves(value, self._present) for value in values]
        term = build.apply(op, *values)
        term = self.canonical(term)
        self.world.origins.setdefault(term, self.span)
        return term

    def canonical(self, term: Term) -> Term:
        """A whole expression that the rules name as a symbol becomes that symbol."""
        named = self.rewrites.get(term)
        if named is None:
            opposite = self._rewrites_opposite.get(term)
            return term if opposite is None else opposite
        if isinstance(named, Symbol):
            self.world.define(named.name, "", SymbolFormula.of(lambda: self._opened(term)))
        return named

    def _opened(self, term: Term) -> Term:
        """A named expression over the formulas of the symbols in it: the bytes of whatever dtype it is."""
        match term:
            case Opaque("element_size", (Symbol(name),)):
                definition = self.world.definition(name)
                return term if definition is None else self.calls.externals.element_size(definition)
            case _:
                return term

    def truth(self, term: Term, state: State) -> Term:
        """The guard `bool(term)` under what `state` assumes."""
        value = state.refine(self.value(state.refine(term)))
        if isinstance(value, Handle | Conditional | Symbol | Opaque):
            value = build.map_leaves(value, lambda leaf: self._container_truth(self._present(leaf), state))
        return state.decide(self.canonical(build.truth(value)))

    def _present(self, leaf: Term) -> Term:
        """A record is there, whatever it holds."""
        return atom(leaf.name) if isinstance(leaf, Symbol) and self.rules.is_record(leaf) else leaf

    def _container_truth(self, leaf: Term, state: State) -> Term:
        """A container is true when it is not empty."""
        counted = count_of(leaf)
        if counted is not None:
            return self.canonical(counted)
        info = self.world.objects.get(leaf) if isinstance(leaf, Handle) else None
        for name in ("__bool__", "__len__"):
            method = self.attributes.special_method(leaf, name)
            if method is not None:
                return build.truth(self.value(self.calls.call(method, (), {}, state)))
        if info is None or info.kind not in ("list", "dict"):
            return leaf
        found = self.sequences.truth(leaf, state)
        return opaque("non-empty", (self.calls.builtins.sequence(leaf, state),)) if found is None else found

    def branch(
        self,
        guard: Term,
        state: State,
        then: Callable[[State], Term],
        otherwise: Callable[[State], Term],
    ) -> Term:
        """A value computed differently under `guard`; effects of both sides are merged into `state`."""
        guard = state.decide(guard)
        if isinstance(guard, Raise):
            return guard
        if guard is TRUE:
            return then(state)
        if guard is FALSE:
            return otherwise(state)
        left, right = state.fork(), state.fork()
        left.assume(guard, holds=True)
        right.assume(guard, holds=False)
        a = then(left)
        b = otherwise(right)
        state.become(self.merge(guard, left, right))
        return build.conditional(guard, a, b)

    def merge(self, guard: Term, then: State, otherwise: State) -> State:
        """Join two states that split at `guard`."""
        return merge(guard, then, otherwise, self.attributes.read_for_merge, self.unbound)

    def unbound(self, name: str) -> Term:  # noqa: ARG002 - `merge` asks by name
        """What a local that one branch never bound is worth there."""
        return raising("UnboundLocalError")

    def each_leaf(self, term: Term, state: State, function: Callable[[Term, State], Term]) -> Term:
        """Apply an effectful function to every value `term` may have, under its guard."""
        term = state.refine(self.force(term))
        if not isinstance(term, Conditional):
            return function(term, state)
        guard, then, otherwise = self._shapes.split(term)
        return self.branch(
            guard,
            state,
            lambda s: self.each_leaf(then, s, function),
            lambda s: self.each_leaf(otherwise, s, function),
        )

    def tuple_of(self, items: tuple[Term, ...]) -> Term:
        """An immutable sequence."""
        return raw_apply("tuple", items)

    def list_of(self, items: tuple[Term, ...], state: State) -> Handle:
        """A new list or set."""
        return self.world.container("list", state, {"items": self.tuple_of(items)})

    def dict_of(self, items: Mapping[str, Term], state: State) -> Handle:
        """A dict with string keys."""
        content = {item_key(constant(name)): value for name, value in items.items()}
        content["keys"] = self.tuple_of(tuple(constant(name) for name in items))
        return self.world.container("dict", state, content)

    def external_argument(self, arg: Term) -> Term:
        """An argument of an uninterpreted function: by value where it has one, else by its kind."""
        if isinstance(arg, Handle):
            if arg.kind == "bag":
                return self.value(arg)
            return atom(f"<{arg.key.split(':', 1)[-1] if arg.kind in ('object', 'class', 'builtin') else arg.kind}>")
        if isinstance(arg, Conditional):
            return build.map_leaves(arg, self.external_argument)
        return arg

    def external_arguments(self, args: Iterable[Term]) -> tuple[Term, ...]:
        """All arguments of an uninterpreted function, deferred ones computed."""
        return tuple(self.external_argument(self.force(arg)) for arg in args)

    def plain(self, term: Term) -> Term:
        """An operand as an argument of an uninterpreted function."""
        return self.external_argument(self.value(term))

    def record(  # noqa: PLR0913 - an event is all of these
        self, kind: str, frame: Frame, target: str, value: Term, *, callee: str = "", span: Span | None = None
    ) -> None:
        """Remember that `value` passed through a place."""
        self.world.events.append(
            Step(kind, frame.qualname, callee, target, value, span or self.span, self.calls.extent, self.tick())
        )

    def input(self, name: str, source: str, default: Callable[[], Term | None]) -> Symbol:
        """The input `name`, first seen as `source` at the current place."""
        self.world.input_defaults.setdefault(name, default)
        self.world.input_sources.setdefault(name, {}).setdefault(source, self.span)
        return symbol(name)
