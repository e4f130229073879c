"""What a ``try`` makes of exceptions: which handler runs under which guard, and what stays pending."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, conjunction, disjunction, map_leaves
from analyzer.domain.terms import NONE, TRUE, Raise, Term, opaque
from analyzer.symbolic.outcome import Exit, Outcome
from analyzer.symbolic.state import Frame, State, raised

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine


# A handler with what it is the first to catch.
Branch = tuple[ir.Handler, Term]


class Handlers:
    """The ``try`` statements that are being executed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._trying: list[Frame] = []
        # What is handled at present, and the name that the source gives it.
        self._handling: list[tuple[str | None, Term]] = []

    def waiting(self, state: State) -> bool:
        """Whether a handler of the function at hand waits for what is raised here."""
        return bool(self._trying) and self._trying[-1] is state.frame

    def raised_again(self, exception: ir.Expr | None) -> Term | None:
        """What a ``raise`` in a handler raises again, None where it raises something of its own."""
        if self._handling:
            name, error = self._handling[-1]
            if exception is None or (isinstance(exception, ir.Name) and exception.id == name):
                return error
        return None

    def run(self, node: ir.Try, state: State) -> Outcome:
        """Execute a ``try`` statement."""
        statements = self.machine.statements
        pending = state.error
        state.error = NONE
        self._trying.append(state.frame)
        outcome = statements.run(node.body, state)
        self._trying.pop()
        outcome = self._handled(node, outcome)
        self._restore(pending, outcome)
        if node.finalbody and outcome.fall is not None:
            final = statements.run(node.finalbody, outcome.fall)
            return Outcome(final.fall, outcome.exits + final.exits)
        return outcome

    def _handled(self, node: ir.Try, body: Outcome) -> Outcome:
        """What the ways out of the body become."""
        exits: list[Exit] = []
        ended = Outcome(None, []) if body.fall is None else self._ended(node, body.fall)
        fall = ended.fall
        for leave in body.exits:
            handled = self._left(node, leave)
            exits += [Exit(e.kind, conjunction(leave.guard, e.guard), e.value, e.state, e.span) for e in handled.exits]
            if handled.fall is not None:
                fall = handled.fall if fall is None else self.machine.merge(leave.guard, handled.fall, fall)
        # The end of the body is reached where nothing left it before.
        return Outcome(fall, exits + ended.exits)

    def _ended(self, node: ir.Try, state: State) -> Outcome:
        """The end of the body, where calls in it may have raised on some inputs."""
        branches, rest = _divided(node, state.error)
        failing = state.fork()
        state.error = rest
        after = self.machine.statements.run(node.orelse, state)
        if not branches:
            return after
        return self.machine.statements.join(_any_of(branches), self._caught(branches, failing), after)

    def _left(self, node: ir.Try, leave: Exit) -> Outcome:
        """A way out of the body before its end."""
        branches, rest = _divided(node, leave.state.error)
        failing = leave.state.fork()
        leave.state.error = rest
        stays = Outcome(None, [Exit(leave.kind, TRUE, leave.value, leave.state, leave.span)])
        if not branches:
            return stays
        handled = self._caught(branches, failing)
        if leave.kind == "raise" and rest is NONE:
            return handled
        return self.machine.statements.join(_any_of(branches), handled, stays)

    def _caught(self, branches: Sequence[Branch], state: State) -> Outcome:
        """Run the handlers in a state that raised, each under the guard of what it is the first to catch."""
        state.error, state.dead = NONE, False
        *others, (handler, caught) = branches
        outcome = self._handle(handler, caught, state.fork())
        for handler, caught in reversed(others):
            outcome = self.machine.statements.join(raised(caught), self._handle(handler, caught, state.fork()), outcome)
        return outcome

    def _handle(self, handler: ir.Handler, error: Term, state: State) -> Outcome:
        if handler.name:
            state.env[handler.name] = opaque("exception")
        self._handling.append((handler.name, error))
        outcome = self.machine.statements.run(handler.body, state)
        self._handling.pop()
        return outcome

    @staticmethod
    def _restore(pending: Term, outcome: Outcome) -> None:
        """What was pending before the ``try`` is so after it, whichever way it is left."""
        if pending is NONE:
            return
        states = [leave.state for leave in outcome.exits] + ([outcome.fall] if outcome.fall is not None else [])
        for state in {id(state): state for state in states}.values():
            state.error = conditional(raised(pending), pending, state.error)


def _divided(node: ir.Try, error: Term) -> tuple[list[Branch], Term]:
    """The handlers with the part of an error that each is the first to catch, and the part that none does."""
    branches: list[Branch] = []
    for handler in node.handlers:
        caught = _only(error, handler, wanted=True)
        if caught is not NONE:
            branches.append((handler, caught))
            error = _only(error, handler, wanted=False)
    return branches, error


def _any_of(branches: Sequence[Branch]) -> Term:
    """The guard under which one of the handlers runs."""
    return disjunction(*(raised(caught) for _, caught in branches))


def _only(error: Term, handler: ir.Handler, *, wanted: bool) -> Term:
    """The part of an error that `handler` catches, or the part that it does not."""

    def kept(leaf: Term) -> Term:
        return leaf if isinstance(leaf, Raise) and _catches(handler, leaf) == wanted else NONE

    return map_leaves(error, kept)


def _catches(handler: ir.Handler, error: Raise) -> bool:
    return handler.exception is None or _names(handler.exception, error.exception.split("@")[0])


def _names(clause: ir.Expr, exception: str) -> bool:
    """Whether an except clause catches `exception`, as far as names tell."""
    match clause:
        case ir.Sequence(_, items):
            return any(_names(item, exception) for item in items)
        case ir.Name(name) | ir.Attribute(attr=name):
            caught, raised_class = getattr(builtins, name, None), getattr(builtins, exception, None)
            if isinstance(caught, type) and isinstance(raised_class, type):
                return issubclass(raised_class, caught)
            return name in (exception, "Exception", "BaseException")
        case _:
            return True
