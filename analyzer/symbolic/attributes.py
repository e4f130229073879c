"""Reading and writing attributes: objects, classes, modules, configuration, unknown things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.domain.build import leaves, map_leaves
from analyzer.domain.modules import ClassFacts, Definition
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    UNSET,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    atom,
    constant,
    handle,
    is_absent,
    opaque,
    raising,
    symbol,
    walk,
)
from analyzer.symbolic.comprehensions import range_end
from analyzer.symbolic.dtypes import element_size, integer_limit
from analyzer.symbolic.kinds import note_kind
from analyzer.symbolic.options import BAG, CONFIG
from analyzer.symbolic.presence import is_present, is_set, where_set
from analyzer.symbolic.registries import is_registry
from analyzer.symbolic.state import State, is_cell
from analyzer.symbolic.world import ObjectInfo, SymbolFormula

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

# So many objects an expression may stand for before it is looked at branch by branch.
_MAX_OBJECTS = 4096
# Methods of texts and numbers that are operations of the formula language.
BASIC_METHODS = frozenset({"upper", "lower", "strip", "split", "startswith", "endswith", "bit_length"})
ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_NUMBER_ENUMS = frozenset({"IntEnum", "IntFlag"})
_OWN = "own "
# What is read of a tensor without a call.
_OF_TENSORS = frozenset({"dtype", "shape", "device"})


def _constructed_in(cls: ClassFacts, name: str) -> str | None:
    """What the constructor of `cls` calls to make its attribute `name`, read off its text."""
    if "__init__" not in cls.methods:
        return None
    found = re.search(rf"self\.{re.escape(name)}\s*(?::[^=\n]+)?=\s*([A-Za-z_][\w.]*)\(", cls.methods["__init__"].text)
    return None if found is None else found.group(1)


class Attributes:
    """Attribute access for every kind of value."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._running: set[Handle] = set()
        self.enum_classes: dict[Term, str] = {}

    # ---- reading -------------------------------------------------------------------------

    def read(self, target: Term, name: str, state: State) -> Term:
        """`target.name`."""
        anywhere = self.machine.origins.get(f"*.{name}")
        if anywhere is not None:
            return anywhere
        term = state.refine(self.machine.force(target))
        if isinstance(term, Conditional) and self._is_stored(term, name, state):
            # Nothing is run to read it, so what branches share is read once.
            return map_leaves(term, lambda leaf: self._read_leaf(leaf, name, state))
        return self.machine.each_leaf(term, state, lambda leaf, s: self._read_leaf(leaf, name, s))

    def held(self, target: Term, name: str, state: State) -> Term:
        """What an object holds in the end: UNSET on the ways on which nobody has set it, where a read would raise."""
        written = state.heap.get(target, {}).get(name)
        return written if isinstance(written, Conditional) else self.read(target, name, state)

    def _is_stored(self, term: Conditional, name: str, state: State) -> bool:
        """Whether every object that `term` can be holds the attribute `name`, or a boundary stands for it."""
        found = leaves(term, _MAX_OBJECTS)
        return found is not None and all(self._holds(leaf, name, state) for leaf in found)

    def _holds(self, leaf: Term, name: str, state: State) -> bool:
        if isinstance(leaf, Raise) or is_absent(leaf):
            return True
        info = self.machine.world.objects.get(leaf) if isinstance(leaf, Handle) else None
        if info is None or info.class_key is None or leaf is CONFIG or not isinstance(leaf, Handle):
            return False
        if self._hook(leaf, "__getattribute__", state) is not None:
            return False
        if name in state.heap.get(leaf, {}) or self._origin(info.class_key, name) is not None:
            return True
        if info.initializer is not None and leaf not in self._running:
            self._initialize(leaf, info)
        return info.initializer is None and name in self.machine.world.base.get(leaf, {})

    def read_for_merge(self, state: State, target: Term, name: str) -> Term:
        """The value an attribute has in a state that never wrote it."""
        if isinstance(target, Handle) and target.kind == "device":
            return FALSE
        if is_cell(target) or name.startswith(_OWN):
            return self.machine.world.base.get(target, {}).get(name, UNSET)
        info = self.machine.world.objects.get(target) if isinstance(target, Handle) else None
        if target is CONFIG and info is not None and not self.machine.options.is_declared(name):
            return UNSET
        if info is not None and target is not CONFIG and info.kind == "instance" and info.initializer is None:
            base = self.machine.world.base.get(target, {})
            if name in base:
                return base[name]
            initial = self._initial(info, name)
            if initial is not None:
                return initial
            found = self.class_member(target, info, name, state) if info.class_key else None
            return UNSET if found is None else found
        if info is not None and info.kind in ("list", "dict", "tensor"):
            return self.machine.world.base.get(target, {}).get(name, UNSET)
        # What is only carried along is read by whoever reads what becomes of it.
        with self.machine.unnoted():
            return state.refine(self._read_leaf(target, name, state.fork()))

    def _read_leaf(  # noqa: C901 - one case for each kind of value
        self, target: Term, name: str, state: State
    ) -> Term:
        if self.machine.rules.is_record(target) or (
            isinstance(target, Handle) and target.kind in ("object", "bag") and not self._is_boundary(target, name)
        ):
            self.machine.note_read(target, name)
        if isinstance(target, Handle) and target.kind == "class" and self._is_variable(target.key, name):
            self.machine.note_read(target, name)
        hooked = self._read_hooked(target, name, state)
        if hooked is not None:
            return hooked
        override = state.heap.get(target)
        if override is not None and name in override and not self._is_boundary(target, name):
            return state.refine(where_set(override[name], state))
        match target:
            case Handle(kind, _):
                return state.refine(self._read_handle(target, kind, name, state))
            case Atom(base):
                return self._read_atom(target, base, name, state)
            case Symbol(base) if name not in BASIC_METHODS:
                return self._read_alias(target, name, state) or self._read_symbol(base, name)
            case Raise():
                return target
            case Constant(None):
                return raising("AttributeError")
            case Constant() | Symbol():
                return self._method(target, name)
            case _ if name in BASIC_METHODS:
                return self._method(target, name)
            case _:
                return self._read_unknown(target, name)

    def _is_variable(self, key: str, name: str) -> bool:
        """Whether a class binds a name to what may be another value later."""
        program = self.machine.program
        return any(name in cls.fields for cls in program.mro(key)) and not program.base_names(key) & ENUM_BASES

    def _read_unknown(self, target: Term, name: str) -> Term:
        size = element_size(target) if name == "itemsize" else None
        if size is not None:
            return size
        if name == "itemsize":
            return self.machine.canonical(opaque("element_size", (target,)))
        known = integer_limit(target, name) or range_end(target, name) or self._declared(target, name)
        return opaque(f".{name}", (target,)) if known is None else known

    def _declared(self, target: Term, name: str) -> Term | None:
        """A field of the class that a function says to return: what the class has there, until somebody sets it."""
        function = self.machine.world.returned_by.get(target)
        if function is None:
            return None
        program = self.machine.program
        returned = program.annotated_class(function.module, function.returns)
        family = () if returned is None else program.mro(returned.key)
        owner = next((cls for cls in family if name in cls.fields), None)
        if owner is None:
            return None
        label, declared = f"{owner.name}.{name}", owner.fields[name]
        value = NONE if declared.value is None else self.machine.toplevel.field_value(owner, declared)
        is_given = declared.value is not None and isinstance(value, Constant)
        return self.machine.input(label, label, lambda: value if is_given else None)

    def _method(self, target: Term, name: str) -> Handle:
        """A method of a basic type, bound to its receiver."""
        world = self.machine.world
        reference = world.fresh("method", name)
        world.bound[reference] = (target, constant(name))
        return reference

    def _read_alias(self, target: Symbol, name: str, state: State) -> Term | None:
        """An attribute that was set on the same record under another name, None when none was.

        `hf_text_config` is `hf_config` itself for most models.
        """
        written = {owner for owner, attributes in state.heap.items() if name in attributes and owner is not target}
        if not any(isinstance(owner, Symbol | Opaque) for owner in written):
            return None
        definition = self.machine.world.definition(target.name)
        value = None if definition is None else self.machine.force(definition)
        if value is None or written.isdisjoint(walk(value)):
            return None
        return self.machine.each_leaf(value, state, lambda leaf, s: self._read_leaf(leaf, name, s))

    def _read_symbol(self, base: str, name: str) -> Term:
        origin = self.machine.origins.get(f"{base}.{name}")
        if origin is not None:
            return origin
        return symbol(f"{base}.{name}")

    def _read_atom(self, target: Atom, base: str, name: str, state: State) -> Term:
        if name == "itemsize":
            size = element_size(target)
            if size is not None:
                return size
        member = self._enum_member(target, name, state)
        if member is not None:
            return member
        return atom(f"{base}.{name}")

    def _enum_member(self, target: Atom, name: str, state: State) -> Term | None:
        """An attribute of an enum member: a method, a property, or its name or value."""
        key = self.enum_classes.get(target)
        if key is None:
            return None
        facts = self.machine.program.class_facts(key)
        member = target.name.rsplit(".", 1)[-1]
        if name in ("name", "_name_"):
            return constant(member)
        if name in ("value", "_value_"):
            return self._member_value(facts, member)
        return (
            None if self.find_method(key, name) is None else self.machine.members.of_instance(target, key, name, state)
        )

    def _member_value(self, facts: ClassFacts, member: str) -> Term:
        """What stands behind a member; ``auto()`` counts on from the member before it."""
        value: Term = constant(0)
        for name, field in facts.fields.items():
            own = self.machine.toplevel.field_value(facts, field)
            counts = isinstance(own, Opaque) and own.name.removesuffix("()") == "enum.auto"
            value = self.machine.apply("+", value, constant(1)) if counts and isinstance(value, Constant) else own
            if name == member:
                break
        return value

    def number(self, leaf: Term) -> Term:
        """A member of an enum of numbers as the number that it is; anything else as it is."""
        key = self.enum_classes.get(leaf)
        if key is None or not isinstance(leaf, Atom) or not self.machine.program.base_names(key) & _NUMBER_ENUMS:
            return leaf
        return self._member_value(self.machine.program.class_facts(key), leaf.name.rsplit(".", 1)[-1])

    def _read_handle(  # noqa: C901 - one case for each kind of handle
        self, target: Handle, kind: str, name: str, state: State
    ) -> Term:
        if target is CONFIG:
            return self.machine.options.read(name, state)
        match kind:
            case "object" if name == "__dict__":
                return self._namespace(target)
            case "object" if name == "__class__":
                return self.machine.members.class_of(target, "")
            case "object":
                return self._read_object(target, name, state)
            case "class":
                return self._read_class(target.key, name, state)
            case "module":
                return self.machine.toplevel.read_module(target.key, name)
            case "bag":
                return self.machine.options.read_group(name, state)
            case "namespace":
                return self._method(target, name)
            case "super":
                return self._read_super(target, name)
            case "builtin" if target.key == "object":
                return handle("builtin", f"object.{name}")
            case _:
                return opaque(f".{name}", (opaque(kind),))

    def _read_object(self, target: Handle, name: str, state: State) -> Term:
        world = self.machine.world
        info = world.objects[target]
        if info.kind == "tensor" and name in _OF_TENSORS:
            held = world.base.get(target, {}).get(name)
            return opaque(f".{name}", (opaque("tensor"),)) if held is None else held
        if info.kind in ("list", "dict", "tensor"):
            return self._method(target, name)
        assert info.class_key is not None
        if name == "_replace" and "NamedTuple" in self.machine.program.base_names(info.class_key):
            return self._method(target, name)
        boundary = self._boundary(target, info.class_key, name, state)
        if boundary is not None:
            return boundary
        return self._read_plain(target, info, name, state)

    def _read_plain(self, target: Handle, info: ObjectInfo, name: str, state: State) -> Term:
        """An attribute behind any boundary: heap, constructor, class, or unknown."""
        override = state.heap.get(target)
        if override is not None and name in override:
            return override[name]
        if info.initializer is not None and target not in self._running:
            self._initialize(target, info)
        base = self.machine.world.base.get(target, {})
        if name in base:
            return base[name]
        member = self.class_member(target, info, name, state)
        if member is not None:
            return member
        if info.kind == "instance" and self.find_method(info.class_key or "", "__getattr__") is not None:
            if name in self.machine.rules.anchors["kept_options"]:
                # Whatever the object is a view of, the option has one meaning.
                return self.machine.options.read(name, state)
            hook = self.class_member(target, info, "__getattr__", state)
            assert hook is not None
            return self.machine.calls.call(hook, (constant(name),), {}, state)
        return self._read_symbolic(target, info, name)

    def _initialize(self, target: Handle, info: ObjectInfo) -> None:
        self._running.add(target)
        assert info.initializer is not None
        info.initializer()
        self._running.discard(target)
        info.initializer = None

    def _is_boundary(self, target: Term, name: str) -> bool:
        if target is CONFIG or (isinstance(target, Handle) and target.kind == "bag"):
            return name in self.machine.rules.anchors["kept_options"]
        if not isinstance(target, Handle) or target not in self.machine.world.objects:
            return False
        info = self.machine.world.objects[target]
        is_origin = info.class_key is not None and self._origin(info.class_key, name) is not None
        return is_origin and self._initial(info, name) is None

    def _origin(self, class_key: str, name: str) -> Term | None:
        origins = self.machine.origins
        for owner in self.machine.program.base_names(class_key):
            found = origins.get(f"{owner}.{name}")
            if found is not None:
                return found
        return None

    def _initial(self, info: ObjectInfo, name: str) -> Symbol | None:
        """The symbol that an attribute is until somebody else than its class writes it."""
        origin = None if info.class_key is None else self._origin(info.class_key, name)
        rule = self.machine.rules.symbols.get(origin.name) if isinstance(origin, Symbol) else None
        return origin if isinstance(origin, Symbol) and rule is not None and rule.initial else None

    def _boundary(self, target: Handle, class_key: str, name: str, state: State) -> Term | None:
        """The symbol that the rules keep for this attribute; its own formula is found on demand."""
        origin = self._origin(class_key, name)
        if origin is None:
            return None
        world = self.machine.world
        if isinstance(origin, Symbol):
            owner = class_key.rsplit(":", 1)[-1]
            source = f"{owner}.{name}"
            world.input_sources.setdefault(origin.name, {}).setdefault(source, self.machine.span)
            if self._initial(world.objects[target], name) is None:
                world.define_by(target, origin.name, source, lambda: self._formula(target, name, state))
        elif isinstance(origin, Conditional):
            start, instance = state.fork(), world.objects[target]
            self.machine.backends.assume(start)
            note_kind(world, origin, lambda: self._read_as_of(start, target, instance, name))
        return origin

    def _formula(self, target: Handle, name: str, state: State) -> SymbolFormula:
        """What an attribute holds that the rules keep as a symbol."""
        snapshot, info = state.fork(), self.machine.world.objects[target]
        # The symbol has one formula, whatever the branch assumes in which it is read first.
        self.machine.backends.assume(snapshot)
        return SymbolFormula(
            first=lambda: self._read_as_of(snapshot, target, info, name),
            last=lambda: self._define(target, info, name, snapshot),
        )

    def _define(self, target: Handle, info: ObjectInfo, name: str, snapshot: State) -> Term:
        """The formula behind a boundary; whoever writes the attribute becomes relevant.

        It is read at the end of the run: the first read may lie inside the branch that writes it.
        """
        final = self.machine.final
        if final is not None and name in final.heap.get(target, {}):
            snapshot = final.fork()
        return self._read_as_of(snapshot, target, info, name)

    def _read_as_of(self, snapshot: State, target: Handle, info: ObjectInfo, name: str) -> Term:
        self.machine.note_read(target, name)
        return self.machine.value(self._read_plain(target, info, name, snapshot))

    def class_member(self, target: Term, info: ObjectInfo, name: str, state: State) -> Term | None:
        """A property's value, a bound method or a class attribute."""
        assert info.class_key is not None
        if info.variable and (self._is_record(info, name) or self.machine.toplevel.is_written_anew(info, name)):
            return self._of_some_subclass(info, name)
        return self.machine.members.of_instance(target, info.class_key, name, state)

    def _is_record(self, info: ObjectInfo, name: str) -> bool:
        """Whether what a class has under `name` is only the default of a field that each instance has."""
        family = self.machine.program.mro(info.class_key or "")
        decorators = {decorator.split("(")[0].split(".")[-1] for cls in family for decorator in cls.decorators}
        is_struct = "Struct" in self.machine.program.base_names(info.class_key or "")
        return (is_struct or "dataclass" in decorators) and any(name in cls.fields for cls in family)

    def _of_some_subclass(self, info: ObjectInfo, name: str) -> Term:
        """What the class of a module variable has under `name` depends on which of its subclasses it is."""
        if self.find_method(info.class_key or "", name) is None:
            return self._known_by(info.variable, name)
        if name in self.machine.rules.anchors["machine_readings"]:
            return opaque(f"{info.variable}.{name}")
        reason = "a method that subclasses write anew, of a module variable that is set at run time"
        return self.machine.world.unknown(f"{info.variable}.{name}", reason, self.machine.span)

    def find_method(self, class_key: str, name: str) -> tuple[str, Definition] | None:
        """The class key and definition of the method that `name` means on instances."""
        for cls in self.machine.program.mro(class_key):
            if name in cls.methods:
                return cls.key, cls.methods[name]
        return None

    def special_method(self, target: Term, name: str) -> Term | None:
        """The method called `name` of an object's own class, bound to it; None when it has none."""
        info = self.machine.world.objects.get(target) if isinstance(target, Handle) else None
        if info is None or info.class_key is None:
            return None
        found = self.find_method(info.class_key, name)
        return None if found is None else self.machine.members.bind(target, found[1], found[0])

    def _read_symbolic(self, target: Handle, info: ObjectInfo, name: str) -> Term:
        """An attribute of an instance whose constructor was not seen, or that nothing seen has set."""
        assert info.class_key is not None
        found = self._inferred(info.class_key, name)
        if found is None:
            owner = info.class_key.rsplit(":", 1)[-1]
            found = self._known_by(info.variable, name) if info.variable else self._leaf_symbol(owner, name)
        self.machine.world.base.setdefault(target, {})[name] = found
        return found

    def _known_by(self, variable: str, name: str) -> Term:
        """An attribute of what is known by a name of its own, apart from other instances of its class."""
        label = f"{variable}.{name}"
        origin = self.machine.origins.get(label)
        return self.machine.input(origin.name if isinstance(origin, Symbol) else label, label, lambda: None)

    def _leaf_symbol(self, owner: str, name: str) -> Term:
        rules = self.machine.rules
        if name in rules.symbols:
            return self.machine.input(name, f"{owner}.{name}", lambda: None)
        label = f"{owner}.{name}"
        return self.machine.input(label, label, lambda: None)

    def _inferred(self, class_key: str, name: str) -> Term | None:
        """What an annotation, or an assignment from an annotated parameter, says an attribute is."""
        program = self.machine.program
        for cls in program.mro(class_key):
            annotation = cls.fields[name].annotation if name in cls.fields else None
            if annotation is None and "__init__" in cls.methods:
                annotation = dict(cls.methods["__init__"].parameters).get(name)
            if annotation is None:
                annotation = _constructed_in(cls, name)
            found = self.symbolic_instance(cls.module, annotation, name)
            if found is not None:
                return found
        if name in self.machine.rules.anchors["config_names"]:
            return CONFIG
        return None

    def symbolic_instance(self, module: str, annotation: str | None, name: str) -> Handle | None:
        """An instance of the annotated class, when it is one that is analysed."""
        cls = self.machine.program.annotated_class(module, annotation)
        if cls is None:
            return None
        if cls.name in self.machine.rules.anchors["config_classes"]:
            return CONFIG
        if cls.name in self.machine.rules.anchors["bag_classes"]:
            return BAG
        if self.machine.program.base_names(cls.key) & ENUM_BASES:
            return None
        return self.machine.world.allocate(ObjectInfo("symbolic", cls.key, name))

    # ---- classes and modules -------------------------------------------------------------

    def _read_class(self, key: str, name: str, state: State) -> Term:
        program = self.machine.program
        facts = program.class_facts(key)
        if name == "__name__":
            return constant(facts.name)
        if program.base_names(key) & ENUM_BASES and name in facts.fields:
            member = atom(f"{facts.name}.{name}")
            self.enum_classes[member] = key
            return member
        target = handle("class", key)
        if name not in facts.methods and is_registry(facts):
            self.machine.registries.fill_class(facts)
        found = self.machine.members.of_class(target, key, name, state)
        return opaque(f"{facts.name}.{name}") if found is None else found

    def _read_super(self, target: Handle, name: str) -> Term:
        """A method of the classes after the current one in the receiver's resolution order."""
        world = self.machine.world
        owner, receiver = world.bound[target]
        assert isinstance(owner, Constant)
        assert isinstance(owner.value, str)
        info = world.objects.get(receiver) if isinstance(receiver, Handle) else None
        start = info.class_key if info is not None and info.class_key else owner.value
        order = self.machine.program.mro(start)
        keys = [cls.key for cls in order]
        after = order[keys.index(owner.value) + 1 :] if owner.value in keys else ()
        for cls in after:
            if name in cls.methods:
                return self.machine.members.bind(receiver, cls.methods[name], cls.key)
        if name == "__new__":
            return handle("builtin", "object.__new__")
        if name in ("__getattribute__", "__setattr__"):
            reference = world.fresh("bound", name)
            world.bound[reference] = (handle("builtin", f"object.{name}"), receiver)
            return reference
        return handle("builtin", "nothing")

    # ---- writing -------------------------------------------------------------------------

    def write(self, target: Term, name: str, value: Term, state: State) -> None:
        """`target.name = value`."""

        def assign(leaf: Term, current: State) -> Term:
            if not (isinstance(leaf, Handle) and self._write_hooked(leaf, name, value, current)):
                self.store(leaf, name, value, current)
            return NONE

        self.machine.each_leaf(target, state, assign)

    def store(self, target: Term, name: str, value: Term, state: State) -> None:
        """Set an attribute behind any hook of its class."""

        def assign(leaf: Term, current: State) -> Term:
            owner = CONFIG if isinstance(leaf, Handle) and leaf.kind == "bag" else leaf
            if not isinstance(owner, Raise | Constant):
                current.write(owner, self._slot(owner, name, current), value)
            return NONE

        self.machine.each_leaf(target, state, assign)

    def delete(self, target: Term, name: str, state: State) -> None:
        """`del target.name`: what the class has under that name comes to light."""

        def remove(leaf: Term, current: State) -> Term:
            info = self.machine.world.objects.get(leaf) if isinstance(leaf, Handle) else None
            if not isinstance(leaf, Handle) or info is None or leaf is CONFIG:
                self.store(leaf, name, UNSET, current)
                return NONE
            if info.class_key is None or self._delete_hooked(leaf, info.class_key, name, current):
                return NONE
            if info.initializer is not None and leaf not in self._running:
                self._initialize(leaf, info)
            found = self.class_member(leaf, info, name, current)
            current.write(leaf, self._slot(leaf, name, current), UNSET if found is None else found)
            return NONE

        self.machine.each_leaf(target, state, remove)

    def _delete_hooked(self, target: Handle, class_key: str, name: str, state: State) -> bool:
        """Delete through the deleter of a property; False when there is none."""
        for cls in self.machine.program.mro(class_key):
            deleter = cls.deleters.get(name)
            if deleter is not None:
                self.machine.force(self.machine.calls.body(deleter, cls.key, (target,), {}, state))
                return True
        return False

    def _hook(self, target: Handle, name: str, state: State) -> tuple[str, Definition] | None:
        """The hook `name` of an instance's class; None inside that hook, which sees what is behind it."""
        info = self.machine.world.objects.get(target)
        if info is None or info.class_key is None or target is CONFIG:
            return None
        found = self.find_method(info.class_key, name)
        return None if found is None or found[1].key in state.frame.calls else found

    def _write_hooked(self, target: Handle, name: str, value: Term, state: State) -> bool:
        """Assign through the setter of a property, or through ``__setattr__``; False when neither is there."""
        args: tuple[Term, ...] = (target, constant(name), value)
        hook = self._hook(target, "__setattr__", state)
        if hook is None:
            hook, args = self._setter(target, name, state), (target, value)
        if hook is None:
            return False
        self.machine.force(self.machine.calls.body(hook[1], hook[0], args, {}, state))
        return True

    def _setter(self, target: Handle, name: str, state: State) -> tuple[str, Definition] | None:
        info = self.machine.world.objects.get(target)
        key = None if info is None or target is CONFIG else info.class_key
        for cls in () if key is None else self.machine.program.mro(key):
            if name in cls.setters and cls.setters[name].key not in state.frame.calls:
                return cls.key, cls.setters[name]
        return None

    def _read_hooked(self, target: Term, name: str, state: State) -> Term | None:
        """What ``__getattribute__`` makes of an attribute, None where a class has none."""
        hook = self._hook(target, "__getattribute__", state) if isinstance(target, Handle) else None
        if hook is None:
            return None
        return self.machine.force(self.machine.calls.body(hook[1], hook[0], (target, constant(name)), {}, state))

    def _slot(self, owner: Term, name: str, state: State) -> str:
        """Where a value is kept: what a class writes itself does not hide the symbol that stands for it."""
        info = self.machine.world.objects.get(owner) if isinstance(owner, Handle) else None
        if info is None or info.class_key is None or self._initial(info, name) is None:
            return name
        writes_itself = any(cls.key == state.frame.owner for cls in self.machine.program.mro(info.class_key))
        return _own(name) if writes_itself else name

    def _namespace(self, target: Term) -> Term:
        """The attributes of an instance as a dict: what is done to its items is done to them."""
        reference = self.machine.world.fresh("namespace")
        self.machine.world.bound[reference] = (target, NONE)
        return reference

    def is_copied(self, target: Term) -> bool:
        """Whether a copy of an object is another one: the options are there once. Its constructor has run then."""
        info = self.machine.world.objects.get(target) if isinstance(target, Handle) else None
        if info is None or not isinstance(target, Handle) or target is CONFIG or target in self._running:
            return False
        if info.initializer is not None:
            self._initialize(target, info)
        return True

    def known_names(self, target: Term, state: State) -> tuple[str, ...]:
        """The attributes that an instance is known to have; none of anything else."""
        value = state.refine(self.machine.force(target))
        info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
        if info is None or info.kind != "instance" or value is CONFIG:
            return ()
        return tuple({**self.machine.world.base.get(value, {}), **state.heap.get(value, {})})

    def has(self, target: Term, name: str, state: State) -> Term:
        """`hasattr(target, name)` as a guard."""
        return self.machine.each_leaf(target, state, lambda leaf, s: self._has_leaf(leaf, name, s))

    def _has_leaf(  # noqa: C901 - one case for each kind of value
        self, target: Term, name: str, state: State
    ) -> Term:
        if isinstance(target, Handle) and target.kind == "object":
            self.machine.note_read(target, name)
        override = state.heap.get(target, {})
        for slot in (name, _own(name)):
            if slot in override:
                own = self._read_symbol(target.name, name) if isinstance(target, Symbol) else UNSET
                return is_set(override[slot], own)
        match target:
            case Handle("object", _) if target is not CONFIG:
                return self._object_has(target, name)
            case Handle("module" | "class", _) | Atom():
                # A library is taken to have what its user looks for.
                return TRUE
            case Handle() if target is CONFIG:
                return constant(self.machine.options.is_declared(name))
            case Symbol(base):
                return is_present(self._read_symbol(base, name))
            case Opaque():
                return is_present(opaque(f".{name}", (target,)))
            case Constant():
                return FALSE
            case Raise():
                return target
            case _:
                return opaque("hasattr", (target, constant(name)))

    def _object_has(self, target: Handle, name: str) -> Term:
        info = self.machine.world.objects[target]
        if info.class_key is None:
            return FALSE
        if info.initializer is not None and target not in self._running:
            self._initialize(target, info)
        base = self.machine.world.base.get(target, {})
        if _own(name) in base:
            return is_set(base[_own(name)])
        if name in base or self.find_method(info.class_key, name):
            return TRUE
        if any(name in cls.fields for cls in self.machine.program.mro(info.class_key)):
            return TRUE
        if info.kind == "symbolic" and info.variable:
            # An input of its own, which is there where it is given.
            return is_present(self._known_by(info.variable, name))
        if info.kind == "symbolic":
            return opaque("hasattr", (symbol(info.origin), constant(name)))
        return FALSE


def _own(name: str) -> str:
    """The slot of what a class itself writes to an attribute that a symbol stands for."""
    return _OWN + name
