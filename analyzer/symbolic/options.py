"""The options of the user: the class that declares them, what was written to it, and groups of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analyzer.domain.modules import ClassFacts, Field
from analyzer.domain.syntax import Argument, Assign, Literal, Name, Sequence
from analyzer.domain.terms import NONE, Constant, Handle, Symbol, Term, constant, handle
from analyzer.symbolic.effects import walk_syntax
from analyzer.symbolic.presence import where_set
from analyzer.symbolic.state import State
from analyzer.symbolic.world import ObjectInfo, SymbolFormula

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

CONFIG = handle("object", "config")
BAG = handle("bag", "")


class Options:
    """Access to the one object that holds the options, whatever passes it around."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._declared: dict[str, tuple[ClassFacts, Field]] | None = None

    def declaring_class(self) -> ClassFacts | None:
        """The class whose fields are the user's options."""
        for module in self.machine.rules.anchors["config_modules"]:
            for name in self.machine.rules.anchors["config_classes"]:
                found = self.machine.program.resolve(module, name)
                if found is not None and found.kind == "class":
                    return self.machine.program.class_facts(found.key)
        return None

    def read(self, name: str, state: State) -> Term:
        """An option: what was written to it on the way, else the user's input."""
        override = state.heap.get(CONFIG)
        if override is not None and name in override:
            if name not in self.machine.rules.anchors["kept_options"]:
                return state.refine(where_set(override[name], state))
            return self._kept_option(name, override[name])
        cls = self.declaring_class()
        field = self.field(name)
        if field is None and cls is not None:
            method = self.machine.attributes.find_method(cls.key, name)
            if method is not None:
                member = self.machine.attributes.class_member(CONFIG, ObjectInfo("instance", cls.key), name, state)
                assert member is not None
                return member
        made = self._made_default(field) if CONFIG in self.machine.world.objects else None
        return self._input(name, field) if made is None else made

    def _made_default(self, field: tuple[ClassFacts, Field] | None) -> Handle | None:
        """The object that an option holds when it is no value that a user gives."""
        if field is None or "default_factory" not in (field[1].value or ""):
            return None
        value = self.machine.toplevel.field_value(*field)
        info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
        return value if isinstance(value, Handle) and info is not None and info.class_key is not None else None

    def _kept_option(self, name: str, written: Term) -> Term:
        """An option that SGLang chooses on the way: a symbol, with what was chosen as its formula."""
        self.machine.world.define(name, name, SymbolFormula.of(lambda: self.machine.value(written)))
        return self.machine.input(name, f"server_args.{name}", lambda: None)

    def is_declared(self, name: str) -> bool:
        """Whether the class of the options has a field or a method of this name."""
        cls = self.declaring_class()
        return self.field(name) is not None or (
            cls is not None and self.machine.attributes.find_method(cls.key, name) is not None
        )

    def field(self, name: str) -> tuple[ClassFacts, Field] | None:
        """The declaration of an option."""
        cls = self.declaring_class()
        if cls is None:
            return None
        if self._declared is None:
            owners = (*self.machine.program.mro(cls.key), *self._listed(cls.module))
            self._declared = {
                field.name: (owner, field) for owner in reversed(owners) for field in owner.fields.values()
            }
        return self._declared.get(name)

    def _listed(self, module: str) -> Iterator[ClassFacts]:
        """The classes that a module lists because they declare options."""
        program, lists = self.machine.program, self.machine.rules.anchors["option_lists"]
        facts = program.module(module)
        for statement in () if facts is None else facts.statements:
            if statement.names.isdisjoint(lists):
                continue
            for node in self.machine.lowering.statements(statement.text):
                listed = node.value.items if isinstance(node, Assign) and isinstance(node.value, Sequence) else ()
                found = (program.resolve(module, item.id) for item in listed if isinstance(item, Name))
                yield from (program.class_facts(cls.key) for cls in found if cls is not None and cls.kind == "class")

    def given(self, name: str) -> Symbol | None:
        """The symbol of what the user gives for an option; None where the rules have a formula for it."""
        found = self._input(name, self.field(name))
        return found if isinstance(found, Symbol) else None

    def _input(self, name: str, field: tuple[ClassFacts, Field] | None) -> Term:
        origin = self.machine.origins.get(f"ServerArgs.{name}")
        if origin is not None and not isinstance(origin, Symbol):
            return origin
        canonical = origin.name if isinstance(origin, Symbol) else name
        return self.machine.input(canonical, f"server_args.{name}", lambda: self._default(field))

    def _default(self, field: tuple[ClassFacts, Field] | None) -> Term | None:
        if field is None or field[1].value is None:
            return None
        cls, declared = field
        value = self.machine.value(self.machine.toplevel.field_value(cls, declared))
        if value is NONE:
            return self._fallback(declared)
        return value if isinstance(value, Constant) else None

    def _fallback(self, declared: Field) -> Term:
        """What an option without a default is where nobody gives it, as its declaration says."""
        keywords = self.machine.rules.anchors["option_fallbacks"]
        if declared.annotation is None or not any(f"{keyword}=" in declared.annotation for keyword in keywords):
            return NONE
        for node in walk_syntax(self.machine.lowering.expression(declared.annotation)):
            if isinstance(node, Argument) and node.keyword in keywords and isinstance(node.value, Literal):
                return constant(node.value.value)
        return NONE

    def read_group(self, name: str, state: State) -> Term:
        """A group of options: a name that is no option is a group inside it."""
        override = state.heap.get(CONFIG)
        if (override is not None and name in override) or self.field(name) is not None:
            return self.read(name, state)
        if name == "override":
            return handle("builtin", "override")
        return handle("bag", name)

    def of_group(self, term: Handle) -> Term:
        """A group used as a value was an option after all."""
        return self._input(term.key, None)
