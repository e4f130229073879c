"""Loops that lower a number until it fits: the first of a falling range that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, negate
from analyzer.domain.terms import Apply, Handle, Term, constant, opaque, walk
from analyzer.symbolic.comprehensions import each
from analyzer.symbolic.effects import effects_of
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine


def lowered(machine: Machine, node: ir.While, state: State) -> tuple[str, Term] | None:
    """The name that ``while name > 0 and ...: name -= step`` changes, and its value; None for another loop."""
    match node.body:
        case (ir.Augment(ir.Name(name), "-", by),) if not node.orelse and effects_of(node).binds == {name}:
            pass
        case _:
            return None
    start = machine.plain(state.env.get(name, machine.unbound(name)))
    inner = state.fork()
    with machine.comprehensions.variable() as variable:
        inner.env[name] = variable
        guard = machine.expressions.guard(node.test, inner)
        step = machine.plain(machine.expressions.evaluate(by, inner))
    positive = machine.apply(">", variable, constant(0))
    parts = guard.args if isinstance(guard, Apply) and guard.op == "and" else (guard,)
    if positive not in parts or variable in set(walk(step)) or any(map(_is_deferred, walk(guard, step, start))):
        return None
    down = machine.apply("neg", step)
    # The last of these is not above zero, and fits in any case.
    fitting = each("list", [(variable, opaque("range", (start, down, down)), [negate(guard)])], [variable])
    first = opaque("item", (fitting, constant(0)))
    return name, conditional(machine.apply(">", start, constant(0)), first, start)


def _is_deferred(term: Term) -> bool:
    return isinstance(term, Handle) and term.kind == "deferred"
