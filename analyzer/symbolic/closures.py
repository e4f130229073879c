"""Nested functions and lambdas: they see the variables around them, not the values these had at the definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any

from analyzer.domain import syntax as ir
from analyzer.domain.build import map_leaves
from analyzer.domain.terms import UNSET, Handle, Term
from analyzer.symbolic.effects import parts_of
from analyzer.symbolic.state import Frame, State
from analyzer.symbolic.world import FunctionValue

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Body = tuple[ir.Stmt, ...] | ir.Expr


class Closures:
    """Makes nested functions, and keeps the variables that they share with the functions around them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def make(self, name: str, parameters: tuple[ir.Parameter, ...], body: Body, state: State) -> Handle:
        """A nested function or lambda; its default values are computed now."""
        world, around = self.machine.world, state.frame
        if around.cell is None:
            around.cell = world.fresh("cell", name)
        around.shared |= frozenset(_names(body))
        frame = replace(
            around,
            closure={**around.closure, **state.env},
            cells=(*around.cells, around.cell),
            cell=None,
            shared=frozenset(),
        )
        defaults = {
            p.name: self.machine.expressions.lazy(p.default, state) for p in parameters if p.default is not None
        }
        reference = world.fresh("closure", name)
        world.functions[reference] = FunctionValue(
            name, parameters, body, frame, defaults=defaults, rebinds=_rebound(body)
        )
        return reference

    def variable(self, name: str, frame: Frame, state: State) -> Term | None:
        """What a variable of the functions around is worth at present; None when they have none of that name."""
        for cell in reversed(frame.cells):
            value = self._held(cell, state).get(name, UNSET)
            if value is not UNSET:
                return map_leaves(value, lambda leaf: self.machine.unbound(name) if leaf is UNSET else leaf)
        return frame.closure.get(name)

    def _held(self, cell: Handle, state: State) -> Mapping[str, Term]:
        held = state.heap.get(cell)
        return self.machine.world.base.get(cell, {}) if held is None else held

    def share(self, state: State) -> None:
        """Let nested functions see the present values of the variables of the function at hand."""
        frame = state.frame
        if frame.cell is not None:
            state.put(frame.cell, {name: state.env[name] for name in frame.shared if name in state.env})

    def take_back(self, state: State) -> None:
        """See in the function at hand what nested ones have set its variables to since they were shared."""
        frame = state.frame
        if frame.cell is not None:
            state.env.update(
                (name, value) for name, value in self._held(frame.cell, state).items() if value is not UNSET
            )

    def rebind(self, names: frozenset[str], frame: Frame, env: Mapping[str, Term], state: State) -> None:
        """Set variables of the functions around to what the locals of a nested one that ended are worth."""
        for name in sorted(names & env.keys()):
            cell = next((cell for cell in reversed(frame.cells) if name in self._held(cell, state)), None)
            if cell is not None:
                state.put(cell, {**self._held(cell, state), name: env[name]})

    def may_write(self, function: FunctionValue, state: State) -> bool:
        """Whether calling a nested function may do something that matters."""
        if not isinstance(function.body, tuple):
            return False
        return bool(function.rebinds) or any(self.machine.statements.matters(n, state) for n in function.body)


def _rebound(body: Body) -> frozenset[str]:
    """The names of the enclosing function that a nested one declares nonlocal."""
    return frozenset(name for node in _walk(body) if isinstance(node, ir.GlobalStatement) for name in node.names)


def _names(body: Body) -> Iterator[str]:
    """Every name in a nested function, in those inside it too."""
    for node in _walk(body):
        if isinstance(node, ir.Name):
            yield node.id
        elif isinstance(node, ir.GlobalStatement):
            yield from node.names


def _walk(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        for item in node:
            yield from _walk(item)
    elif is_dataclass(node):
        yield node
        for name in parts_of(node):
            yield from _walk(getattr(node, name))
