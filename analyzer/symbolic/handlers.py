"""What a ``try`` makes of exceptions: which handler runs under which guard, and what stays pending."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, conjunction, disjunction, map_leaves
from analyzer.domain.terms import NONE, TRUE, Raise, Term, opaque, raising
from analyzer.symbolic.effects import walk_syntax
from analyzer.symbolic.facts import Facts
from analyzer.symbolic.failing import CASTS, DIVISIONS, Failures
from analyzer.symbolic.outcome import Exit, Outcome
from analyzer.symbolic.state import Frame, State, raised

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine


# A handler with what it is the first to catch.
Branch = tuple[ir.Handler, Term]


# Who catches one of these catches nearly everything: it does not say what is expected to fail.
_ANYTHING: Final = frozenset({"Exception", "BaseException"})


class Handlers:
    """The ``try`` statements that are being executed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.failures = Failures(machine)
        self._trying: list[tuple[Frame, ir.Try]] = []
        # What is handled at present, and the name that the source gives it.
        self._handling: list[tuple[str | None, Term]] = []
        # Of exceptions that classes of the source stand for: the names of their ancestors.
        self._ancestors: dict[str, frozenset[str]] = {}

    def waiting(self, state: State) -> bool:
        """Whether a handler of the function at hand waits for what is raised here."""
        return bool(self._trying) and self._trying[-1][0] is state.frame

    def _around(self, state: State) -> Iterator[ir.Handler]:
        """The handlers around the present statement in its function, the nearest first."""
        for frame, node in reversed(self._trying):
            if frame is not state.frame:
                return
            yield from node.handlers

    def caught(self, error: Term, state: State) -> Term:
        """The part of an error that a handler of the function at hand catches."""
        handlers = list(self._around(state))

        def kept(leaf: Term) -> Term:
            return leaf if isinstance(leaf, Raise) and any(self._catches(h, leaf) for h in handlers) else NONE

        return map_leaves(error, kept)

    def may_fail(self, node: ir.Expr | ir.Stmt, state: State) -> bool:
        """Whether computing `node` may fail in a way that a handler around it names."""
        handlers = list(self._around(state))
        named = [h for h in handlers if h.exception is not None and not any(map(self._is_anything, _clauses(h)))]

        def expected(*exceptions: str, of: Sequence[ir.Handler] = named) -> bool:
            return any(self._catches(handler, raising(exception)) for handler in of for exception in exceptions)

        for part in walk_syntax(node):
            match part:
                case ir.Subscript():
                    found = expected("KeyError", "IndexError", of=handlers)
                case ir.Call(func=ir.Name(name)) if name in CASTS:
                    found = expected("ValueError", "TypeError", of=handlers)
                case ir.Call():
                    found = bool(named)
                case ir.Binary(op=op):
                    found = expected("TypeError") or (op in DIVISIONS and expected("ZeroDivisionError", of=handlers))
                case ir.Attribute():
                    found = expected("AttributeError")
                case ir.Name():
                    found = expected("UnboundLocalError")
                case _:
                    found = False
            if found:
                return True
        return False

    @staticmethod
    def _is_anything(clause: ir.Expr) -> bool:
        return isinstance(clause, ir.Name) and clause.id in _ANYTHING

    def note(self, label: str, exception: str, state: State) -> None:
        """Remember what else an exception is that a class of the source stands for."""
        found = self.machine.program.resolve(state.frame.module, exception)
        if found is not None and found.kind == "class":
            self._ancestors[label] = self.machine.program.base_names(found.key)

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
        pending, facts = state.error, state.facts
        state.error = NONE
        self._trying.append((state.frame, node))
        outcome = statements.run(node.body, state)
        self._trying.pop()
        outcome = self._handled(node, outcome, facts)
        self._restore(pending, outcome)
        return self._finally(node, outcome) if node.finalbody else outcome

    def _finally(self, node: ir.Try, outcome: Outcome) -> Outcome:
        """What is done on every way out; leaving it by itself takes the place of the way."""
        statements, exits = self.machine.statements, list[Exit]()
        for leave in outcome.exits:
            state = leave.state.fork()
            error, dead = state.error, state.dead
            state.error, state.dead = NONE, False
            final = statements.run(node.finalbody, state)
            exits += [Exit(e.kind, conjunction(leave.guard, e.guard), e.value, e.state, e.span) for e in final.exits]
            if final.fall is not None:
                final.fall.error = conditional(raised(final.fall.error), final.fall.error, error)
                final.fall.dead = dead
                exits.append(Exit(leave.kind, leave.guard, leave.value, final.fall, leave.span))
        if outcome.fall is None:
            return Outcome(None, exits)
        final = statements.run(node.finalbody, outcome.fall)
        return Outcome(final.fall, exits + final.exits)

    def _handled(self, node: ir.Try, body: Outcome, facts: Facts) -> Outcome:
        """What the ways out of the body become; `facts` are what was known before it."""
        exits: list[Exit] = []
        ended = Outcome(None, []) if body.fall is None else self._ended(node, body.fall, facts)
        fall = ended.fall
        for leave in body.exits:
            handled = self._left(node, leave, facts)
            exits += [Exit(e.kind, conjunction(leave.guard, e.guard), e.value, e.state, e.span) for e in handled.exits]
            if handled.fall is not None:
                fall = handled.fall if fall is None else self.machine.merge(leave.guard, handled.fall, fall)
        # The end of the body is reached where nothing left it before.
        return Outcome(fall, exits + ended.exits)

    def _ended(self, node: ir.Try, state: State, facts: Facts) -> Outcome:
        """The end of the body, where calls in it may have raised on some inputs."""
        branches, rest = self._divided(node, state.error)
        failing = state.fork()
        state.error = rest
        after = self.machine.statements.run(node.orelse, state)
        if not branches:
            return after
        return self.machine.statements.join(_any_of(branches), self._caught(branches, failing, facts), after)

    def _left(self, node: ir.Try, leave: Exit, facts: Facts) -> Outcome:
        """A way out of the body before its end."""
        branches, rest = self._divided(node, leave.state.error)
        failing = leave.state.fork()
        leave.state.error = rest
        stays = Outcome(None, [Exit(leave.kind, TRUE, leave.value, leave.state, leave.span)])
        if not branches:
            return stays
        handled = self._caught(branches, failing, facts)
        if leave.kind == "raise" and rest is NONE:
            return handled
        return self.machine.statements.join(_any_of(branches), handled, stays)

    def _caught(self, branches: Sequence[Branch], state: State, facts: Facts) -> Outcome:
        """Run the handlers in a state that raised, each under the guard of what it is the first to catch.

        What the body found out holds where nothing was raised: here it is forgotten.
        """
        state.error, state.dead, state.facts = NONE, False, facts
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

    def _divided(self, node: ir.Try, error: Term) -> tuple[list[Branch], Term]:
        """The handlers with the part of an error that each is the first to catch, and the part that none does."""
        branches: list[Branch] = []
        for handler in node.handlers:
            caught = self._only(error, handler, wanted=True)
            if caught is not NONE:
                branches.append((handler, caught))
                error = self._only(error, handler, wanted=False)
        return branches, error

    def _only(self, error: Term, handler: ir.Handler, *, wanted: bool) -> Term:
        """The part of an error that `handler` catches, or the part that it does not."""

        def kept(leaf: Term) -> Term:
            return leaf if isinstance(leaf, Raise) and self._catches(handler, leaf) == wanted else NONE

        return map_leaves(error, kept)

    def _catches(self, handler: ir.Handler, error: Raise) -> bool:
        names = self._ancestors.get(error.exception, frozenset()) | {error.exception.split("@")[0]}
        return any(_names(clause, name) for clause in _clauses(handler) for name in names)


def _clauses(handler: ir.Handler) -> tuple[ir.Expr, ...]:
    """The classes that a handler names; a bare one catches anything."""
    match handler.exception:
        case None:
            return (ir.Name("BaseException"),)
        case ir.Sequence(_, items):
            return items
        case clause:
            return (clause,)


def _any_of(branches: Sequence[Branch]) -> Term:
    """The guard under which one of the handlers runs."""
    return disjunction(*(raised(caught) for _, caught in branches))


def _names(clause: ir.Expr, exception: str) -> bool:
    """Whether a class in an except clause catches `exception`, as far as names tell."""
    match clause:
        case ir.Name(name) | ir.Attribute(attr=name):
            caught, raised_class = getattr(builtins, name, None), getattr(builtins, exception, None)
            if isinstance(caught, type) and isinstance(raised_class, type):
                return issubclass(raised_class, caught)
            return name in (exception, "Exception", "BaseException")
        case _:
            return True
