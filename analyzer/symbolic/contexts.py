"""``with`` statements: what entering and leaving a context does, and what it keeps from going on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional
from analyzer.domain.terms import NONE, TRUE, Apply, Atom, Term, raising
from analyzer.symbolic.outcome import Exit, Outcome
from analyzer.symbolic.state import State, raised

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Items = tuple[tuple[ir.Expr, ir.Expr | None], ...]
_SUPPRESS: Final = "contextlib.suppress"


class Contexts:
    """Enters contexts from the first to the last, and leaves them the other way round."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def run(self, items: Items, body: tuple[ir.Stmt, ...], state: State) -> Outcome:
        """Execute `body` inside the contexts of `items`."""
        if not items:
            return self.machine.statements.run(body, state)
        (context, target), rest = items[0], items[1:]
        suppressed = self._suppressed(context, state)
        if suppressed is not None:
            inner: tuple[ir.Stmt, ...] = (ir.With(rest, body),) if rest else body
            handler = ir.Handler(suppressed, None, ())
            return self.machine.statements.handlers.run(ir.Try(inner, (handler,), (), ()), state)
        entered = self.machine.force(self.machine.expressions.evaluate(context, state))
        bound = self.machine.each_leaf(entered, state, self._entered)
        if target is not None:
            self.machine.statements.bind(target, bound, state)
        outcome = self.run(rest, body, state)
        leave = self.machine.attributes.special_method(entered, "__exit__")
        return outcome if leave is None else self._left(leave, outcome)

    def _suppressed(self, context: ir.Expr, state: State) -> ir.Expr | None:
        """The exceptions that a context keeps from going on, None for any other context."""
        if not isinstance(context, ir.Call):
            return None
        callee = self.machine.force(self.machine.expressions.evaluate(context.func, state))
        if not isinstance(callee, Atom) or callee.name != _SUPPRESS:
            return None
        return ir.Sequence("tuple", tuple(argument.value for argument in context.args))

    def _entered(self, context: Term, state: State) -> Term:
        """What ``with`` binds: the result of the context's own method, or what its generator hands out."""
        enter = self.machine.attributes.special_method(context, "__enter__")
        if enter is not None:
            return self.machine.force(self.machine.calls.call(enter, (), {}, state))
        if isinstance(context, Apply) and context.op == "tuple":
            return context.args[0] if context.args else raising("RuntimeError")
        return context

    def _left(self, leave: Term, outcome: Outcome) -> Outcome:
        """Every way out of the body leaves the context; a raise ends there where that says so."""
        exits: list[Exit] = []
        fall = outcome.fall
        if fall is not None:
            self._leave(leave, fall)
        for way in outcome.exits:
            state = way.state.fork()
            error, state.error, state.dead = state.error, NONE, False
            keeps = self._leave(leave, state)
            if way.kind == "raise":
                swallowed = self.machine.truth(keeps, state)
                if swallowed is TRUE:
                    fall = state if fall is None else self.machine.merge(way.guard, state, fall)
                    continue
            state.error = conditional(raised(state.error), state.error, error)
            state.dead = way.state.dead
            exits.append(Exit(way.kind, way.guard, way.value, state, way.span))
        return Outcome(fall, exits)

    def _leave(self, leave: Term, state: State) -> Term:
        return self.machine.value(self.machine.calls.call(leave, (NONE, NONE, NONE), {}, state))
