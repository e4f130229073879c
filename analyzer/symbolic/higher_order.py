"""Functions of functions: `map`, `filter`, `functools.partial`, and what a library may do with one that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from analyzer.domain.build import conjunction
from analyzer.domain.terms import FALSE, NONE, Handle, Term, children, opaque
from analyzer.symbolic.comprehensions import each
from analyzer.symbolic.containers import Element, tuple_of
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]


class HigherOrder:
    """Calls functions on behalf of others."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def map(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`map(function, *sequences)`; nothing waits until it is asked for."""
        function, *sequences = args
        columns = [self.machine.sequences.elements(sequence, state) for sequence in sequences]
        known = [column for column in columns if column is not None]
        if not known or len(known) != len(columns):
            return self._mapped_whole(args, state)
        rows: list[Element] = []
        for row in zip(*known, strict=False):
            guard = conjunction(*(guard for guard, _ in row))
            rows.append((guard, self._called_where(guard, function, tuple(item for _, item in row), state)))
        return tuple_of(rows)

    def _mapped_whole(self, args: Arguments, state: State) -> Term:
        """`map` over what is not known one by one: what the function gives for any element."""
        function, *sequences = args
        made = self.machine.force(function)
        if len(sequences) != 1 or not isinstance(made, Handle) or self.matters(made, state):
            return opaque("map", self.machine.external_arguments(args))
        return self.mapped_whole("generator", made, sequences[0], state)

    def mapped_whole(self, kind: str, function: Term, sequence: Term, state: State) -> Term:
        """What a function gives for each element of a sequence, as one term."""
        whole = self.machine.sequences.term(sequence, state)
        if whole is None:
            whole = self.machine.calls.builtins.sequence(sequence, state)
        with self.machine.comprehensions.variable() as variable:
            element = self.machine.plain(self.machine.calls.call(function, (variable,), {}, state))
            return each(kind, [(variable, whole, ())], [element])

    def filter(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`filter(function, sequence)`."""
        function, sequence = args
        elements = self.machine.sequences.elements(sequence, state)
        if elements is None:
            return opaque("filter", self.machine.external_arguments(args))
        kept: list[Element] = []
        for guard, item in elements:
            answer = item if function is NONE else self._called_where(guard, function, (item,), state)
            kept.append((conjunction(guard, self.machine.truth(answer, state)), item))
        return tuple_of([element for element in kept if element[0] is not FALSE])

    def partial(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`functools.partial(function, ...)`."""
        reference = self.machine.world.fresh("partial")
        self.machine.world.partial[reference] = (args[0], args[1:], dict(keywords))
        return reference

    def hand_over(self, name: str, args: Arguments, state: State) -> None:
        """A library function is given others: whether it calls those with effects, nobody here knows."""
        for arg in args:
            function = self.machine.force(arg)
            if isinstance(function, Handle) and self.matters(function, state):
                is_called = self.machine.truth(
                    opaque(f"{name} calls", (self.machine.external_argument(function),)), state
                )
                self._called_where(is_called, function, (), state)

    def _called_where(self, guard: Term, function: Term, args: Arguments, state: State) -> Term:
        """What `function` returns where `guard` holds; elsewhere it is not called."""
        call = self.machine.calls.call
        return self.machine.branch(guard, state, lambda s: call(function, args, {}, s), lambda _: NONE)

    def matters(self, function: Handle, state: State) -> bool:
        """Whether calling a function may write something relevant."""
        world, program = self.machine.world, self.machine.program
        match function.kind:
            case "bound" | "partial" | "decorated" | "staticmethod" | "classmethod":
                inner = (world.partial if function.kind == "partial" else world.bound)[function][0]
                return isinstance(inner, Handle) and self.matters(inner, state)
            case "function":
                return self.machine.relevance.matters(program.definition(function.key.split("|")[1]))
            case "object" if function in world.objects and world.objects[function].kind in ("list", "dict"):
                held = {**world.base.get(function, {}), **state.heap.get(function, {})}
                return any(self._matters_in(value, state) for value in held.values())
            case "closure":
                return self.machine.closures.may_write(world.functions[function], state)
            case _:
                return False

    def _matters_in(self, content: Term, state: State) -> bool:
        """Whether what a container holds may be a function that matters."""
        return any(isinstance(part, Handle) and self.matters(part, state) for part in (content, *children(content)))
