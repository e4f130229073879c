"""The methods of lists, sets and dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from analyzer.domain.build import conditional, is_plain_tuple, map_leaves
from analyzer.domain.terms import NONE, UNSET, Atom, Constant, Handle, Term, children, constant, opaque
from analyzer.symbolic.containers import tuple_of
from analyzer.symbolic.state import State
from analyzer.symbolic.world import item_key

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]
_ADDING: Final = frozenset({"append", "add"})
_JOINING: Final = frozenset({"extend", "update"})
_CHANGING: Final = frozenset({"remove", "pop", "insert", "sort", "discard", "reverse"})


class Methods:
    """What a method of a container does to it; what has no model makes its content unknown."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    # ---- lists and sets ------------------------------------------------------------------

    def of_list(self, receiver: Handle, name: str, args: Arguments, state: State) -> Term:
        """`receiver.name(*args)` on a list or a set."""
        if name in _ADDING:
            self.machine.sequences.extend(receiver, self.machine.tuple_of((args[0],)), state)
        elif name in _JOINING:
            for more in args:
                self.machine.sequences.extend(receiver, more, state)
        elif name == "clear":
            state.write(receiver, "items", self.machine.tuple_of(()))
        elif name in _CHANGING:
            return self._change(receiver, name, args, state)
        elif name in ("copy", "union"):
            copy = self.machine.list_of((), state)
            for part in (receiver, *args):
                self.machine.sequences.extend(copy, part, state)
            return copy
        else:
            return opaque(f".{name}()", tuple(self.machine.plain(arg) for arg in args))
        return NONE

    def _change(self, receiver: Handle, name: str, args: Arguments, state: State) -> Term:
        content = self.machine.sequences.held(receiver, state)
        if is_plain_tuple(content) and name in ("pop", "remove", "discard"):
            items = list(children(content))
            if name == "pop" and items and not args:
                last = items.pop()
                state.write(receiver, "items", self.machine.tuple_of(tuple(items)))
                return last
            wanted = self.machine.value(args[0]) if args else NONE
            if name != "pop" and all(isinstance(item, Constant | Atom) for item in (wanted, *items)):
                kept = tuple(item for item in items if item is not wanted)
                state.write(receiver, "items", self.machine.tuple_of(kept))
                return NONE
        reason = "a list of unknown content is changed"
        unknown = self.machine.world.unknown(f"list.{name}", reason, self.machine.span)
        state.write(receiver, "items", unknown)
        return unknown

    # ---- dicts ---------------------------------------------------------------------------

    def of_dict(self, receiver: Handle, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`receiver.name(*args)` on a dict."""
        expressions = self.machine.expressions
        default = args[1] if len(args) > 1 else NONE
        match name:
            case "get":
                return expressions.dict_item(receiver, args[0], default, state)
            case "setdefault":
                found = expressions.dict_item(receiver, args[0], UNSET, state)
                value = map_leaves(found, lambda leaf: default if leaf is UNSET else leaf)
                expressions.set_item(receiver, self.machine.value(args[0]), value, state)
                return value
            case "pop":
                found = expressions.dict_item(receiver, args[0], default, state)
                expressions.set_item(receiver, self.machine.value(args[0]), UNSET, state)
                return found
            case "update":
                for other in args:
                    self.dict_update(receiver, other, state)
                for key, value in keywords.items():
                    expressions.set_item(receiver, constant(key), value, state)
                return NONE
            case "copy":
                copy = self.machine.dict_of({}, state)
                self.dict_update(copy, receiver, state)
                return copy
            case _:
                return self._view(receiver, name, args, state)

    def of_namespace(self, receiver: Handle, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`instance.__dict__.name(*args)`: what is done to an item is done to the attribute."""
        target, builtins = self.machine.world.bound[receiver][0], self.machine.calls.builtins
        if name in ("get", "pop") and args:
            return builtins.call("getattr", (target, args[0], args[1] if len(args) > 1 else NONE), {}, state)
        if name == "update":
            given = self.machine.dict_of(keywords, state)
            for other in args:
                self.dict_update(given, other, state)
            for key in builtins.items(given, state) or ():
                value = self.machine.expressions.dict_item(given, key, NONE, state)
                builtins.call("object.__setattr__", (target, key, value), {}, state)
            unknown = builtins.opened(given, state)
            if unknown is None:
                return NONE
            # Any attribute may be among what is not known.
            for known in self.machine.attributes.known_names(target, state):
                lost = self.machine.world.unknown(known, "set among attributes that are not known", self.machine.span)
                self.machine.attributes.store(target, known, lost, state)
            return NONE
        return opaque(f"__dict__.{name}()", tuple(self.machine.plain(arg) for arg in args))

    def _view(self, receiver: Handle, name: str, args: Arguments, state: State) -> Term:
        """Its keys, values or items, each there when its key is."""
        elements = self.machine.sequences.elements(receiver, state)
        if elements is None or name not in ("keys", "values", "items", "__iter__"):
            return opaque(f"dict.{name}()", tuple(self.machine.plain(arg) for arg in args))
        rows = []
        for guard, key in elements:
            value = self.machine.expressions.dict_item(receiver, key, NONE, state)
            pair = self.machine.tuple_of((key, value))
            rows.append((guard, {"values": value, "items": pair}.get(name, key)))
        return tuple_of(rows)

    def dict_update(self, receiver: Handle, other: Term, state: State) -> None:
        """`receiver.update(other)`."""

        def update(leaf: Term, current: State) -> Term:
            self._update_from(receiver, leaf, current)
            return NONE

        self.machine.each_leaf(other, state, update)

    def _update_from(self, receiver: Handle, source: Term, state: State) -> None:
        elements = self.machine.sequences.elements(source, state)
        if elements is None or not isinstance(source, Handle):
            reason = "a dict takes over what is not known"
            self.machine.calls.builtins.open_dict(receiver, reason, state, source)
            return
        for guard, key in elements:
            value = self.machine.expressions.dict_item(source, key, NONE, state)
            before = self.machine.sequences.content(receiver, item_key(key), state) or UNSET
            self.machine.expressions.set_item(receiver, key, conditional(guard, value, before), state)
