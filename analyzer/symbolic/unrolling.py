"""Comprehensions: element by element where the loops are known, else as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, conjunction
from analyzer.domain.iteration import loop_variable
from analyzer.domain.terms import (
    FALSE,
    TRUE,
    UNSET,
    Handle,
    Term,
    walk,
)
from analyzer.symbolic.comprehensions import each
from analyzer.symbolic.containers import tuple_of
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_MAX_ITERATIONS: Final = 512

Row = tuple[Term, State]
"""The guard under which a combination of loop variables is taken, and the state that binds them."""


class Comprehensions:
    """List, set, dict and generator comprehensions."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._depth = 0

    def evaluate(self, node: ir.Comprehension, state: State) -> Term:
        """The value of `node`."""
        rows = self._rows(node.clauses, state.fork())
        if rows is None:
            return self._as_term(node, state)
        if node.kind == "dict":
            return self._dict(node, rows, state)
        # Elements that are there on some ways are spelled out, so that each is known on its own way.
        filters = any(clause.conditions for clause in node.clauses)
        if filters and any(guard is not TRUE for guard, _ in rows):
            whole = self._filtered(node, state)
            if whole is not None:
                return whole
        elements = [(guard, self._element(node.element, guard, row, state)) for guard, row in rows]
        return self._collected(node.kind, tuple_of(elements), state)

    def _element(self, node: ir.Expr, guard: Term, row: State, state: State) -> Term:
        """One element; what computing it does is done in `state` where the element is there."""
        row.share_heap(state)
        before = row.heap
        value = self.machine.expressions.evaluate(node, row)
        if row.heap is not before:
            done = state.fork()
            done.share_heap(row)
            state.become(done if guard is TRUE else self.machine.merge(guard, done, state))
        return value

    @contextmanager
    def variable(self) -> Iterator[Term]:
        """A loop variable for what is computed inside, apart from those of the loops around it."""
        self._depth += 1
        yield loop_variable(self._depth - 1)
        self._depth -= 1

    def _collected(self, kind: str, content: Term, state: State) -> Term:
        if kind == "generator":
            return content
        made = self.machine.list_of((), state)
        state.write(made, "items", content)
        return self.machine.sequences.as_set(made, state) if kind == "set" else made

    def _dict(self, node: ir.Comprehension, rows: list[Row], state: State) -> Term:
        expressions = self.machine.expressions
        result = self.machine.dict_of({}, state)
        assert node.value is not None
        for guard, row in rows:
            key = self.machine.value(expressions.evaluate(node.element, row))
            before = expressions.dict_item(result, key, UNSET, state)
            value = conditional(guard, self._element(node.value, guard, row, state), before)
            expressions.set_item(result, key, value, state)
        return result

    def _rows(self, clauses: tuple[ir.Clause, ...], state: State) -> list[Row] | None:
        """One row for each combination of loop variables, when the loops are finite."""
        if not clauses:
            return [(TRUE, state)]
        clause, rest = clauses[0], clauses[1:]
        iterable = self.machine.expressions.evaluate(clause.iterable, state)
        elements = self.machine.sequences.elements(iterable, state)
        if elements is None or len(elements) > _MAX_ITERATIONS:
            return None
        rows: list[Row] = []
        for own, item in elements:
            row = state.fork()
            row.assume(own, holds=True)
            self.machine.statements.bind(clause.target, item, row)
            guards = [self.machine.expressions.guard(condition, row) for condition in clause.conditions]
            guard = conjunction(own, *guards)
            if guard is FALSE:
                continue
            inner = self._rows(rest, row)
            if inner is None:
                return None
            rows.extend((conjunction(guard, deeper), final) for deeper, final in inner)
        return rows

    def _filtered(self, node: ir.Comprehension, state: State) -> Term | None:
        """A comprehension with open conditions as one term; None when it has to be spelled out."""
        if node.kind == "dict" or any(self._sequence(clause, state) is None for clause in node.clauses[:1]):
            return None
        whole = self._as_term(node, state)
        return None if any(isinstance(part, Handle) for part in walk(whole)) else whole

    def _sequence(self, clause: ir.Clause, state: State) -> Term | None:
        return self.machine.sequences.term(self.machine.expressions.evaluate(clause.iterable, state), state)

    def _as_term(self, node: ir.Comprehension, state: State) -> Term:
        """A comprehension as a function of its sequences."""
        inner, machine = state.fork(), self.machine
        clauses: list[tuple[Term, Term, list[Term]]] = []
        for clause in node.clauses:
            iterable = machine.expressions.evaluate(clause.iterable, inner)
            sequence = machine.sequences.term(iterable, inner) or machine.calls.builtins.sequence(iterable, inner)
            variable = loop_variable(self._depth)
            self._depth += 1
            machine.statements.bind(clause.target, variable, inner)
            guards = [machine.expressions.guard(condition, inner) for condition in clause.conditions]
            clauses.append((variable, sequence, guards))
        elements = [self._plain(part, inner) for part in (node.element, node.value) if part is not None]
        self._depth -= len(clauses)
        return each(node.kind, clauses, elements)

    def _plain(self, node: ir.Expr, state: State) -> Term:
        """The value of `node` as an argument of an uninterpreted function."""
        return self.machine.plain(self.machine.expressions.evaluate(node, state))
