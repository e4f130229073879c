"""Mod/ref analysis: which calls may write something that the formula reads."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.domain.modules import Definition
from analyzer.domain.rules import Anchors
from analyzer.flow.callgraph import CallGraph, Node

_CONSTRUCTORS = frozenset({"__init__", "__post_init__"})
# Containers and strings have these; they say nothing about who is called.
_COMMON_NAMES = frozenset({"get", "update", "append", "add", "items", "keys", "pop", "extend", "join", "format", "copy"})


class ModRef:
    """Answers whether a call matters, for one set of relevant attribute names.

    `names` are the simple names of everything that matters, for receivers that nothing resolves;
    `sizing` is the definition whose raises belong to the formula, once it is known.
    """

    def __init__(
        self, graph: CallGraph, anchors: Anchors, universe: Iterable[Node], relevant: frozenset[str], sizing: str = ""
    ) -> None:
        self.relevant = relevant
        self.sizing = sizing
        self._graph = graph
        self._runners = frozenset(anchors["runner_classes"])
        self._writers = frozenset(anchors["config_writers"])
        self._effectful, self.names = self._fixpoint(tuple(universe))

    def matters(self, definition: Definition) -> bool:
        """Whether running `definition` may write something relevant."""
        return definition.key in self._effectful

    def _fixpoint(self, universe: tuple[Node, ...]) -> tuple[frozenset[str], frozenset[str]]:
        definitions = {node[1]: self._graph.definition(node) for node in universe}
        effectful = {key for key, definition in definitions.items() if self._writes(definition)}
        names = set(self._runners)
        changed = True
        while changed:
            names |= {self._name(definitions[key]) for key in effectful}
            found = {
                key
                for key, definition in definitions.items()
                if key not in effectful and self._calls(definition) & names
            }
            effectful |= found
            changed = bool(found)
        return frozenset(effectful), frozenset(names - _COMMON_NAMES)

    def _writes(self, definition: Definition) -> bool:
        effects = self._graph.effects(definition)
        if effects.writes & self.relevant:
            return True
        return definition.name not in _CONSTRUCTORS and bool(effects.own_writes & self.relevant)

    def _calls(self, definition: Definition) -> frozenset[str]:
        names = {call.rsplit(".", 1)[-1] for call in self._graph.effects(definition).calls}
        if definition.name in _CONSTRUCTORS:
            # What a constructor's own methods set on the new object concerns nobody yet.
            own = {call.removeprefix("self.") for call in self._graph.effects(definition).calls if call.startswith("self.")}
            names = {name for name in names if name not in own or self._is_runner(definition)}
        return frozenset(names - _COMMON_NAMES)

    def _is_runner(self, definition: Definition) -> bool:
        return definition.qualname.partition(".")[0] in self._runners or bool(
            {call.rsplit(".", 1)[-1] for call in self._graph.effects(definition).calls} & self._runners
        )

    def _name(self, definition: Definition) -> str:
        """What a call of `definition` looks like: a constructor is called by its class."""
        owner, _, name = definition.qualname.rpartition(".")
        return owner if name in _CONSTRUCTORS and owner else name
