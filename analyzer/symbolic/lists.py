"""Methods that change a list or a set, or look something up in it, and assignments to parts of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, is_plain_tuple
from analyzer.domain.terms import FALSE, NONE, Atom, Constant, Handle, Term, children, constant, opaque, raising
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]
_CHANGING: Final = frozenset({"remove", "pop", "insert", "sort", "discard", "reverse"})
_QUESTIONS: Final = frozenset({"isdisjoint", "issubset", "issuperset"})
_SETS: Final = {
    "intersection": "&", "difference": "-", "symmetric_difference": "^",
    "intersection_update": "&", "difference_update": "-", "symmetric_difference_update": "^",
}  # fmt: skip  # a table


class Lists:
    """What is done to the elements of a list or a set."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def method(self, receiver: Handle, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`receiver.name(*args)`; a method without a model is a function of the elements."""
        if name in _CHANGING:
            return self._change(receiver, name, args, keywords, state)
        if name in _SETS and args:
            combined = self.machine.sequences.combined(_SETS[name], receiver, args[0], state)
            if not name.endswith("_update"):
                return combined
            state.write(receiver, "items", self.machine.sequences.held(combined, state))
            return NONE
        if name in _QUESTIONS and args:
            answer = self._question(receiver, name, args[0], state)
            if answer is not None:
                return answer
        items = self.machine.sequences.items(receiver, state)
        if items is not None and name == "count":
            return self._count(items, args[0])
        if items is not None and name == "index" and len(args) == 1:
            return self._index(items, args[0])
        plain = (self._content(receiver, state), *(self.machine.plain(arg) for arg in args))
        return opaque(f".{name}()", plain)

    def _question(self, receiver: Handle, name: str, other: Term, state: State) -> Term | None:
        """What two sets have to do with each other; None when that is not known."""
        sequences = self.machine.sequences
        if name == "isdisjoint":
            shared = sequences.truth(sequences.combined("&", receiver, other, state), state)
            return None if shared is None else self.machine.apply("not", shared)
        return (
            sequences.includes(other, receiver, state)
            if name == "issubset"
            else sequences.includes(receiver, other, state)
        )

    def _content(self, receiver: Handle, state: State) -> Term:
        """What a list holds, as an argument."""
        whole = self.machine.sequences.term(receiver, state)
        return self.machine.calls.builtins.sequence(receiver, state) if whole is None else whole

    def _count(self, items: Arguments, wanted: Term) -> Term:
        total: Term = constant(0)
        for item in items:
            same = self.machine.apply("==", item, wanted)
            total = self.machine.apply("+", total, conditional(same, constant(1), constant(0)))
        return total

    def _index(self, items: Arguments, wanted: Term) -> Term:
        found: Term = raising("ValueError")
        for position, item in reversed(list(enumerate(items))):
            found = conditional(self.machine.apply("==", item, wanted), constant(position), found)
        return found

    def _change(self, receiver: Handle, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        if name == "sort":
            key, backwards = keywords.get("key"), keywords.get("reverse", FALSE)
            ordered = self.machine.sequences.sorted(receiver, backwards, state, key)
            state.write(receiver, "items", self.machine.sequences.held(ordered, state))
            return NONE
        content = self.machine.sequences.held(receiver, state)
        is_set = self.machine.sequences.is_set(receiver, state)
        values = [self.machine.value(arg) for arg in args]
        if is_plain_tuple(content) and not (is_set and name == "pop"):
            items = list(children(content))
            found = self._changed(items, name, values, missing="KeyError" if is_set else "ValueError")
            if found is not None:
                state.write(receiver, "items", self.machine.tuple_of(tuple(items)))
                return found
        return self.lose(receiver, f"list.{name}", "a list of unknown content is changed", state, *args)

    def _changed(self, items: list[Term], name: str, args: list[Term], *, missing: str) -> Term | None:
        """Change `items` as a method does, and give what it returns; None where that is not known."""
        numbers = [arg.value for arg in args if isinstance(arg, Constant) and isinstance(arg.value, int)]
        match name:
            case "reverse":
                items.reverse()
            case "insert" if numbers and isinstance(args[0], Constant):
                items.insert(numbers[0], args[1])
            case "pop" if len(numbers) == len(args):
                position = numbers[0] if numbers else -1
                return items.pop(position) if -len(items) <= position < len(items) else raising("IndexError")
            case "remove" | "discard" if all(isinstance(item, Constant | Atom) for item in (*args, *items)):
                if args[0] in items:
                    items.remove(args[0])
                elif name == "remove":
                    return raising(missing)
            case _:
                return None
        return NONE

    def lose(self, receiver: Handle, construct: str, reason: str, state: State, *args: Term) -> Term:
        """The elements of a list are not known from now on."""
        plain = (self.machine.plain(arg) for arg in args)
        before = self._content(receiver, state)
        unknown = self.machine.world.unknown(construct, reason, self.machine.span, before, *plain)
        state.write(receiver, "items", unknown)
        return unknown

    def set_slice(self, receiver: Handle, index: ir.Slice, value: Term, state: State) -> None:
        """`receiver[lower:upper:step] = value`."""
        content = self.machine.sequences.held(receiver, state)
        new = self.machine.sequences.items(value, state)
        bounds = self._bounds(index, state)
        if bounds is not None and new is not None and is_plain_tuple(content):
            items = list(children(content))
            if bounds.step in (None, 1) or len(items[bounds]) == len(new):
                items[bounds] = new
                state.write(receiver, "items", self.machine.tuple_of(tuple(items)))
                return
        self.lose(receiver, "list slice", "a part of a list is set at an unknown place", state, value)

    def delete_elements(self, receiver: Handle, index: ir.Expr, state: State) -> None:
        """`del receiver[index]`, one element or a slice."""
        if not isinstance(index, ir.Slice):
            self._change(receiver, "pop", (self.machine.expressions.evaluate(index, state),), {}, state)
            return
        content, bounds = self.machine.sequences.held(receiver, state), self._bounds(index, state)
        if bounds is not None and is_plain_tuple(content):
            items = list(children(content))
            del items[bounds]
            state.write(receiver, "items", self.machine.tuple_of(tuple(items)))
        else:
            self.lose(receiver, "list slice", "a part of a list is deleted at an unknown place", state)

    def _bounds(self, node: ir.Slice, state: State) -> slice | None:
        """The bounds of a slice, None when one of them is not known."""
        parts = [node.lower, node.upper, node.step]
        values = [
            NONE if part is None else self.machine.value(self.machine.expressions.evaluate(part, state))
            for part in parts
        ]
        known = [value.value for value in values if isinstance(value, Constant)]
        if (
            len(known) < len(values)
            or not all(part is None or isinstance(part, int) for part in known)
            or known[2] == 0
        ):
            return None
        return slice(*known)
