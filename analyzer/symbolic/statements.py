"""Execution of statements: branches are merged, loops over known sequences unrolled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, conjunction, negate, truth
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    Handle,
    Raise,
    Term,
    constant,
    opaque,
    raising,
    symbols_of,
)
from analyzer.symbolic.contexts import Contexts
from analyzer.symbolic.effects import effects_of, walk_syntax
from analyzer.symbolic.expressions import YIELDED
from analyzer.symbolic.handlers import Handlers
from analyzer.symbolic.loops import Loops
from analyzer.symbolic.outcome import Exit, Outcome
from analyzer.symbolic.state import Attributes, State, always_raises, raised
from analyzer.symbolic.world import RaiseSite

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_CONSTRUCTOR = "__init__"


def _reads(node: ir.Expr, attribute: str) -> bool:
    """Whether an expression reads an attribute of this name."""
    return any(isinstance(part, ir.Attribute) and part.attr == attribute for part in walk_syntax(node))


def _computed(node: ir.Stmt) -> ir.Expr | None:
    """What a statement computes before it does anything."""
    match node:
        case ir.Assign(value=value) | ir.Evaluate(value=value) | ir.Return(value=value) | ir.If(test=value):
            return value
        case ir.Augment(target, op, value, line):
            return ir.Binary(op, target, value, line)
        case _:
            return None


def _is_of_names(node: ir.Expr) -> bool:
    """Whether an expression compares names with each other or with literals, and nothing is run to evaluate it."""
    return all(isinstance(part, ir.Comparison | ir.Name | ir.Literal) for part in walk_syntax(node))


class Statements:
    """One method a statement type."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._loops = Loops(machine)
        self.handlers = Handlers(machine)
        self.contexts = Contexts(machine)

    def function(self, body: tuple[ir.Stmt, ...], state: State) -> Term:
        """Execute a function body; `state` becomes the state after it, and the result is returned."""
        start = state.fork()
        generates = any(effects_of(statement).yields for statement in body)
        if generates:
            start.env[YIELDED] = self.machine.tuple_of(())
        outcome = self.run(body, start)
        exits = list(outcome.exits)
        if outcome.fall is not None:
            exits.append(Exit("return", TRUE, NONE, outcome.fall))
        for leave in exits:
            if leave.span is not None:
                self.machine.span = leave.span
                self.machine.record("return", state.frame, "return", leave.value)
        value, final = exits[-1].value, exits[-1].state
        for leave in reversed(exits[:-1]):
            if leave.state.dead:
                pass
            elif final.dead:
                value = leave.value
            else:
                value = conditional(leave.guard, leave.value, value)
            final = self.machine.merge(leave.guard, leave.state, final)
        state.become(final)
        return state.refine(state.env[YIELDED] if generates else value)

    def block(self, body: tuple[ir.Stmt, ...], state: State) -> None:
        """Execute statements that are expected to fall through, in place."""
        outcome = self.run(body, state.fork())
        if outcome.fall is not None:
            state.become(outcome.fall)

    def run(self, body: tuple[ir.Stmt, ...], state: State) -> Outcome:
        """Execute `body` from `state`, which is consumed."""
        exits: list[Exit] = []
        current: State | None = state
        for statement in body:
            if current is None:
                break
            outcome = self._statement(statement, current)
            exits.extend(outcome.exits)
            current = outcome.fall
            if current is not None and current.error is not NONE and always_raises(current.error):
                current.dead = True
                exits.append(Exit("raise", TRUE, NONE, current))
                current = None
        return Outcome(current, exits)

    def _statement(self, node: ir.Stmt, state: State) -> Outcome:
        self.machine.span = state.frame.span(node.line, node.end_line)
        self.machine.tick()
        self.machine.advance()
        if self.handlers.waiting(state):
            if isinstance(node, ir.ImportStatement):
                return self._try_import(node, state)
            computed = _computed(node)
            if computed is not None and self.handlers.may_fail(computed, state):
                return self._attempt(node, computed, state)
        return self._execute(node, state)

    def _attempt(self, node: ir.Stmt, computed: ir.Expr, state: State) -> Outcome:
        """A statement that may fail where a handler waits for that."""
        value = self.machine.force(self.machine.expressions.evaluate(computed, state))
        error = self.handlers.failures.of(value, state)
        return self._unless(error, state, lambda: self._with_value(node, value, state))

    def _unless(self, error: Term, state: State, go_on: Callable[[], Outcome]) -> Outcome:
        """What comes of a statement where nothing of `error` is raised that a handler here catches, and where it is."""
        error = self.handlers.caught(error, state)
        guard = raised(error)
        if guard is FALSE:
            return go_on()
        failing = state.fork()
        failing.assume(guard, holds=True)
        failed = self._raise_term(error, failing)
        state.assume(guard, holds=False)
        return failed if guard is TRUE else self.join(guard, failed, go_on())

    def _with_value(self, node: ir.Stmt, value: Term, state: State) -> Outcome:
        """Execute a statement whose value is there already."""
        value = state.refine(value)
        match node:
            case ir.Assign(targets=targets):
                for target in targets:
                    self.bind(target, value, state)
            case ir.Augment(target=target):
                self.bind(target, value, state)
            case ir.Return(line=line, end_line=end_line):
                return Outcome(None, [Exit("return", TRUE, value, state, state.frame.span(line, end_line))])
            case ir.If():
                return self._if(node, state, self.machine.truth(value, state))
            case _:
                pass
        return Outcome(state, [])

    def _try_import(self, node: ir.ImportStatement, state: State) -> Outcome:
        """An import where a handler waits for it to fail: of another package, that is up to the machine."""
        error: Term = NONE
        for binding in node.bindings:
            missing = self.machine.toplevel.missing(state.frame.module, binding)
            error = conditional(missing, raising("ModuleNotFoundError"), error)
        return self._unless(error, state, lambda: self._execute(node, state))

    def _execute(self, node: ir.Stmt, state: State) -> Outcome:  # noqa: C901 - one case for each kind of statement
        match node:
            case ir.Assign(targets, value):
                self.machine.note_steps(effects_of(node).calls)
                rereads = any(isinstance(t, ir.Attribute) and _reads(value, t.attr) for t in targets)
                evaluate = self.machine.expressions.evaluate if rereads else self.machine.expressions.lazy
                result = evaluate(value, state)
                for target in targets:
                    self.bind(target, result, state)
            case ir.Augment():
                self._augment(node, state)
            case ir.Return(value):
                result = NONE if value is None else self.machine.expressions.lazy(value, state)
                return Outcome(None, [Exit("return", TRUE, result, state, state.frame.span(node.line, node.end_line))])
            case ir.ImportStatement(bindings):
                self._import(bindings, state)
            case ir.FunctionStatement(name, parameters, body, decorators):
                function = self.machine.closures.make(name, parameters, body, state)
                state.env[name] = self.machine.decorators.apply(function, decorators, state)
            case ir.Delete(targets):
                for target in targets:
                    self.delete(target, state)
            case ir.Jump(kind):
                if kind != "pass":
                    return Outcome(None, [Exit(kind, TRUE, NONE, state)])
            case _ if not self.matters(node, state):
                self._postpone(node, state)
            case _:
                return self._compound(node, state)
        return Outcome(state, [])

    def matters(self, node: ir.Stmt, state: State) -> bool:
        """Whether a statement must be executed in its place."""
        if self.machine.eager:
            return True
        effects = effects_of(node)
        relevance = self.machine.relevance
        if self.machine.measuring and not effects.calls.isdisjoint(self.machine.rules.anchors["freeing_functions"]):
            return True
        if effects.yields or effects.leaves or (_CONSTRUCTOR in effects.calls and self._constructs(state)):
            return True
        if effects.calls & relevance.names or effects.writes & relevance.relevant.keys():
            return True
        owner = self._owner(state)
        if any(relevance.concerns(owner, name) for name in effects.own_writes):
            return True
        expressions = self.machine.expressions
        if effects.changes or expressions.calls_unnamed(effects, state) or expressions.hands_to_changer(effects, state):
            return True
        if isinstance(node, ir.UnsupportedStatement):
            return node.leaves
        # A statement that is only a call can be there to raise.
        called = effects.calls if isinstance(node, ir.Evaluate) else effects.bare_calls
        checks = not called.isdisjoint(relevance.raising_names)
        if (effects.raises or checks) and (self._in_sizing(state) or self.handlers.waiting(state)):
            return True
        return self.handlers.waiting(state) and self.handlers.may_fail(node, state)

    def _constructs(self, state: State) -> bool:
        """Whether a constructor is executed: that of a base class which it calls is about the same object."""
        return state.frame.qualname.rsplit(".", 1)[-1] == _CONSTRUCTOR

    def _owner(self, state: State) -> str:
        """The simple name of the class whose method is executed."""
        return (state.frame.owner or "").rsplit(":", 1)[-1]

    def _in_sizing(self, state: State) -> bool:
        sizing = self.machine.relevance.sizing
        return bool(sizing) and sizing in state.frame.calls

    def _postpone(self, node: ir.Stmt, state: State) -> None:
        """Leave a statement alone: the locals it binds are computed if somebody reads them."""
        effects = effects_of(node)
        self.machine.note_steps(effects.calls)
        self.machine.skip(effects, self._owner(state))
        if isinstance(node, ir.Assert) and _is_of_names(node.test):
            # Whether it fails is nobody's business here; after it, it holds.
            guard = self.machine.expressions.guard(node.test, state)
            if guard is not FALSE and not isinstance(guard, Raise):
                state.assume(guard, holds=True)
        if not effects.binds:
            return
        final: list[State] = []

        before, heap = state.fork(), state.heap

        def execute(name: str, start: State) -> Term:
            if not final:
                outcome = self._compound(node, start)
                final.append(start if outcome.fall is None else outcome.fall)
                start.share_heap(final[0])
            return self._changed(final[0].env.get(name, self.machine.unbound(name)), heap, final[0])

        for name in sorted(effects.binds):
            state.env[name] = self.machine.defer(lambda s, n=name: execute(n, s), before, name)  # type: ignore[misc]  # a lambda with a default has no inferable type

    def _changed(self, value: Term, before: Mapping[Term, Attributes], state: State) -> Term:
        """A container that a postponed statement changed, as it was afterwards: others still see it as before."""
        content = state.heap.get(value)
        if not isinstance(value, Handle) or content is None or content is before.get(value):
            return value
        info = self.machine.world.objects.get(value)
        if info is None or info.kind not in ("list", "dict"):
            return value
        return self.machine.world.container(info.kind, state, {**self.machine.world.base.get(value, {}), **content})

    def _compound(self, node: ir.Stmt, state: State) -> Outcome:  # noqa: C901, PLR0912 - one case for each kind of statement
        match node:
            case ir.Evaluate(value):
                self.machine.note_steps(effects_of(node).calls)
                # Forced, because the only use of a bare call is what it does or raises.
                self.machine.force(self.machine.expressions.evaluate(value, state))
            case ir.If():
                return self._if(node, state)
            case ir.RaiseStatement(exception):
                again = self.handlers.raised_again(exception)
                if again is not None:
                    return self._raise_term(again, state)
                return self._raise(self._exception_name(exception), state)
            case ir.Assert(test):
                return self._assert(test, state)
            case ir.For():
                return self._loops.run_for(node, state)
            case ir.While():
                return self._loops.run_while(node, state)
            case ir.Try():
                return self.handlers.run(node, state)
            case ir.With(items, body):
                return self.contexts.run(items, body, state)
            case ir.UnsupportedStatement(reason, text, binds, leaves):
                before = self.machine.external_arguments(state.env[name] for name in binds if name in state.env)
                unknown = self.machine.world.unknown(
                    text[:80], f"{reason} is not interpreted", self.machine.span, *before
                )
                for name in binds:
                    state.env[name] = unknown
                if leaves:
                    return Outcome(state, [Exit("return", truth(unknown), unknown, state.fork())])
            case _:
                pass
        return Outcome(state, [])

    # ---- assignment ----------------------------------------------------------------------

    def bind(self, target: ir.Expr, value: Term, state: State) -> None:
        """Assign `value` to a target expression."""
        match target:
            case ir.Name(name):
                state.env[name] = value
                self.machine.record("assign", state.frame, name, value)
            case ir.Attribute(owner, attr):
                receiver = self.machine.expressions.evaluate(owner, state)
                if attr in self.machine.rules.anchors["sink_attributes"]:
                    self.machine.world.sink_writes.append(
                        (receiver, attr, state.frame.calls, self.machine.span, self.machine.time)
                    )
                self.machine.attributes.write(receiver, attr, value, state)
                self.machine.record("attribute", state.frame, attr, value)
            case ir.Subscript(owner, index):
                receiver = self.machine.expressions.evaluate(owner, state)
                if isinstance(index, ir.Slice):
                    self.machine.expressions.set_slice(receiver, index, value, state)
                else:
                    key = self.machine.value(self.machine.expressions.evaluate(index, state))
                    self.machine.expressions.set_item(receiver, key, value, state)
            case ir.Sequence(_, items):
                self._unpack(items, value, state)
            case ir.Starred(inner):
                self.bind(inner, value, state)
            case _:
                pass

    def delete(self, target: ir.Expr, state: State) -> None:
        """``del target``."""
        match target:
            case ir.Name(name):
                state.env[name] = self.machine.unbound(name)
            case ir.Attribute(owner, attr):
                receiver = self.machine.expressions.evaluate(owner, state)
                self.machine.attributes.delete(receiver, attr, state)
            case ir.Subscript(owner, index):
                receiver = self.machine.expressions.evaluate(owner, state)
                self.machine.expressions.delete_item(receiver, index, state)
            case _:
                pass

    def _unpack(self, targets: tuple[ir.Expr, ...], value: Term, state: State) -> None:
        size = len(targets)
        starred = any(isinstance(target, ir.Starred) for target in targets)
        items = self.machine.calls.builtins.items(value, state) if starred else None
        if items is not None:
            self._spread(targets, items, state)
            return
        for position, target in enumerate(targets):
            component = self.machine.defer(
                partial(self._element, value, position, size, starred=starred), state, f"item {position}"
            )
            self.bind(target, component, state)

    def _spread(self, targets: tuple[ir.Expr, ...], items: tuple[Term, ...], state: State) -> None:
        """Assign a sequence of known length to targets of which one takes what is left over."""
        star = next(i for i, target in enumerate(targets) if isinstance(target, ir.Starred))
        after = len(targets) - star - 1
        middle = self.machine.list_of(items[star : len(items) - after], state)
        tail = items[len(items) - after :] if after else ()
        for target, item in zip(targets, (*items[:star], middle, *tail), strict=False):
            self.bind(target, item, state)

    def _element(self, value: Term, index: int, size: int, state: State, *, starred: bool) -> Term:
        if starred:
            return opaque("unpacked", (self.machine.plain(value), constant(index)))
        return self.machine.each_leaf(value, state, lambda leaf, s: self._component(leaf, index, size, s))

    def _component(self, leaf: Term, index: int, size: int, state: State) -> Term:
        items = self.machine.calls.builtins.items(leaf, state)
        if items is not None:
            return items[index] if len(items) == size else raising("ValueError")
        if isinstance(leaf, Raise):
            return leaf
        return opaque("item", (self.machine.external_argument(leaf), constant(index)))

    def _augment(self, node: ir.Augment, state: State) -> None:
        if self._may_be_container(node.target, node.value, state):
            # It changes where it is, for everybody who holds it.
            grown = self.machine.force(self.machine.expressions.evaluate(node.target, state))
            other = self.machine.expressions.evaluate(node.value, state)
            if isinstance(grown, Handle) and self.machine.methods.augment(grown, node.op, other, state):
                return
        expression = ir.Binary(node.op, node.target, node.value, node.line)
        # An attribute is read now: later it would be what is written here.
        evaluate = (
            self.machine.expressions.lazy if isinstance(node.target, ir.Name) else self.machine.expressions.evaluate
        )
        self.bind(node.target, evaluate(expression, state), state)

    def _may_be_container(self, target: ir.Expr, value: ir.Expr, state: State) -> bool:
        """Whether ``target op= value`` may change a list, set or dict in place, told without computing anything."""
        if isinstance(value, ir.Sequence | ir.Comprehension | ir.Mapping) or not isinstance(target, ir.Name):
            return not isinstance(value, ir.Literal)
        held = self.machine.displayed(state.env.get(target.id, NONE))
        return isinstance(held, Handle) and held.kind == "object"

    def _import(self, bindings: tuple[ir.ImportBinding, ...], state: State) -> None:
        for binding in bindings:
            found = self.machine.program.resolve_import(state.frame.module, binding.module, binding.member)
            if found is None:
                span = self.machine.span
                name = f"{binding.module}.{binding.member}"
                state.env[binding.name] = self.machine.world.unknown(name, "an import that leads nowhere", span)
            else:
                state.env[binding.name] = self.machine.toplevel.from_resolution(found.kind, found.key)

    # ---- branches ------------------------------------------------------------------------

    def _if(self, node: ir.If, state: State, guard: Term | None = None) -> Outcome:
        guard = self.machine.expressions.guard(node.test, state) if guard is None else guard
        if guard is TRUE:
            return self.run(node.body, state)
        if guard is FALSE:
            return self.run(node.orelse, state)
        if isinstance(guard, Raise):
            # Those of other functions are other conditions.
            where = constant(state.frame.qualname)
            guard = self.machine.world.unknown(
                "guard", "a condition that cannot be evaluated", self.machine.span, where
            )
        left, right = state.fork(), state
        left.assume(guard, holds=True)
        right.assume(guard, holds=False)
        outer, left.guard, right.guard = state.guard, guard, guard
        machine, optional = self.machine, self.machine.optional
        machine.optional = optional or bool(symbols_of(guard) & machine.opt_in)
        then = self.run(node.body, left)
        machine.optional = optional
        outcome = self.join(guard, then, self.run(node.orelse, right))
        if outcome.fall is not None:
            outcome.fall.guard = outer
        return outcome

    def join(self, guard: Term, then: Outcome, otherwise: Outcome) -> Outcome:
        """Merge the outcomes of two branches."""
        exits = [Exit(e.kind, conjunction(guard, e.guard), e.value, e.state, e.span) for e in then.exits]
        opposite = negate(guard)
        exits += [Exit(e.kind, conjunction(opposite, e.guard), e.value, e.state, e.span) for e in otherwise.exits]
        if then.fall is not None and otherwise.fall is not None:
            return Outcome(self.machine.merge(guard, then.fall, otherwise.fall), exits)
        fall = then.fall if then.fall is not None else otherwise.fall
        if fall is not None:
            # What left the block did so under guards that the rest may assume false.
            for leave in exits:
                fall.assume(leave.guard, holds=False)
        return Outcome(fall, exits)

    def _exception_name(self, node: ir.Expr | None) -> str:
        while isinstance(node, ir.Call):
            node = node.func
        if isinstance(node, ir.Name):
            return node.id
        return node.attr if isinstance(node, ir.Attribute) else "Exception"

    def _raise(self, exception: str, state: State) -> Outcome:
        label = f"{exception}@{len(self.machine.world.raises)}"
        self.handlers.note(label, exception, state)
        self.machine.world.raises[label] = RaiseSite(
            exception, state.frame.calls, self.machine.time, state.guard, self.machine.span
        )
        return self._raise_term(raising(label), state)

    def _raise_term(self, error: Term, state: State) -> Outcome:
        state.error = error if state.error is NONE else conditional(raised(state.error), state.error, error)
        state.dead = True
        return Outcome(None, [Exit("raise", TRUE, NONE, state)])

    def _assert(self, test: ir.Expr, state: State) -> Outcome:
        guard = self.machine.expressions.guard(test, state)
        if guard is TRUE or isinstance(guard, Raise):
            return Outcome(state, [])
        failing = state.fork()
        failing.assume(guard, holds=False)
        failing.guard = guard
        failed = self._raise("AssertionError", failing)
        state.assume(guard, holds=True)
        return self.join(negate(guard), failed, Outcome(state, []))
