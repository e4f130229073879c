"""Loops: unrolled where their elements are known; else what their bodies collect, or nothing, is known after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.domain import syntax as ir
from analyzer.domain.build import truth
from analyzer.domain.terms import FALSE, NONE, TRUE, Conditional, Term
from analyzer.symbolic.comprehensions import collected
from analyzer.symbolic.containers import Element
from analyzer.symbolic.descents import lowered
from analyzer.symbolic.effects import effects_of
from analyzer.symbolic.folding import Folds
from analyzer.symbolic.outcome import Exit, Outcome
from analyzer.symbolic.state import State, is_cell
from analyzer.symbolic.world import ELEMENT, UNKNOWN_LENGTH

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_MAX_UNROLL = 512
# So often a ``while`` loop may be left on some ways before it counts as one that cannot be unrolled.
_MAX_BREAKS = 8
# Over all loops of one run: nested loops over long sequences stop being unrolled.
_MAX_ITERATIONS = 20_000


class Loops:
    """One method for each way to go through a loop."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._folds = Folds(machine)
        self._unrolled = 0

    def run_for(self, node: ir.For, state: State) -> Outcome:
        """Execute a ``for`` loop."""
        sequence = self.machine.expressions.evaluate(node.iterable, state)
        with self.machine.looping():
            return self._loop(node, sequence, state)

    def _loop(self, node: ir.For, sequence: Term, state: State) -> Outcome:
        iterable = state.refine(self.machine.force(sequence))
        items = self.machine.sequences.elements(iterable, state)
        if items is None and isinstance(iterable, Conditional):
            return self._for_either(node, iterable, state)
        accumulated = collected(node) if items is None else None
        if accumulated is not None:
            return self._accumulate(accumulated, state)
        if items is None and self._folds.run(node, iterable, state):
            return Outcome(state, [])
        if items is None or len(items) > _MAX_UNROLL or self._unrolled > _MAX_ITERATIONS:
            over = self.machine.calls.builtins.sequence(iterable, state)
            return self._havoc(node, over, state, f"a loop over {UNKNOWN_LENGTH}")
        return self._for_each(node, items, state)

    def _for_either(self, node: ir.For, iterable: Conditional, state: State) -> Outcome:
        """A loop over one of two sequences, of which one is not known element by element."""
        left, right = state.fork(), state
        left.assume(iterable.guard, holds=True)
        right.assume(iterable.guard, holds=False)
        then = self._loop(node, iterable.then, left)
        return self.machine.statements.join(iterable.guard, then, self._loop(node, iterable.otherwise, right))

    def _for_each(self, node: ir.For, items: list[Element], state: State) -> Outcome:
        exits: list[Exit] = []
        broken: list[Exit] = []
        current: State | None = state
        for guard, item in items:
            if current is None:
                break
            self._unrolled += 1
            outcome = self._iterate(node, guard, item, current)
            broken.extend(e for e in outcome.exits if e.kind == "break")
            exits.extend(e for e in outcome.exits if e.kind in ("return", "raise"))
            current = self._resume(outcome)
        if current is not None:
            after = self.machine.statements.run(node.orelse, current)
            exits.extend(after.exits)
            current = after.fall
        return Outcome(self._rejoin(broken, current), exits)

    def _accumulate(self, accumulated: list[tuple[ir.Name, str, ir.Comprehension]], state: State) -> Outcome:
        """A loop that only collects or counts, as the comprehensions that it spells out."""
        for target, kind, values in accumulated:
            sequence = self.machine.expressions.evaluate(values, state)
            owner = self.machine.expressions.evaluate(target, state)
            if kind == "append":
                extend = self.machine.attributes.read(owner, "extend", state)
                self.machine.calls.call(extend, (sequence,), {}, state)
            else:
                total = self.machine.calls.builtins.call("sum", (sequence,), {}, state)
                self.machine.statements.bind(target, self.machine.apply("+", owner, total), state)
        return Outcome(state, [])

    def _iterate(self, node: ir.For, guard: Term, item: Term, state: State) -> Outcome:
        """The body for one element, or nothing where the element is not there."""
        guard = state.decide(guard)
        if guard is FALSE:
            return Outcome(state, [])
        if guard is TRUE:
            self.machine.statements.bind(node.target, item, state)
            return self.machine.statements.run(node.body, state)
        taken, skipped = state.fork(), state
        taken.assume(guard, holds=True)
        skipped.assume(guard, holds=False)
        self.machine.statements.bind(node.target, item, taken)
        return self.machine.statements.join(guard, self.machine.statements.run(node.body, taken), Outcome(skipped, []))

    def _resume(self, outcome: Outcome) -> State | None:
        """The state in which the next iteration starts: the end of the body or a ``continue``."""
        continued = [e for e in outcome.exits if e.kind == "continue"]
        return self._rejoin(continued, outcome.fall)

    def _rejoin(self, exits: list[Exit], last: State | None) -> State | None:
        for leave in reversed(exits):
            last = leave.state if last is None else self.machine.merge(leave.guard, leave.state, last)
        return last

    def run_while(self, node: ir.While, state: State) -> Outcome:
        """Execute a ``while`` loop."""
        with self.machine.looping():
            return self._repeat(node, state)

    def _repeat(self, node: ir.While, state: State) -> Outcome:
        exits: list[Exit] = []
        broken: list[Exit] = []
        guard: Term = TRUE
        start = state.fork()
        for _ in range(_MAX_UNROLL):
            guard = self.machine.expressions.guard(node.test, state)
            if guard is FALSE:
                ended = self.machine.statements.run(node.orelse, state)
                return Outcome(self._rejoin(broken, ended.fall), exits + ended.exits)
            if guard is not TRUE or len(broken) > _MAX_BREAKS:
                break
            outcome = self.machine.statements.run(node.body, state)
            broken += [e for e in outcome.exits if e.kind == "break"]
            exits.extend(e for e in outcome.exits if e.kind in ("return", "raise"))
            resumed = self._resume(outcome)
            if resumed is None:
                return Outcome(self._rejoin(broken, None), exits)
            state = resumed
        if broken:
            # How often it is gone through depends on what is not known: nothing is kept of the iterations so far.
            state, exits = start, []
        found = lowered(self.machine, node, state)
        if found is not None:
            name, value = found
            state.env[name] = value
            return Outcome(state, [])
        return self._havoc(node, guard, state, "a loop whose condition is not decided")

    def _havoc(self, node: ir.For | ir.While, over: Term, state: State, reason: str) -> Outcome:
        """A loop that cannot be unrolled: what its body assigns becomes unknown.

        `over` is what it runs over, or the condition under which it starts.
        """
        body = node.body
        for name in sorted(frozenset[str]().union(*(effects_of(statement).binds for statement in body))):
            # A container that the body changes has to be there before it.
            self.machine.force(state.env.get(name, NONE))
        trial, place = state.fork(), self.machine.span
        if isinstance(node, ir.For):
            self.machine.statements.bind(node.target, ELEMENT, trial)
        before, counter = state.fork(), self.machine.world.counter
        outcome = self.machine.statements.run(body, trial)
        self.machine.span = place
        after = [e.state for e in outcome.exits if e.kind in ("continue", "break")]
        for final in (*after, outcome.fall):
            if final is not None:
                self._forget(before, final, counter, (reason, over), state)
        left = [e for e in outcome.exits if e.kind == "return"]
        if not left:
            return Outcome(state, [])
        value = self._after_loop("return", left[0].value, (reason, over))
        return Outcome(state, [Exit("return", truth(value), value, state.fork(), left[0].span)])

    def _forget(self, before: State, final: State, counter: int, loop: tuple[str, Term], state: State) -> None:
        """Make unknown in `state` what one iteration from `before` to `final` changes."""
        for name, value in final.env.items():
            if before.env.get(name) is not value:
                state.env[name] = self._after_loop(name, value, loop)
        for owner, attributes in final.heap.items():
            if not self.machine.world.is_newer(owner, counter) and not is_cell(owner):
                known = {**self.machine.world.base.get(owner, {}), **before.heap.get(owner, {})}
                for name, value in attributes.items():
                    if known.get(name) is not value:
                        state.write(owner, name, self._after_loop(name, value, loop))

    def _after_loop(self, name: str, value: Term, loop: tuple[str, Term]) -> Term:
        """What is unknown after a loop, so that a changed one shows: a function of its head and of one iteration."""
        reason, over = loop
        once = self.machine.external_argument(self.machine.force(value))
        return self.machine.world.unknown(f"loop:{name}", reason, self.machine.span, self.machine.plain(over), once)
