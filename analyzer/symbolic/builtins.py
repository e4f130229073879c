"""Python's builtins and the methods of its basic types, on symbolic values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from analyzer.domain.build import conditional, conjunction, disjunction, is_plain_tuple, map_leaves, truth
from analyzer.domain.operators import TYPES
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    UNSET,
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Raise,
    Symbol,
    Term,
    children,
    constant,
    handle,
    opaque,
    raising,
    symbol,
)
from analyzer.symbolic.attributes import BASIC_METHODS
from analyzer.symbolic.comprehensions import count_of, sum_of
from analyzer.symbolic.containers import tuple_of
from analyzer.symbolic.options import CONFIG
from analyzer.symbolic.presence import is_present
from analyzer.symbolic.state import State
from analyzer.symbolic.world import UNKNOWN_LENGTH, ObjectInfo

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_MAX_RANGE = 512
_DICT = "dict"
_SIMPLE = frozenset({"int", "float", "bool", "str", "abs", "round"})
NAMES = frozenset(
    {
        "int", "float", "bool", "str", "abs", "round", "min", "max", "sum", "len", "range", "any", "all",
        "isinstance", "issubclass", "getattr", "hasattr", "setattr", "delattr", "callable", "list", "tuple", "set",
        "frozenset", "dict", "sorted", "enumerate", "zip", "print", "super", "type", "next", "iter", "id",
        "reversed", "divmod", "map", "filter", "repr", "vars", "object", "hash", "open", "bytes", "staticmethod",
        "classmethod", "property",
    }
)  # fmt: skip  # one name a line would hide the list

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]
Writer = Callable[[Term, str, Term, State], None]


class Builtins:
    """Models of builtins; what has no model is an uninterpreted function of its arguments."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._table: dict[str, Callable[[Arguments, Keywords, State], Term]] = {
            "min": self._extremum("min"),
            "max": self._extremum("max"),
            "sum": self._sum,
            "prod": self._product,
            "len": self._len,
            "range": self._range,
            "any": lambda a, k, s: self._fold(a, s, disjunction, FALSE),
            "all": lambda a, k, s: self._fold(a, s, conjunction, TRUE),
            "isinstance": self._isinstance,
            "getattr": self._getattr,
            "hasattr": self._hasattr,
            "setattr": self._setattr,
            "delattr": self._delattr,
            "object.__getattribute__": self._getattr,
            "object.__setattr__": self._store,
            "object.__new__": self._new,
            "vars": lambda a, k, s: self.machine.attributes.read(a[0], "__dict__", s) if a else opaque("vars"),
            "callable": lambda a, k, s: self._callable(a[0]),
            "list": self._list,
            "tuple": self._tuple,
            "set": self._set,
            "frozenset": self._set,
            "sorted": self._sorted,
            "reversed": self._reversed,
            "dict": self._dict,
            "enumerate": self._enumerate,
            "zip": self._zip,
            "divmod": self._divmod,
            "print": lambda a, k, s: NONE,
            "super": self._super,
            "type": self._type,
            "next": self._next,
            "iter": lambda a, k, s: a[0],
            "staticmethod": self._wrapped("staticmethod"),
            "classmethod": self._wrapped("classmethod"),
            "property": self._wrapped("property"),
            "map": self.machine.higher_order.map,
            "filter": self.machine.higher_order.filter,
            "nothing": lambda a, k, s: NONE,
            "same": lambda a, k, s: a[0],
            "override": lambda a, k, s: self.machine.calls.write_config(k, s),
        }

    def call(self, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """The result of the builtin `name`."""
        model = self._table.get(name)
        if model is not None:
            return model(args, keywords, state)
        if name in _SIMPLE and args:
            return self._cast(name, args, state)
        return opaque(name, self.machine.external_arguments(args))

    def _cast(self, name: str, args: Arguments, state: State) -> Term:
        if name == "bool":
            return self.machine.truth(args[0], state)
        value = self.machine.value(args[0])
        method = self.machine.attributes.special_method(value, f"__{name}__")
        if method is not None:
            return self.machine.calls.call(method, (), {}, state)
        if name == "str" and isinstance(value, Handle | Atom):
            return opaque("str", (self.machine.external_argument(value),))
        return self.machine.apply(name, *args)

    def _extremum(self, op: str) -> Callable[[Arguments, Keywords, State], Term]:
        def extremum(args: Arguments, keywords: Keywords, state: State) -> Term:
            if len(args) == 1:
                items = self.items(args[0], state)
                if items is None:
                    return self._reduce(op, args[0], keywords, state)
                args = items
            if "default" in keywords and not args:
                return keywords["default"]
            if "key" in keywords and len(args) > 1:
                return self._by_key(op, args, keywords["key"], state)
            if not args:
                return raising("ValueError")
            return self.machine.apply(op, *args) if len(args) > 1 else self.machine.value(args[0])

        return extremum

    def _by_key(self, op: str, items: Arguments, key: Term, state: State) -> Term:
        """The first of the elements for which the key is largest or smallest."""
        best, measure = items[0], self.machine.value(self.machine.calls.call(key, (items[0],), {}, state))
        for item in items[1:]:
            other = self.machine.value(self.machine.calls.call(key, (item,), {}, state))
            better = self.machine.apply(">" if op == "max" else "<", other, measure)
            best, measure = conditional(better, item, best), conditional(better, other, measure)
        return best

    def _reduce(self, op: str, sequence: Term, keywords: Keywords, state: State) -> Term:
        whole = self.machine.sequences.term(sequence, state)
        if whole is None or "key" in keywords:
            value = self.sequence(sequence, state)
            return self.machine.world.unknown(f"{op} of", UNKNOWN_LENGTH, self.machine.span, value)
        # The sequence says what it holds; nothing is lost.
        found = self.machine.canonical(opaque(f"{op} of", (whole,)))
        if "default" not in keywords:
            return found
        return conditional(self.machine.sequences.truth(whole, state) or TRUE, found, keywords["default"])

    def items(self, sequence: Term, state: State) -> Arguments | None:
        """The elements of a sequence whose length is known."""
        return self.machine.sequences.items(sequence, state)

    def content(self, container: Handle, name: str, state: State) -> Term | None:
        """What a container holds under `name`."""
        return self.machine.sequences.content(container, name, state)

    def opened(self, container: Handle, state: State) -> Term | None:
        """What made the keys of a dict unknown; None when they are known."""
        unknown = self.content(container, "open", state)
        return None if unknown is UNSET else unknown

    def open_dict(self, container: Handle, reason: str, state: State, *args: Term) -> None:
        """From now on a dict may hold more than is known."""
        plain = map(self.machine.plain, args)
        state.write(container, "open", self.machine.world.unknown("dict item", reason, self.machine.span, *plain))

    def sequence(self, value: Term, state: State) -> Term:
        """A sequence of unknown length as an argument: what made a container unknown stands for it."""
        found = state.refine(self.machine.value(value))
        info = self.machine.world.objects.get(found) if isinstance(found, Handle) else None
        if isinstance(found, Handle) and info is not None:
            unknown = self.opened(found, state) or self.content(
                found, "keys" if info.kind == "dict" else "items", state
            )
            if unknown is not None and not (isinstance(unknown, Apply) and unknown.op == "tuple"):
                return self.machine.external_argument(unknown)
        return self.machine.external_argument(found)

    def _sum(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        start = args[1] if len(args) > 1 else keywords.get("start", constant(0))
        return self.machine.each_leaf(args[0], state, lambda leaf, s: self._sum_leaf(leaf, start, s))

    def _sum_leaf(self, leaf: Term, start: Term, state: State) -> Term:
        elements = self.machine.sequences.elements(leaf, state)
        if elements is None:
            counted = sum_of(self.machine.sequences.held(leaf, state))
            if counted is None:
                total = self._reduce("sum", leaf, {}, state)
                return total if start is constant(0) else self.machine.apply("+", start, total)
            elements = [(TRUE, self.machine.canonical(counted))]
            start = NONE if start is constant(0) else start
        total = start
        for guard, item in elements:
            # What is not there adds nothing.
            more = map_leaves(conditional(guard, item, constant(0)), self.machine.value)
            total = more if total is NONE else self.machine.apply("+", total, more)
        return total

    def _product(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`math.prod`."""
        start = keywords.get("start", constant(1))
        return self.machine.each_leaf(args[0], state, lambda leaf, s: self._product_leaf(leaf, start, s))

    def _product_leaf(self, leaf: Term, start: Term, state: State) -> Term:
        elements = self.machine.sequences.elements(leaf, state)
        if elements is None:
            elements = [(TRUE, self._reduce("product", leaf, {}, state))]
        total = start
        for guard, item in elements:
            # What is not there changes nothing.
            more = map_leaves(conditional(guard, item, constant(1)), self.machine.value)
            total = more if total is constant(1) else self.machine.apply("*", total, more)
        return total

    def _len(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        return self.machine.each_leaf(args[0], state, self._len_leaf)

    def _len_leaf(self, leaf: Term, state: State) -> Term:
        method = self.machine.attributes.special_method(leaf, "__len__")
        if method is not None:
            return self.machine.calls.call(method, (), {}, state)
        known = self.machine.sequences.length(leaf, state)
        return map_leaves(self.sequence(leaf, state), self._length) if known is None else known

    def _length(self, content: Term) -> Term:
        if is_plain_tuple(content):
            return constant(len(children(content)))
        return self.machine.canonical(count_of(content) or opaque("len", (content,)))

    def _range(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        values = [self.machine.value(arg) for arg in args]
        bounds = [value.value for value in values if isinstance(value, Constant)]
        # A step of zero is Python's to refuse.
        is_known = len(bounds) == len(values) and all(isinstance(bound, int) for bound in bounds)
        if is_known and bounds[2:] != [0]:
            numbers = range(*(int(bound or 0) for bound in bounds))
            # len() has no answer beyond a machine word.
            if not numbers[_MAX_RANGE:]:
                return self.machine.tuple_of(tuple(constant(number) for number in numbers))
        return opaque("range", values)

    def _fold(self, args: Arguments, state: State, combine: Callable[..., Term], empty: Term) -> Term:
        elements = self.machine.sequences.elements(args[0], state)
        if elements is None:
            name = "any" if empty is FALSE else "all"
            whole = self.machine.sequences.term(args[0], state)
            return opaque(name, (self.sequence(args[0], state) if whole is None else whole,))
        absent = empty if empty is FALSE else TRUE
        answers = (conditional(guard, truth(self.machine.value(item)), absent) for guard, item in elements)
        return combine(*answers) if elements else empty

    def _isinstance(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        return self.machine.each_leaf(args[0], state, lambda leaf, s: self._instance_leaf(leaf, args[1], s))

    def _instance_leaf(self, value: Term, kinds: Term, state: State) -> Term:
        if isinstance(value, Raise):
            return value
        kind = self.machine.force(kinds)
        # An enum is a class here, not its members.
        is_class = isinstance(kind, Handle) and kind.kind == "class"
        wanted = (kind,) if is_class else self.items(kind, state) or (kind,)
        answers = [self._is_instance(self.machine.value(value), kind) for kind in wanted]
        if any(answer is True for answer in answers):
            return TRUE
        if all(answer is False for answer in answers):
            return FALSE
        names = [self._type_name(self.machine.value(value), kind) for kind in wanted]
        if None not in names:
            return self.machine.apply("isinstance", value, *(constant(name) for name in names if name is not None))
        kinds_of = (self.machine.external_argument(kind) for kind in wanted)
        return disjunction(*(opaque("isinstance", (self.machine.plain(value), kind)) for kind in kinds_of))

    def _type_name(self, value: Term, kind: Term) -> str | None:
        """The name of a type that can be asked about where only the inputs say what `value` is.

        A record of the rules may be of any class that the project has for it: that is for the kind of the model.
        """
        is_input = isinstance(value, Symbol) and not self.machine.rules.is_record(value)
        if isinstance(kind, Atom):
            return kind.name.rsplit(".", 1)[-1] if is_input else None
        if not isinstance(kind, Handle):
            return None
        if kind.kind == "builtin":
            return kind.key if kind.key in TYPES or kind.key == _DICT else None
        return kind.key.rsplit(":", 1)[-1] if kind.kind == "class" and is_input else None

    def _is_instance(self, value: Term, kind: Term) -> bool | None:
        if isinstance(kind, Handle) and kind.kind == "builtin":
            if self.machine.rules.is_record(value):
                return False
            if kind.key in TYPES:
                return _has_type(value, TYPES[kind.key])
            if kind.key == _DICT and isinstance(value, Handle):
                return self._is_dict(value)
        if isinstance(kind, Handle) and kind.kind == "class":
            own = self._own_class(value)
            if own is not None:
                return any(cls.key == kind.key for cls in self.machine.program.mro(own))
        return False if isinstance(value, Constant) else None

    def _own_class(self, value: Term) -> str | None:
        """The key of the analysed class that a value is of; None when that is not known."""
        if value is CONFIG:
            declaring = self.machine.options.declaring_class()
            return None if declaring is None else declaring.key
        info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
        return self.machine.attributes.enum_classes.get(value) if info is None else info.class_key

    def _is_dict(self, value: Handle) -> bool | None:
        info = self.machine.world.objects.get(value)
        if info is None:
            return False
        if info.class_key is None:
            return info.kind == _DICT
        return None if _DICT in self.machine.program.base_names(info.class_key) else False

    def _getattr(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        return self.machine.each_leaf(args[1], state, lambda leaf, s: self._get_named(args, leaf, s))

    def _get_named(self, args: Arguments, name: Term, state: State) -> Term:
        """The attribute that `name` turns out to be; an unknown one may be any that the object has."""
        if not isinstance(name, Constant) or not isinstance(name.value, str):
            found: Term = opaque("getattr", tuple(self.machine.plain(arg) for arg in args))
            for known in self.machine.attributes.known_names(args[0], state):
                same = self.machine.apply("==", self.machine.external_argument(name), constant(known))
                found = conditional(same, self.machine.attributes.read(args[0], known, state), found)
            return found
        attribute, default = name.value, args[2:]
        if not default:
            return self.machine.attributes.read(args[0], attribute, state)
        return self.machine.each_leaf(
            args[0],
            state,
            lambda leaf, s: self.machine.branch(
                self.machine.attributes.has(leaf, attribute, s),
                s,
                lambda inner: self.machine.attributes.read(leaf, attribute, inner),
                lambda inner: default[0],
            ),
        )

    def _hasattr(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        name = self.machine.value(args[1])
        if not isinstance(name, Constant) or not isinstance(name.value, str):
            return opaque("hasattr", tuple(self.machine.plain(arg) for arg in args))
        return self.machine.attributes.has(args[0], name.value, state)

    def _setattr(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        target, name, value = args
        write = self.machine.attributes.write
        self.machine.each_leaf(name, state, lambda leaf, s: self._set_named(target, leaf, value, s, write))
        return NONE

    def _new(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """An instance of a class before it is initialized."""
        cls = self.machine.force(args[0])
        if isinstance(cls, Handle) and cls.kind == "class":
            return self.machine.world.allocate(ObjectInfo("instance", cls.key))
        return opaque("object.__new__", self.machine.external_arguments(args))

    def _delattr(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        name = self.machine.value(args[1])
        if isinstance(name, Constant) and isinstance(name.value, str):
            self.machine.attributes.delete(args[0], name.value, state)
            return NONE
        reason = "an attribute of a computed name is deleted"
        for known in self.machine.attributes.known_names(args[0], state):
            lost = self.machine.world.unknown(known, reason, self.machine.span, self.machine.plain(name))
            self.machine.attributes.store(args[0], known, lost, state)
        return NONE

    def _store(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`setattr` behind any hook of the class."""
        target, name, value = args
        write = self.machine.attributes.store
        self.machine.each_leaf(name, state, lambda leaf, s: self._set_named(target, leaf, value, s, write))
        return NONE

    def _set_named(self, target: Term, name: Term, value: Term, state: State, write: Writer) -> Term:
        """Set the attribute that `name` turns out to be; an unknown one may be any that the object has."""
        attributes = self.machine.attributes
        if isinstance(name, Constant) and isinstance(name.value, str):
            write(target, name.value, value, state)
            return NONE
        for known in attributes.known_names(target, state):
            same = self.machine.apply("==", self.machine.external_argument(name), constant(known))
            before = attributes.read(target, known, state)
            write(target, known, conditional(same, value, before), state)
        return NONE

    def _callable(self, value: Term) -> Term:
        forced = self.machine.force(value)
        if isinstance(forced, Handle):
            return constant(forced.kind in ("function", "bound", "partial", "class", "closure", "builtin", "method"))
        if isinstance(forced, Constant):
            return FALSE
        if isinstance(forced, Conditional):
            return map_leaves(forced, self._callable)
        is_member = isinstance(forced, Symbol) and self.machine.rules.is_record(symbol(forced.name.rpartition(".")[0]))
        # What is called of a record is a method of it.
        return is_present(forced) if is_member else opaque("callable", (forced,))

    def _list(self, args: Arguments, keywords: Keywords, state: State) -> Handle:
        """A new list of the same elements."""
        copy = self.machine.list_of((), state)
        if args:
            self.machine.sequences.extend(copy, args[0], state)
        return copy

    def _dict(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        made = self.machine.dict_of({}, state)
        done = self.machine.methods.of_dict(made, "update", args, keywords, state)
        return map_leaves(done, lambda leaf: made if leaf is NONE else leaf)

    def _set(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        return self.machine.sequences.as_set(self._list(args, keywords, state), state)

    def _sorted(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        found = self._list(args, keywords, state)
        return self.machine.sequences.sorted(found, keywords.get("reverse", FALSE), state, keywords.get("key"))

    def _tuple(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        if not args:
            return self.machine.tuple_of(())
        elements = self.machine.sequences.elements(args[0], state)
        return self.machine.sequences.held(args[0], state) if elements is None else tuple_of(elements)

    def _reversed(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        items = self.items(args[0], state)
        return (
            opaque("reversed", (self.sequence(args[0], state),))
            if items is None
            else self.machine.tuple_of(items[::-1])
        )

    def _enumerate(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        items = self.items(args[0], state)
        start = self.machine.value(args[1] if len(args) > 1 else keywords.get("start", constant(0)))
        if items is None:
            sequence = self.sequence(args[0], state)
            return opaque("enumerate", (sequence,) if start is constant(0) else (sequence, start))
        numbers = (self.machine.apply("+", start, constant(i)) for i in range(len(items)))
        return self.machine.tuple_of(tuple(map(self.machine.tuple_of, zip(numbers, items, strict=True))))

    def _divmod(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        return self.machine.tuple_of((self.machine.apply("//", *args), self.machine.apply("%", *args)))

    def _zip(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        columns = [self.items(arg, state) for arg in args]
        known = [column for column in columns if column is not None]
        if len(known) != len(columns):
            return opaque("zip", tuple(self.sequence(arg, state) for arg in args))
        return self.machine.tuple_of(tuple(self.machine.tuple_of(row) for row in zip(*known, strict=False)))

    def _super(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        owner = state.frame.owner
        receiver = next(iter(state.env.values()), NONE)
        reference = self.machine.world.fresh("super")
        self.machine.world.bound[reference] = (constant(owner or ""), receiver)
        return reference

    def _type(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        value = self.machine.force(args[0])
        info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
        if info is not None and info.class_key is not None:
            return handle("class", info.class_key)
        return opaque("type", (self.machine.plain(value),))

    def _wrapped(self, kind: str) -> Callable[[Arguments, Keywords, State], Term]:
        """A function for the body of a class, marked with how it is read there."""
        return lambda args, keywords, state: self.machine.members.wrapped(
            kind, args[0] if args else keywords.get("fget", NONE)
        )

    def _next(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        items = self.items(args[0], state)
        if items is None:
            return opaque("next", (self.sequence(args[0], state), *args[1:]))
        if items:
            return items[0]
        return args[1] if len(args) > 1 else raising("StopIteration")

    # ---- methods of basic types ----------------------------------------------------------

    def method(self, receiver: Term, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """A method of a string, list, dict or tensor."""
        if isinstance(receiver, Handle) and receiver.kind == "object":
            kind = self.machine.world.objects[receiver].kind
            if kind == "list":
                return self.machine.methods.of_list(receiver, name, args, keywords, state)
            if kind == "dict":
                return self.machine.methods.of_dict(receiver, name, args, keywords, state)
            if name == "_replace":
                return self.machine.calls.externals.replace((receiver,), keywords, state)
            return self._tensor_method(receiver, name, args, keywords, state)
        if isinstance(receiver, Handle) and receiver.kind == "namespace":
            return self.machine.methods.of_namespace(receiver, name, args, keywords, state)
        if name == "split":
            return self._split(receiver, args)
        if name in BASIC_METHODS:
            return self.machine.apply(name, receiver, *args)
        self.machine.higher_order.hand_over(f".{name}()", args, state)
        return opaque(f".{name}()", (self.machine.plain(receiver), *(self.machine.plain(arg) for arg in args)))

    def _split(self, receiver: Term, args: Arguments) -> Term:
        """The parts of a string, known when the string and what parts it are."""
        values = [self.machine.value(part) for part in (receiver, *args)]
        texts = [value.value for value in values if isinstance(value, Constant)]
        if len(texts) == len(values) and all(isinstance(text, str) for text in texts):
            return self.machine.tuple_of(tuple(map(constant, str.split(*texts))))  # type: ignore[arg-type]  # all are strings
        return self.machine.apply("split", *values)

    def _tensor_method(self, receiver: Handle, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        if name in ("item", "tolist"):
            return self.content(receiver, "value", state) or opaque("tensor.item")
        if name == "to":
            return self._converted(receiver, args, keywords, state)
        if name in ("cuda", "cpu", "clone", "detach", "contiguous"):
            return receiver
        dtype, shape = (self.content(receiver, part, state) for part in ("dtype", "shape"))
        if name == "element_size" and dtype is not None:
            return self.machine.calls.externals.element_size(self.machine.value(dtype))
        if name == "numel" and shape is not None:
            return self._product((shape,), {}, state)
        if name == "size" and shape is not None:
            return shape if not args else self.machine.expressions.item(shape, self.machine.value(args[0]), state)
        return opaque(f"tensor.{name}")

    def _converted(self, tensor: Handle, args: Arguments, keywords: Keywords, state: State) -> Term:
        """`tensor.to(...)`: a dtype without a keyword is not told from a device, so the one from before is not kept."""
        if "dtype" not in keywords and (not args or self.content(tensor, "dtype", state) is None):
            return tensor
        found = {part: self.content(tensor, part, state) for part in ("value", "shape")}
        kept = {part: held for part, held in found.items() if held is not None}
        if "dtype" in keywords:
            kept["dtype"] = keywords["dtype"]
        return self.machine.world.container("tensor", state, kept)


def _has_type(value: Term, kind: type) -> bool | None:
    """Whether `value` is of a basic type; None when that depends on the inputs."""
    if isinstance(value, Constant):
        return isinstance(value.value, kind)
    return False if isinstance(value, Handle | Atom) else None
