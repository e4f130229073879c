"""The methods of lists, sets and dicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from analyzer.domain.build import conditional, is_plain_tuple, map_leaves
from analyzer.domain.terms import NONE, UNSET, Constant, Handle, Raise, Term, children, constant, opaque, raising
from analyzer.symbolic.containers import Element, tuple_of
from analyzer.symbolic.lists import Lists
from analyzer.symbolic.state import State
from analyzer.symbolic.world import item_key

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]
_ADDING: Final = frozenset({"append", "add"})
_JOINING: Final = frozenset({"extend", "update"})
_PAIR: Final = 2
# Operators that change a list or a set in place, besides ``+=``.
_IN_PLACE: Final = frozenset({"*", "|", "&", "-", "^"})


class Methods:
    """What a method of a container does to it; what has no model makes its content unknown."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.lists = Lists(machine)

    # ---- lists and sets ------------------------------------------------------------------

    def of_list(self, receiver: Handle, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`receiver.name(*args)` on a list or a set."""
        sequences = self.machine.sequences
        if name in _ADDING:
            sequences.extend(receiver, self.machine.tuple_of((args[0],)), state)
        elif name in _JOINING:
            for more in args:
                sequences.extend(receiver, more, state)
        elif name == "clear":
            state.write(receiver, "items", self.machine.tuple_of(()))
        elif name in ("copy", "union"):
            return sequences.joined(receiver, args, state)
        else:
            return self.lists.method(receiver, name, args, keywords, state)
        return NONE

    # ---- dicts ---------------------------------------------------------------------------

    def augment(self, receiver: Handle, op: str, other: Term, state: State) -> bool:
        """`receiver op= other` on a list, set or dict; False, and nothing done, for anything else."""
        info = self.machine.world.objects.get(receiver)
        kind = "" if info is None else info.kind
        sequences = self.machine.sequences
        if kind == "dict" and op == "|":
            self.dict_update(receiver, other, state)
        elif kind == "list" and op == "+":
            sequences.extend(receiver, other, state)
        elif kind == "list" and op in _IN_PLACE:
            operation = sequences.repeated if op == "*" else partial(sequences.combined, op)
            state.write(receiver, "items", sequences.held(operation(receiver, other, state), state))
        else:
            return False
        return True

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
                missing = args[1] if len(args) > 1 else raising("KeyError")
                found = expressions.dict_item(receiver, args[0], missing, state)
                self._remove(receiver, self.machine.value(args[0]), state)
                return found
            case "popitem":
                return self._take_last(receiver, state)
            case "clear":
                self._clear(receiver, state)
                return NONE
            case "update":
                done = self.dict_update(receiver, args[0], state) if args else NONE
                for key, value in keywords.items():
                    expressions.set_item(receiver, constant(key), value, state)
                return done
            case "copy":
                copy = self.machine.dict_of({}, state)
                self.dict_update(copy, receiver, state)
                return copy
            case _:
                return self._view(receiver, name, args, state)

    def _remove(self, receiver: Handle, key: Term, state: State) -> None:
        """Take a key out of a dict: what is set under it again comes last."""
        self.machine.expressions.set_item(receiver, key, UNSET, state)
        keys = self.machine.sequences.content(receiver, "keys", state)
        if keys is not None and is_plain_tuple(keys) and key in children(keys):
            state.write(receiver, "keys", self.machine.tuple_of(tuple(k for k in children(keys) if k is not key)))

    def _clear(self, receiver: Handle, state: State) -> None:
        known = {**self.machine.world.base.get(receiver, {}), **state.heap.get(receiver, {})}
        factory = {name: value for name, value in known.items() if name == "factory"}
        state.put(receiver, {**dict.fromkeys(known, UNSET), "keys": self.machine.tuple_of(()), **factory})

    def _take_last(self, receiver: Handle, state: State) -> Term:
        """`popitem()`."""
        keys = self.machine.sequences.items(receiver, state)
        if not keys:
            if keys is not None:
                return raising("KeyError")
            reason = "an item is taken from a dict of unknown content"
            self.machine.calls.builtins.open_dict(receiver, reason, state)
            return self.machine.world.unknown("dict.popitem", reason, self.machine.span)
        value = self.machine.expressions.dict_item(receiver, keys[-1], NONE, state)
        self._remove(receiver, keys[-1], state)
        return self.machine.tuple_of((keys[-1], value))

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
            owner = self.machine.calls.builtins.sequence(receiver, state)
            return opaque(f"dict.{name}()", (owner, *(self.machine.plain(arg) for arg in args)))
        rows = []
        for guard, key in elements:
            value = self.machine.expressions.dict_item(receiver, key, NONE, state)
            pair = self.machine.tuple_of((key, value))
            rows.append((guard, {"values": value, "items": pair}.get(name, key)))
        return tuple_of(rows)

    def dict_update(self, receiver: Handle, other: Term, state: State) -> Term:
        """`receiver.update(other)`; what is no collection fails."""

        def update(leaf: Term, current: State) -> Term:
            if isinstance(leaf, Raise):
                return leaf
            if isinstance(leaf, Constant) and not isinstance(leaf.value, str):
                return raising("TypeError")
            self._update_from(receiver, leaf, current)
            return NONE

        return self.machine.each_leaf(other, state, update)

    def _update_from(self, receiver: Handle, source: Term, state: State) -> None:
        elements = self.machine.sequences.elements(source, state)
        info = self.machine.world.objects.get(source) if isinstance(source, Handle) else None
        if elements is not None and (info is None or info.kind != "dict"):
            self._update_from_pairs(receiver, elements, state)
            return
        if elements is None or not isinstance(source, Handle):
            reason = "a dict takes over what is not known"
            self.machine.calls.builtins.open_dict(receiver, reason, state, source)
            return
        for guard, key in elements:
            value = self.machine.expressions.dict_item(source, key, NONE, state)
            before = self.machine.sequences.content(receiver, item_key(key), state) or UNSET
            self.machine.expressions.set_item(receiver, key, conditional(guard, value, before), state)

    def _update_from_pairs(self, receiver: Handle, elements: list[Element], state: State) -> None:
        """Take over pairs of a key and a value."""
        for guard, element in elements:
            pair = self.machine.sequences.items(element, state)
            if pair is None or len(pair) != _PAIR:
                self.machine.calls.builtins.open_dict(receiver, "a dict takes over what is not known", state, element)
                continue
            key = self.machine.value(pair[0])
            before = self.machine.sequences.content(receiver, item_key(key), state) or UNSET
            self.machine.expressions.set_item(receiver, key, conditional(guard, pair[1], before), state)
