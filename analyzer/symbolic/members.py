"""What classes provide: methods, properties, and functions and values that their bodies assign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.domain.build import map_leaves
from analyzer.domain.modules import ClassFacts, Definition, Field
from analyzer.domain.terms import NONE, UNSET, Handle, Term, handle
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_PROPERTIES: Final = frozenset({"property", "cached_property"})
# What becomes a method when it is found on a class.
_FUNCTIONS: Final = frozenset({"function", "undecorated", "closure", "decorated"})


def is_decorated(definition: Definition, *names: str) -> bool:
    """Whether one of the decorators of `definition` is called so."""
    return any(decorator.split(".")[-1] in names for decorator in definition.decorators)


class Members:
    """Looks names up on classes, as Python does for an instance and for the class itself."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def of_instance(self, target: Term, key: str, name: str, state: State) -> Term | None:
        """What `name` means on an instance: a property's value, a bound method or a class attribute."""
        for cls in self.machine.program.mro(key):
            found = state.heap.get(handle("class", cls.key), {}).get(name) or self._own(cls, name)
            if isinstance(found, Definition):
                return self._method(target, found, cls.key, state)
            value = None if found is None else self._value(cls, found)
            # A field without a default leaves nothing on the class.
            if value is not None and value is not UNSET:
                return self._on_instance(target, cls.key, value, state)
        return None

    def _method(self, target: Term, definition: Definition, owner: str, state: State) -> Term:
        """A method of an instance, or the value of a property."""
        bound = self.bind(target, definition, owner)
        if is_decorated(definition, *_PROPERTIES):
            return self.machine.calls.call(bound, (), {}, state)
        decorated = self.machine.decorators.of_function(definition, owner)
        if isinstance(decorated, Handle) and decorated.kind == "object":
            # An object in the place of a method is bound only when it binds itself.
            return self._on_instance(target, owner, decorated, state)
        return bound

    def of_class(self, target: Handle, key: str, name: str, state: State) -> Term | None:
        """What `name` means on the class itself."""
        for cls in self.machine.program.mro(key):
            found = state.heap.get(handle("class", cls.key), {}).get(name) or self._own(cls, name)
            if isinstance(found, Definition):
                if is_decorated(found, "classmethod"):
                    return self.bind(target, found, cls.key)
                return handle("function", f"{cls.key}|{found.key}")
            value = None if found is None else self._value(cls, found)
            if value is not None and value is not UNSET:
                return map_leaves(value, lambda leaf: self._on_class(target, leaf))
        return None

    def _own(self, cls: ClassFacts, name: str) -> Definition | Field | Term | None:
        """What the body of `cls` binds `name` to last; what was set on the class afterwards."""
        written = self.machine.world.base.get(handle("class", cls.key), {}).get(name)
        if written is not None:
            return written
        method, field = cls.methods.get(name), cls.fields.get(name)
        if field is None or field.value is None:
            return method
        return field if method is None or method.line < field.line else method

    def _value(self, cls: ClassFacts, found: Field | Term) -> Term:
        return self.machine.toplevel.field_value(cls, found) if isinstance(found, Field) else found

    def _on_instance(self, target: Term, owner: str, value: Term, state: State) -> Term:
        """A value that was found on a class, read through an instance."""
        return self.machine.each_leaf(value, state, lambda leaf, s: self._instance_leaf(target, owner, leaf, s))

    def _instance_leaf(self, target: Term, owner: str, leaf: Term, state: State) -> Term:
        if not isinstance(leaf, Handle):
            return leaf
        wrapped = self.machine.world.bound.get(leaf)
        if leaf.kind == "property" and wrapped is not None:
            return self.machine.calls.call(wrapped[0], (target,), {}, state)
        if leaf.kind in ("staticmethod", "classmethod"):
            return self._on_class(self.class_of(target, owner), leaf)
        if leaf.kind == "object" and self._binds(leaf):
            get = self.machine.attributes.read(leaf, "__get__", state)
            return self.machine.calls.call(get, (target, self.class_of(target, owner)), {}, state)
        return self.bound(leaf, target, leaf.key) if leaf.kind in _FUNCTIONS else leaf

    def _binds(self, value: Handle) -> bool:
        """Whether an object on a class says itself what it is worth on an instance."""
        info = self.machine.world.objects.get(value)
        key = None if info is None else info.class_key
        return key is not None and self.machine.attributes.find_method(key, "__get__") is not None

    def _on_class(self, target: Handle, leaf: Term) -> Term:
        """A value that was found on a class, read through the class."""
        if not isinstance(leaf, Handle) or leaf.kind not in ("staticmethod", "classmethod"):
            return leaf
        function = self.machine.world.bound[leaf][0]
        return function if leaf.kind == "staticmethod" else self.bound(function, target, "classmethod")

    def bind(self, target: Term, definition: Definition, owner: str) -> Handle:
        """The method that `definition` is on `target`."""
        function = handle("function", f"{owner}|{definition.key}")
        if is_decorated(definition, "staticmethod"):
            return function
        if is_decorated(definition, "classmethod"):
            target = target if isinstance(target, Handle) and target.kind == "class" else self.class_of(target, owner)
        return self.bound(function, target, definition.name)

    def bound(self, function: Term, target: Term, name: str) -> Handle:
        """A function with its first argument."""
        reference = self.machine.world.fresh("bound", name)
        self.machine.world.bound[reference] = (function, target)
        return reference

    def wrapped(self, kind: str, function: Term) -> Handle:
        """A function with a mark that tells how it is read on a class."""
        reference = self.machine.world.fresh(kind)
        self.machine.world.bound[reference] = (function, NONE)
        return reference

    def class_of(self, target: Term, owner: str) -> Handle:
        """The class of an instance, `owner` when it is not known."""
        info = self.machine.world.objects.get(target) if isinstance(target, Handle) else None
        return handle("class", (info.class_key if info is not None else None) or owner)
