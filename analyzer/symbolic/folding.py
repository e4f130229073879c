"""Loops that fold a sequence of unknown length into numbers: the largest, the smallest, their sum or product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import negate
from analyzer.domain.terms import Apply, Conditional, Handle, Opaque, Term, constant, opaque, walk
from analyzer.symbolic.comprehensions import each
from analyzer.symbolic.effects import StatementEffects, effects_of
from analyzer.symbolic.state import State, is_cell

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_REDUCTIONS: Final[Mapping[str, str]] = {"+": "sum", "*": "prod", "max": "max", "min": "min"}
# Operations of which nothing gives what changes nothing.
_NEUTRAL: Final = frozenset({"+", "*"})
# `if x > best: best = x`
_CHOICES: Final[Mapping[str, str]] = {">": "max", ">=": "max", "<": "min", "<=": "min"}
_MIRRORED: Final[Mapping[str, str]] = {"max": "min", "min": "max"}
_CARRIED: Final = "carried"

Row = tuple[str, tuple[Term, ...], Term]
"""What one iteration does to a name: the operation, the conditions, and what it adds."""


class Folds:
    """Runs the body of a loop once, on a loop variable and on what the iteration before left."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def run(self, node: ir.For, iterable: Term, state: State) -> bool:
        """Carry out a loop that only folds, in `state`; False, and nothing done, for any other loop."""
        sequence = self.machine.sequences.term(iterable, state)
        effects = [effects_of(statement) for statement in node.body]
        if sequence is None or node.orelse or not all(map(_only_binds, node.body, effects)):
            return False
        names = frozenset[str]().union(*(effect.binds for effect in effects))
        before = {name: self.machine.value(state.env[name]) for name in sorted(names & state.env.keys())}
        if not before or any(isinstance(value, Handle) for value in before.values()):
            return False
        place = self.machine.span
        with self.machine.comprehensions.variable() as variable:
            rows = self._rows(node, variable, before, state)
        self.machine.span = place
        if rows is None:
            return False
        for name in names:
            row = rows.get(name)
            if row is not None:
                op, guards, element = row
                values = each("list", [(variable, sequence, guards)], [element])
                state.env[name] = self._folded(op, before[name], values, state)
            elif name in rows or name not in before:
                # What only one iteration knows is the last one's.
                state.env[name] = self._last(name)
        return True

    def _last(self, name: str) -> Term:
        reason = "a value of the last iteration of a loop of unknown length"
        return self.machine.world.unknown(f"loop:{name}", reason, self.machine.span)

    def _rows(
        self, node: ir.For, variable: Term, before: Mapping[str, Term], state: State
    ) -> dict[str, Row | None] | None:
        """What one iteration does to each name that it changes, None where that has nothing to do with the others.

        No dict where an iteration does anything but that, or needs more of those before than a fold hands on.
        """
        carried = {name: opaque(_CARRIED, (constant(name),)) for name in before}
        trial = state.fork()
        heap, error = {owner: dict(held) for owner, held in trial.heap.items()}, trial.error
        self.machine.statements.bind(node.target, variable, trial)
        trial.env.update(carried)
        counter = self.machine.world.counter
        outcome = self.machine.statements.run(node.body, trial)
        after = outcome.fall
        if outcome.exits or after is None or after.error is not error:
            return None
        if any(held != heap.get(owner) and not self._is_new(owner, counter) for owner, held in after.heap.items()):
            return None
        rows: dict[str, Row | None] = {}
        for name, marker in carried.items():
            value = self.machine.value(after.env[name])
            if value is marker:
                continue
            if not any(map(_is_carried, walk(value))):
                rows[name] = None
                continue
            row = _row(value, marker)
            if row is None or any(map(_is_carried, walk(row[2], *row[1]))):
                return None
            rows[name] = row
        return rows

    def _is_new(self, owner: Term, counter: int) -> bool:
        return is_cell(owner) or self.machine.world.is_newer(owner, counter)

    def _folded(self, op: str, start: Term, values: Term, state: State) -> Term:
        keywords = {} if op in _NEUTRAL else {"default": start}
        return self.machine.apply(
            op, start, self.machine.calls.builtins.call(_REDUCTIONS[op], (values,), keywords, state)
        )


def _only_binds(statement: ir.Stmt, effects: StatementEffects) -> bool:
    """Whether a statement, or a loop of such, does nothing but bind names."""
    if effects.leaves or effects.raises or effects.changes or effects.writes or effects.own_writes:
        return False
    match statement:
        case ir.If(body=body, orelse=orelse):
            return all(_only_binds(inner, effects_of(inner)) for inner in (*body, *orelse))
        case ir.For(body=body, orelse=()):
            return all(_only_binds(inner, effects_of(inner)) for inner in body)
        case ir.Assign() | ir.Augment() | ir.Jump():
            return True
        case _:
            return False


def _is_carried(term: Term) -> bool:
    return isinstance(term, Opaque) and term.name == _CARRIED


def _row(value: Term, carried: Term) -> Row | None:
    """How `value` comes of what was `carried` into the iteration; None when that is no fold."""
    match value:
        case Apply(op, (left, right)) if op in _REDUCTIONS and carried in (left, right):
            return op, (), right if left is carried else left
        case Conditional(Apply(op, (left, right)), then, otherwise) if (
            op in _CHOICES and carried in (left, right) and carried in (then, otherwise)
        ):
            return _chosen(_CHOICES[op], (left, right), then, otherwise, carried)
        case Conditional(guard, then, otherwise) if carried in (then, otherwise):
            inner = _row(otherwise if then is carried else then, carried)
            condition = negate(guard) if then is carried else guard
            return None if inner is None else (inner[0], (condition, *inner[1]), inner[2])
        case _:
            return None


def _chosen(op: str, compared: tuple[Term, Term], then: Term, otherwise: Term, carried: Term) -> Row | None:
    """`x if x > best else best`, in whatever order it is written."""
    element = otherwise if then is carried else then
    if {element, carried} != set(compared):
        return None
    larger_first = (compared[0] is element) == (then is element)
    return (op if larger_first else _MIRRORED[op]), (), element
