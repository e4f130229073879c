"""The static call graph around the formula, built on demand in networkx."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

import networkx as nx

from analyzer.domain.modules import CONSTRUCTORS, TRANSPARENT_DECORATORS, Definition, Effects, ModuleFacts, Slot
from analyzer.domain.relevance import Node
from analyzer.domain.resolution import Resolution
from analyzer.domain.rules import Anchors
from analyzer.ports.program import Program

_MAX_DEPTH = 6
_NAME = re.compile(r"[A-Za-z_]\w*")
# Containers and strings have these; they say nothing about who is called.
COMMON_NAMES = frozenset({"get", "update", "append", "add", "items", "keys", "pop", "extend", "join", "format", "copy"})

_TRANSPARENT = frozenset(
    {
        *("property", "staticmethod", "classmethod", "setter", "getter", "deleter"),
        *(name.rpartition(".")[2] for name in TRANSPARENT_DECORATORS),
    }
)
# What runs of an instance that stands for a function.
_WRAPPING_METHODS = ("__call__", "__get__")

_NO_SLOTS: frozenset[Slot] = frozenset()


class CallGraph:
    """Which analysed definitions a definition may call, as far as names tell.

    A node pairs a definition with the class of its receiver, because ``self.x()`` in a mixin means the
    method of the class that mixes it in.
    """

    def __init__(
        self,
        program: Program,
        effects: Callable[[str], Effects],
        anchors: Anchors,
        records: frozenset[str] = frozenset(),
    ) -> None:
        """`records` are the names of attributes that stand for a configuration as a whole."""
        self._program = program
        self._effects = effects
        self._foreign = tuple(anchors["opaque_modules"])
        self._records = records
        self.graph: nx.DiGraph[Node] = nx.DiGraph()
        self._expanded: set[Node] = set()
        self._closures: dict[Node, frozenset[Node]] = {}
        # The functions that an attribute may stand for, since a module or a definition has set it to them.
        self._aliases: dict[str, set[str]] = {}
        self._noted: set[str] = set()
        self._taken: dict[str, frozenset[str]] = {}
        self._called: dict[str, tuple[tuple[str, bool], ...]] = {}
        # The parameters whose containers a definition changes, by its key, and by the name it is called by the slots.
        self._changed: dict[str, set[str]] = {}
        self._changers: dict[str, frozenset[Slot]] = {}
        self._handing: dict[str, Effects] = {}
        self._looked_at: list[Definition] = []

    def patch(self, modules: Iterable[ModuleFacts]) -> frozenset[Node]:
        """Note what `modules` set on classes and modules; what may be called in its place, with all it may call."""
        found: set[Node] = set()
        for facts in modules:
            for statement in facts.patches:
                for name in sorted(_NAME.findall(statement.text)):
                    replacement = facts.functions.get(name)
                    if replacement is None:
                        continue
                    found |= self.closure(("", replacement.key))
                    for attribute in statement.names:
                        self._aliases.setdefault(attribute, set()).add(name)
        self._called.clear()
        return frozenset(found)

    def note_held(self, definitions: Iterable[Definition]) -> None:
        """Note to which functions `definitions` set attributes: they may be called under these names."""
        for definition in definitions:
            if definition.key in self._noted:
                continue
            self._noted.add(definition.key)
            effects = self._effects(definition.text)
            for name, function in effects.held:
                self._aliases.setdefault(name, set()).add(function.rpartition(".")[2])
            self._called.clear()

    def functions_taken(self, definition: Definition) -> frozenset[str]:
        """The simple names of functions and of own methods that a definition takes as values."""
        known = self._taken.get(definition.key)
        if known is None:
            names = (n for n in self._effects(definition.text).taken if self._is_function(definition, n))
            known = self._taken[definition.key] = frozenset(name.rpartition(".")[2] for name in names)
        return known

    def _is_function(self, definition: Definition, name: str) -> bool:
        found = (self._program.definition(key) for _, key in self._resolve_passed("", definition, name))
        return any("property" not in function.decorators for function in found)

    def aliases_of(self, names: AbstractSet[str]) -> frozenset[str]:
        """Under what other names functions called `names` may be called."""
        found: set[str] = set()
        while True:
            known = names | found
            more = {alias for alias, functions in self._aliases.items() if not functions.isdisjoint(known)} - found
            if not more:
                return frozenset(found)
            found |= more

    def effects(self, definition: Definition) -> Effects:
        """The names that a definition touches; it writes what it sets items of, or hands to who changes it."""
        known = self._handing.get(definition.key)
        if known is None:
            known = self._effects(definition.text)
            given = {place for callee, slot, place in known.handed if self.changes(callee, slot)} | known.filled
            # What a record holds is an input, whoever sets an item of it.
            given = {place for place in given if not self._records.intersection(place.split(".")[:-1])}
            if given:
                names = [(owner == "self", name) for owner, _, name in (place.rpartition(".") for place in given)]
                own = {name for is_own, name in names if is_own}
                others = {name for is_own, name in names if not is_own}
                known = replace(known, writes=known.writes | others, own_writes=known.own_writes | own)
            self._handing[definition.key] = known
        return known

    def changes(self, callee: str, slot: Slot) -> bool:
        """Whether a function of this name may change the container that it gets as an argument."""
        slots = self._changers.get(callee, _NO_SLOTS)
        return slot in slots or ("*" in slots and isinstance(slot, int))

    def changed_parameters(self, definition: Definition) -> frozenset[str]:
        """The parameters whose containers a definition changes, by itself or through what it calls."""
        return frozenset(self._changed.get(definition.key, ()))

    def changers(self, definitions: Iterable[Definition]) -> Mapping[str, frozenset[Slot]]:
        """The simple names of what changes a container that it is given, with where it gets it."""
        new = [definition for definition in definitions if definition.key not in self._changed]
        if new:
            self._find_changers(new)
        return self._changers

    def _find_changers(self, new: Iterable[Definition]) -> None:
        """Look for changers among more definitions, until what they hand on adds none."""
        for definition in new:
            self._changed[definition.key] = set(self._effects(definition.text).changed)
            self._looked_at.append(definition)
        while True:
            slots: dict[str, set[Slot]] = {}
            for definition in self._looked_at:
                if self._changed[definition.key] and definition.called_as not in COMMON_NAMES:
                    slots.setdefault(definition.called_as, set()).update(self._slots(definition))
            found = {name: frozenset(where) for name, where in slots.items()}
            if found == self._changers:
                return
            self._changers = found
            self._handing.clear()
            for definition in self._looked_at:
                self._changed[definition.key].update(
                    place
                    for callee, slot, place in self._effects(definition.text).handed
                    if "." not in place and self.changes(callee, slot)
                )

    def _slots(self, definition: Definition) -> Iterable[Slot]:
        """Where the parameters are given that a definition changes."""
        changed = self._changed[definition.key]
        names = [name for name, _ in definition.parameters]
        bound = bool(definition.owner) and "staticmethod" not in definition.decorators
        for position, name in enumerate(names[1:] if bound else names):
            if name in changed:
                yield from (position, name)
        if "*" in changed:
            yield "*"

    def called(self, definition: Definition) -> tuple[tuple[str, bool], ...]:
        """Simple names of callees, and whether the receiver is ``self`` itself; functions handed on are called too."""
        if definition.key not in self._called:
            effects = self.effects(definition)
            split = [call.rpartition(".") for call in effects.calls]
            names = [(name, owner in ("self", "?")) for owner, _, name in split if name not in COMMON_NAMES]
            names += [(passed.rpartition(".")[2], False) for passed in effects.passed]
            names += [(function, False) for function in self.functions_taken(definition)]
            names += [(name, False) for name in self._wrapping_names(definition)]
            names += [(name, False) for name in self._stands_for({name for name, _ in names})]
            self._called[definition.key] = tuple(names)
        return self._called[definition.key]

    def _stands_for(self, names: set[str]) -> list[str]:
        """The functions that `names` may stand for as aliases, and as aliases of aliases."""
        found: set[str] = set()
        pending = names
        while pending:
            pending = {function for name in pending for function in self._aliases.get(name, ())} - found
            found |= pending
        return sorted(found)

    def _wrapping_names(self, definition: Definition) -> Iterable[str]:
        """The simple names of what runs when what wraps a definition is called."""
        for name in self._wrappers(definition):
            yield name.rpartition(".")[2]
            found = self._lookup(definition, name)
            if found is not None and found.kind == "class":
                yield from _WRAPPING_METHODS

    def _wrappers(self, definition: Definition) -> Iterable[str]:
        """The dotted names of what a definition is wrapped in: its decorators, and what its class rebinds it to."""
        for decorator in definition.decorators:
            name = decorator.partition("(")[0]
            if name.rpartition(".")[2] not in _TRANSPARENT:
                yield name
        if definition.owner:
            rebound = self._program.class_facts(definition.owner).fields.get(definition.name)
            if rebound is not None and rebound.value is not None:
                effects = self._effects(rebound.value)
                yield from sorted((effects.calls | effects.passed) - {"?"})

    def written(self, definition: Definition) -> frozenset[str]:
        """The attributes that a definition sets, on ``self`` or on anything else."""
        effects = self.effects(definition)
        return effects.writes | effects.own_writes

    def own_writes(self, definition: Definition) -> frozenset[str]:
        """The attributes of its own object that a definition sets, by itself or through properties."""
        written = self.effects(definition).own_writes
        if not definition.owner or not written:
            return written
        family = self._program.mro(definition.owner)
        hooks = [hook for cls in family for hook in (*cls.setters.items(), *cls.deleters.items())]
        return written.union(*(self.effects(hook).own_writes for name, hook in hooks if name in written))

    def definition(self, node: Node) -> Definition:
        """The definition of a node."""
        return self._program.definition(node[1])

    def callees(self, node: Node) -> Iterable[Node]:
        """The definitions that `node` may call."""
        if node not in self._expanded:
            self._expanded.add(node)
            self.graph.add_node(node)
            for callee in self._resolve_calls(node):
                self.graph.add_edge(node, callee)
        return tuple(self.graph.successors(node))

    def closure(self, node: Node) -> frozenset[Node]:
        """`node` and everything it may call, to a bounded depth."""
        known = self._closures.get(node)
        if known is None:
            seen = {node}
            frontier = [node]
            for _ in range(_MAX_DEPTH):
                frontier = [c for n in frontier for c in self.callees(n) if c not in seen and not seen.add(c)]  # type: ignore[func-returns-value]  # add() as a filter keeps each callee once
            known = frozenset(seen)
            self._closures[node] = known
        return known

    def _resolve_calls(self, node: Node) -> list[Node]:
        receiver, key = node
        definition = self._program.definition(key)
        if definition.module.startswith(self._foreign):
            return []
        found: list[Node] = []
        for call in sorted(self.effects(definition).calls):
            found.extend(self._resolve_call(receiver, definition, call))
        for name in sorted(self.effects(definition).passed | self.effects(definition).taken):
            found.extend(self._resolve_passed(receiver, definition, name))
        for name in self._wrappers(definition):
            found.extend(self._resolve_wrapper(definition, name))
        return found

    def _resolve_wrapper(self, definition: Definition, name: str) -> list[Node]:
        """What a decorator runs: a function, or an instance that is called in place of what it was given."""
        found = self._lookup(definition, name)
        if found is not None and found.kind == "class":
            return [node for method in (*CONSTRUCTORS, *_WRAPPING_METHODS) for node in self._method(found.key, method)]
        return self._resolve_call("", definition, name)

    def _resolve_passed(self, receiver: str, definition: Definition, name: str) -> list[Node]:
        """The function that is handed on under `name`: whoever gets it may call it."""
        if name.startswith("self.") and name.count(".") == 1:
            return self._method(receiver or definition.owner, name.partition(".")[2])
        if "." in name:
            return []
        found = self._lookup(definition, name)
        return [("", found.key)] if found is not None and found.kind == "function" else []

    def _resolve_call(self, receiver: str, definition: Definition, call: str) -> list[Node]:
        head, _, rest = call.partition(".")
        if head == "self" and rest and "." not in rest:
            return self._method(receiver or definition.owner, rest)
        if head == "?":
            return self._super(receiver, definition, rest)
        if not rest:
            return self._plain(definition, head)
        if "." not in rest:
            return self._qualified(definition, head, rest)
        return []

    def _method(self, class_key: str, name: str) -> list[Node]:
        if not class_key:
            return []
        for cls in self._program.mro(class_key):
            if name in cls.methods:
                return [(class_key, cls.methods[name].key)]
        return []

    def _super(self, receiver: str, definition: Definition, name: str) -> list[Node]:
        owner = definition.owner
        if not owner or not name:
            return []
        for cls in self._program.mro(owner)[1:]:
            if name in cls.methods:
                return [(receiver or owner, cls.methods[name].key)]
        return []

    def _plain(self, definition: Definition, name: str) -> list[Node]:
        found = self._lookup(definition, name)
        if found is None:
            return []
        if found.kind == "function":
            return [("", found.key)]
        if found.kind == "class":
            return [n for method in CONSTRUCTORS for n in self._method(found.key, method)]
        return []

    def _lookup(self, definition: Definition, name: str) -> Resolution | None:
        """What `name` means inside `definition`, unless it comes from a package that is not searched."""
        facts = self._program.module(definition.module)
        binding = next((b for b in self.effects(definition).imports if b.name == name), None)
        if binding is not None:
            if self._is_foreign(binding.module, binding.member):
                return None
            return self._program.resolve_import(definition.module, binding.module, binding.member)
        if facts is not None and name in facts.imports:
            binding = facts.imports[name]
            if self._is_foreign(binding.module, binding.member):
                return None
        return self._program.resolve(definition.module, name)

    def _foreign_annotation(self, definition: Definition, annotation: str) -> bool:
        facts = self._program.module(definition.module)
        name = annotation.strip("\"'").split("[")[-1].strip("]\"'").split(".")[0]
        binding = None if facts is None else facts.imports.get(name)
        return binding is not None and self._is_foreign(binding.module, binding.member)

    def _is_foreign(self, module: str, member: str | None) -> bool:
        return (not self._program.is_internal(module.lstrip(".") or module) and not module.startswith(".")) or (
            f"{module}.{member}".startswith(self._foreign) or module.startswith(self._foreign)
        )

    def _qualified(self, definition: Definition, head: str, name: str) -> list[Node]:
        annotation = dict(definition.parameters).get(head)
        if annotation is not None:
            if self._foreign_annotation(definition, annotation):
                return []
            cls = self._program.annotated_class(definition.module, annotation)
            return [] if cls is None else self._method(cls.key, name)
        found = self._lookup(definition, head)
        if found is not None and found.kind == "class":
            return self._method(found.key, name)
        if found is not None and found.kind == "module":
            target = self._program.resolve(found.key, name)
            if target is not None and target.kind == "function":
                return [("", target.key)]
        return []
