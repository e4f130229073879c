"""What a name stands for once its decorators have run: a decorator of the tree is applied, a few change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import map_leaves
from analyzer.domain.modules import TRANSPARENT_DECORATORS, ClassFacts, Definition
from analyzer.domain.terms import NONE, Atom, Handle, Raise, Term, constant, handle
from analyzer.symbolic.state import Frame, State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

# These make no other function of what they are given: how it is found on a class is settled where it is read.
_BUILTINS: Final = frozenset({"property", "staticmethod", "classmethod"})
_OF_PROPERTIES: Final = frozenset({"setter", "getter", "deleter"})
_REASON: Final = "a decorator that is not followed"


class Decorators:
    """Applies the decorators of functions, methods and classes, each once."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._functions: dict[str, Term | None] = {}
        self._classes: dict[str, Term] = {}
        self._made: set[str] = set()
        # Classes with a decorator that is not followed, which may have replaced any of their methods.
        self._lost_classes: dict[str, str] = {}

    def of_function(self, definition: Definition, owner: str) -> Term | None:
        """What stands for a definition, None for the definition itself."""
        lost = self._lost_class(definition.owner) if definition.owner else None
        if not definition.decorators and lost is None:
            return None
        key = f"{owner}|{definition.key}"
        if key not in self._functions:
            # A decorator that asks for what it decorates gets that itself.
            self._functions[key] = None
            plain = handle("undecorated", key)
            found = self._run(definition.decorators, plain, definition, definition.owner)
            found = found if lost is None else self._lost(found, lost)
            self._functions[key] = None if found is plain else found
        return self._functions[key]

    def of_class(self, key: str) -> Term:
        """What stands for a class; what its decorators set on it is set afterwards."""
        if key not in self._classes:
            facts = self.machine.program.class_facts(key)
            self._classes[key] = handle("class", key)
            found = self._run(facts.decorators, handle("class", key), facts, "")
            while isinstance(found, Handle) and found.kind == "decorated":
                found, name = self.machine.world.bound[found]
                self._lost_classes[key] = str(getattr(name, "value", ""))
            self._classes[key] = found
        return self._classes[key]

    def make_subclass(self, key: str) -> None:
        """Run what an ancestor does to every class that inherits from it, once."""
        if key in self._made:
            return
        self._made.add(key)
        for cls in self.machine.program.mro(key)[1:]:
            hook = cls.methods.get("__init_subclass__")
            if hook is not None:
                machine = self.machine
                span, eager, start = machine.span, machine.eager, machine.world.counter
                state = State(Frame(cls.module, cls.path, cls.line, "<module>"))
                machine.eager = True
                machine.force(machine.calls.body(hook, cls.key, (handle("class", key),), {}, state))
                machine.span, machine.eager = span, eager
                machine.toplevel.keep_made(state, start)
                return

    def _lost_class(self, key: str) -> str | None:
        """The decorator of a class that is not followed, None when there is none."""
        if self.machine.program.class_facts(key).decorators:
            self.of_class(key)
        return self._lost_classes.get(key)

    def _run(self, decorators: Sequence[str], value: Term, place: Definition | ClassFacts, owner: str) -> Term:
        """`value` under decorators that are evaluated where it is defined."""
        if not decorators:
            return value
        machine = self.machine
        span, eager, start = machine.span, machine.eager, machine.world.counter
        state = State(Frame(place.module, place.path, place.line, "<module>"))
        machine.span, machine.eager = state.frame.span(0), True
        expressions = [machine.lowering.expression(text) for text in decorators]
        if owner:
            state.env = machine.toplevel.class_scope(machine.program.class_facts(owner), expressions, place.line)
        found = self.apply(value, expressions, state)
        machine.span, machine.eager = span, eager
        machine.toplevel.keep_made(state, start)
        return found

    def apply(self, value: Term, decorators: Sequence[ir.Expr], state: State) -> Term:
        """`value` under `decorators`, the last of which is applied first."""
        for decorator in reversed(decorators):
            value = self._applied(decorator, value, state)
        return value

    def _applied(self, decorator: ir.Expr, value: Term, state: State) -> Term:
        machine = self.machine
        head = decorator.func if isinstance(decorator, ir.Call) else decorator
        if isinstance(head, ir.Attribute) and head.attr in _OF_PROPERTIES:
            return value
        callee = machine.force(machine.expressions.evaluate(head, state))
        if self._is_transparent(callee):
            return value
        if isinstance(decorator, ir.Call) and isinstance(callee, Handle):
            callee = machine.force(machine.expressions.evaluate(decorator, state))
        if not isinstance(callee, Handle) or callee.kind == "builtin":
            return self._lost(value, _name(head))
        return machine.force(machine.calls.call(callee, (value,), {}, state))

    def _is_transparent(self, callee: Term) -> bool:
        if isinstance(callee, Handle):
            return callee.kind == "builtin" and callee.key in _BUILTINS
        return isinstance(callee, Atom) and callee.name in TRANSPARENT_DECORATORS

    def _lost(self, value: Term, name: str) -> Handle:
        """A callable that does what `value` does, and then something that nobody knows."""
        reference = self.machine.world.fresh("decorated", name)
        self.machine.world.bound[reference] = (value, constant(name))
        return reference

    def result(self, name: str, returned: Term) -> Term:
        """What comes out of a decorator that is not followed, for what was returned inside it."""
        machine, place = self.machine, self.machine.span

        def unknown(leaf: Term) -> Term:
            if leaf is NONE or isinstance(leaf, Raise):
                return leaf
            return machine.world.unknown(f"@{name}", _REASON, place, machine.external_argument(leaf))

        return map_leaves(machine.value(returned), unknown)


def _name(node: ir.Expr) -> str:
    match node:
        case ir.Name(name):
            return name
        case ir.Attribute(value, attr):
            return f"{_name(value)}.{attr}"
        case ir.Call(func):
            return f"{_name(func)}()"
        case _:
            return "?"
