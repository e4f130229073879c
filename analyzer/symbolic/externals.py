"""Functions outside the analysed package: the few whose meaning the formula depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from analyzer.domain.build import apply, conditional, map_leaves
from analyzer.domain.iteration import BISECTIONS
from analyzer.domain.operators import SEQUENCES
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    UNSET,
    Apply,
    Constant,
    Handle,
    Raise,
    Term,
    constant,
    handle,
    opaque,
    raising,
    raw_apply,
)
from analyzer.symbolic.dtypes import element_size
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]
# The device as a heap object.
_DEVICE = handle("device", "memory")
_LOG_METHODS = frozenset({"debug", "info", "warning", "error", "warn", "exception", "critical", "log"})

# The keyword that stands for ``**found`` where `found` is not known item by item.
SPREAD = "**"
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"}


class Externals:
    """Models of library functions, by dotted name or by its last part."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._models: dict[str, Callable[[Arguments, Keywords, State], Term]] = {
            **{f"bisect.{name}": self._bisection(name) for name in BISECTIONS},
            "bisect.bisect": self._bisection("bisect_right"),
            "math.ceil": self._math("ceil"),
            "math.floor": self._math("floor"),
            "math.gcd": self._math("gcd"),
            "math.lcm": self._math("lcm"),
            "math.prod": lambda a, k, s: self.machine.calls.builtins.call("prod", a, k, s),
            "torch._utils._element_size": self._element_size,
            "torch.tensor": self._tensor,
            **dict.fromkeys(("torch.empty", "torch.ones", "torch.zeros"), self._new_tensor),
            "torch.distributed.all_reduce": self._all_reduce,
            "os.getenv": self._getenv,
            "os.environ.get": self._getenv,
            "logging.getLogger": lambda a, k, s: handle("external", "logger"),
            "dataclasses.field": self._field,
            "dataclasses.replace": self._replace_anew,
            "msgspec.structs.replace": self.replace,
            "msgspec.field": self._field,
            "collections.defaultdict": self._defaultdict,
            "copy.copy": lambda a, k, s: self.copied(a[0], s, deep=False),
            "copy.deepcopy": lambda a, k, s: self.copied(a[0], s, deep=True),
            "rpyc.utils.classic.obtain": lambda a, k, s: a[0],
            "transformers.PretrainedConfig": self._made_of_a_dict,
            "transformers.configuration_utils.PretrainedConfig": self._made_of_a_dict,
            "typing.cast": lambda a, k, s: a[1] if len(a) > 1 else k["val"],
            "functools.reduce": self._reduce,
            "functools.partial": self.machine.higher_order.partial,
            **{f"operator.{name}": self._operator(op) for name, op in _OPERATORS.items()},
            "functools.lru_cache": self._cached,
            "functools.cache": self._cached,
        }

    def call(self, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """The result of the external function `name`."""
        model = self._models.get(name)
        if model is not None:
            return model(args, keywords, state)
        if name.rsplit(".", 1)[-1] in self.machine.rules.anchors["freeing_functions"]:
            return self.empty_reserve(state)
        if name.rsplit(".", 1)[-1] in _LOG_METHODS and ("log" in name.lower() or name.startswith("warnings.")):
            return NONE
        origin = self.machine.origins.get(f"{name}()")
        if origin is not None:
            return origin
        if self.machine.rules.unit_of(name) is not None:
            # A reading of the machine: which device it is asked about is not what it computes.
            return self._reading(name, state)
        self.machine.higher_order.hand_over(name, (*args, *keywords.values()), state)
        return opaque(name, self.machine.external_arguments((*args, *keywords.values())))

    def _cached(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """What is called once for all: the function itself, or what leaves a function as it is."""
        first = self.machine.force(args[0]) if args else NONE
        return first if isinstance(first, Handle) else handle("builtin", "same")

    def _reading(self, name: str, state: State) -> Term:
        """What a device says; its free memory has grown when the allocator's reserve was given back before."""
        reading = opaque(name)
        emptied = state.heap.get(_DEVICE, {}).get("emptied", FALSE)
        if emptied is FALSE or name.rsplit(".", 1)[-1] not in self.machine.rules.anchors["free_memory_functions"]:
            return reading
        reserve = self.machine.input("allocator_reserve", f"{name}()", lambda: None)
        free, total = (opaque("item", (reading, constant(index))) for index in (0, 1))
        return self.machine.tuple_of((apply("+", free, conditional(emptied, reserve, constant(0))), total))

    def fill_reserve(self, state: State) -> None:
        """A measurement begins: the allocator may hold memory in reserve."""
        state.write(_DEVICE, "emptied", FALSE)

    def empty_reserve(self, state: State) -> Term:
        """The allocator gives back what it holds in reserve."""
        state.write(_DEVICE, "emptied", TRUE)
        return NONE

    def _math(self, op: str) -> Callable[[Arguments, Keywords, State], Term]:
        return lambda args, keywords, state: self.machine.apply(op, *args)

    def _element_size(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        return self.element_size(self.machine.value(args[0]))

    def element_size(self, dtype: Term) -> Term:
        """Bytes per element of a dtype."""

        def size(leaf: Term) -> Term:
            if isinstance(leaf, Raise):
                return leaf
            known = element_size(leaf)
            return self.machine.canonical(opaque("element_size", (leaf,))) if known is None else known

        return self.machine.canonical(map_leaves(dtype, size))

    def _tensor(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        value = self.machine.value(args[0])
        dtype = self.machine.value(keywords.get("dtype", NONE))
        if getattr(dtype, "name", "") == "torch.float32":
            value = self.machine.apply("float32", value)
        return self.machine.world.container("tensor", state, {"value": value})

    def _new_tensor(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """A tensor of which the size is known, and of what type its elements are."""
        content = {"dtype": keywords["dtype"]} if "dtype" in keywords else {}
        given = (keywords["size"],) if "size" in keywords else args
        first = self.machine.value(given[0]) if given else NONE
        if len(given) != 1 or (isinstance(first, Apply) and first.op not in SEQUENCES):
            content["shape"] = self.machine.tuple_of(given)
        elif self.machine.calls.builtins.items(first, state) is not None:
            content["shape"] = first
        return self.machine.world.container("tensor", state, content)

    def _operator(self, op: str) -> Callable[[Arguments, Keywords, State], Term]:
        return lambda args, keywords, state: self.machine.apply(op, *args)

    def _reduce(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        function, sequence, *initial = args
        items = self.machine.calls.builtins.items(sequence, state)
        if items is None:
            plain = (self.machine.external_argument(function), self.machine.calls.builtins.sequence(sequence, state))
            return opaque("functools.reduce", (*plain, *map(self.machine.plain, initial)))
        result, *rest = (*initial, *items) or (raising("TypeError"),)
        for item in rest:
            result = self.machine.calls.call(function, (result, item), {}, state)
        return result

    def _all_reduce(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        tensor = self.machine.force(args[0])
        if isinstance(tensor, Handle) and tensor in self.machine.world.objects:
            op = self.machine.value(keywords.get("op", args[1] if len(args) > 1 else NONE))
            reduction = getattr(op, "name", "SUM").rsplit(".", 1)[-1].lower()
            value = self.machine.calls.builtins.content(tensor, "value", state)
            if value is not None:
                reduced = (
                    self.machine.apply("rank_min", value)
                    if reduction == "min"
                    else opaque(f"all_reduce_{reduction}", (value,))
                )
                state.write(tensor, "value", reduced)
        return NONE

    def _getenv(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        name = self.machine.value(args[0])
        default = args[1] if len(args) > 1 else keywords.get("default", NONE)
        if not isinstance(name, Constant):
            return opaque("os.getenv", (name, default))
        variable = self.machine.origins.get(f"env.{name.value}")
        if variable is None:
            variable = self.machine.input(f"env.{name.value}", f"${name.value}", lambda: NONE)
        return conditional(self.machine.apply("is", variable, NONE), default, variable)

    def _field(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """The default that a dataclass field declares; UNSET when it has none."""
        if "default" in keywords:
            return keywords["default"]
        factory = keywords.get("default_factory")
        if factory is None:
            return UNSET
        return self.machine.calls.call(factory, (), {}, state)

    def _made_of_a_dict(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """A record of what a dict of unknown content holds (``Config(**found)``): its attributes are the items."""
        if not args and keywords.keys() == {SPREAD}:
            return keywords[SPREAD]
        return opaque("transformers.PretrainedConfig", self.machine.external_arguments((*args, *keywords.values())))

    def _bisection(self, name: str) -> Callable[[Arguments, Keywords, State], Term]:
        return lambda args, keywords, state: self._bisected(name, args, keywords, state)

    def _bisected(self, name: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """Where a value goes into a sequence that is in order, or whose keys are."""
        keys = args[0]
        if keywords.get("key", NONE) is not NONE:
            keys = self.machine.higher_order.mapped_whole("list", keywords["key"], keys, state)
        whole = self.machine.sequences.term(keys, state)
        if whole is None or len(args) != 2:  # noqa: PLR2004 - a part of a sequence is searched otherwise
            return opaque(f"bisect.{name}", self.machine.external_arguments((*args, *keywords.values())))
        return opaque(name, (whole, self.machine.plain(args[1])))

    def _defaultdict(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        target = self.machine.dict_of({}, state)
        if args:
            state.write(target, "factory", args[0])
        return target

    def copied(self, value: Term, state: State, *, deep: bool) -> Term:
        """A copy of an object or a container, and with `deep` of what it holds; any other value is the same."""
        return self.machine.each_leaf(value, state, lambda leaf, s: self._copied_leaf(leaf, s, {} if deep else None))

    def _copied_leaf(self, leaf: Term, state: State, made: dict[Term, Term] | None) -> Term:
        info = self.machine.world.objects.get(leaf) if isinstance(leaf, Handle) else None
        if info is None or info.kind not in ("list", "dict", "instance") or not self.machine.attributes.is_copied(leaf):
            return leaf
        if made is not None and leaf in made:
            return made[leaf]
        copy = self.machine.world.allocate(replace(info))
        if made is not None:
            made[leaf] = copy
        content = {**self.machine.world.base.get(leaf, {}), **state.heap.get(leaf, {})}
        if made is not None:
            content = {name: self._copied_part(value, state, made) for name, value in content.items()}
        state.put(copy, content)
        return copy

    def _copied_part(self, value: Term, state: State, made: dict[Term, Term]) -> Term:
        """What a container or an attribute holds, the containers in it copied; what nobody has asked for stays."""
        world = self.machine.world

        def copy(leaf: Term) -> Term:
            if isinstance(leaf, Apply) and leaf.op == "tuple":
                return raw_apply("tuple", tuple(self._copied_part(part, state, made) for part in leaf.args))
            info = world.objects.get(leaf) if isinstance(leaf, Handle) else None
            is_container = info is not None and info.kind in ("list", "dict")
            return self._copied_leaf(leaf, state, made) if is_container else leaf

        return map_leaves(self.machine.displayed(value), copy)

    def _replace_anew(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """A copy of a dataclass with some fields changed, initialized again."""
        copy = self.replace(args, keywords, state)
        info = self.machine.world.objects.get(copy) if isinstance(copy, Handle) else None
        key = info.class_key if info is not None else None
        post = None if key is None else self.machine.attributes.find_method(key, "__post_init__")
        if post is not None:
            self.machine.force(self.machine.calls.inline(post[1], post[0], (copy,), {}, state))
        return copy

    def replace(self, args: Arguments, keywords: Keywords, state: State) -> Term:
        """A copy of a struct with some fields changed."""
        source = self.machine.force(args[0])
        info = self.machine.world.objects.get(source) if isinstance(source, Handle) else None
        if info is None or not isinstance(source, Handle):
            return opaque("replace", (self.machine.external_argument(source),))
        copy = self.machine.world.allocate(info)
        content = {**self.machine.world.base.get(source, {}), **state.heap.get(source, {}), **keywords}
        state.put(copy, content)
        return copy
