"""Mod/ref analysis: which calls may write something that the formula reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzer.domain.modules import Definition, Slot
from analyzer.domain.relevance import Node
from analyzer.domain.rules import Anchors
from analyzer.flow.callgraph import COMMON_NAMES, CallGraph


class ModRef:
    """Answers whether a call matters, for one set of relevant attributes.

    `relevant` maps an attribute name to the simple names of the classes (ancestors included) on whose
    instances it is read; a write through anything but ``self`` matches by the attribute's name alone.

    `names` are the simple names of everything that matters, for receivers that nothing resolves;
    `taken` are those of functions that matter and are taken as values, `taking` the keys of the definitions that do:
    they may call what matters without naming it in the call.
    `sizing` is the definition whose raises belong to the formula, once it is known.
    """

    def __init__(  # noqa: PLR0913 - what is asked, of what, and how strictly
        self,
        graph: CallGraph,
        anchors: Anchors,
        universe: Iterable[Node],
        relevant: Mapping[str, frozenset[str]],
        sizing: str = "",
        *,
        by_name: bool = False,
    ) -> None:
        """With `by_name`, naming an attribute (a keyword, a key of a dict) counts as writing it."""
        self._by_name = by_name
        self.relevant = relevant
        self.sizing = sizing
        self._graph = graph
        self._runners = frozenset(anchors["runner_classes"])
        # Who calls these is gone into: when they are called is part of the formula.
        self._steps = frozenset(anchors["weight_loaders"])
        self._writers = frozenset(anchors["config_writers"])
        definitions = {node[1]: graph.definition(node) for node in universe}
        graph.note_held(definitions.values())
        self.changers = graph.changers(definitions.values())
        self._effectful, self.names = self._fixpoint(definitions)
        taken = {key: graph.functions_taken(definition) & self.names for key, definition in definitions.items()}
        self.taking = frozenset(key for key, names in taken.items() if names)
        self.taken = frozenset[str]().union(*taken.values())
        self._raising, self.raising_names = self._raisers(definitions)

    @property
    def timed(self) -> bool:
        """Whether what matters depends on the position."""
        return False

    def view(self, position: tuple[int, ...]) -> ModRef:  # noqa: ARG002 - the same at every position
        """What matters at `position`."""
        return self

    def matters(self, definition: Definition) -> bool:
        """Whether running `definition` may write something relevant."""
        return definition.key in self._effectful

    def changes(self, callee: str, slot: Slot) -> bool:
        """Whether a function of this name may change the container that it gets as an argument."""
        return self._graph.changes(callee, slot)

    def changed_parameters(self, definition: Definition) -> frozenset[str]:
        """The parameters whose containers `definition` changes."""
        return self._graph.changed_parameters(definition)

    def may_raise(self, definition: Definition) -> bool:
        """Whether running `definition` may reach a raise statement."""
        return definition.key in self._raising

    def _raisers(self, definitions: Mapping[str, Definition]) -> tuple[frozenset[str], frozenset[str]]:
        """Keys and simple names of definitions that raise, or call one that does."""
        raising = {key for key, definition in definitions.items() if self._graph.effects(definition).raises}
        while True:
            names = {definitions[key].called_as for key in raising} - COMMON_NAMES
            more = {
                key
                for key, definition in definitions.items()
                if key not in raising and any(name in names for name, _ in self._graph.called(definition))
            }
            if not more:
                return frozenset(raising), frozenset(names) | self._graph.aliases_of(names)
            raising |= more

    def _fixpoint(self, definitions: Mapping[str, Definition]) -> tuple[frozenset[str], frozenset[str]]:
        """Keys and simple names of what matters.

        An effect is strong when it reaches beyond the receiver; what a method only sets on its own
        object is weak, and does not matter when that object is still being constructed.
        """
        names = {key: definition.called_as for key, definition in definitions.items()}
        calls = {key: self._graph.called(definition) for key, definition in definitions.items()}
        callers: dict[str, list[str]] = {}
        for key, called in calls.items():
            for name in dict.fromkeys(name for name, _ in called):
                callers.setdefault(name, []).append(key)
        strong = {key for key, definition in definitions.items() if self._writes_beyond(definition)}
        weak = {key for key, definition in definitions.items() if self._writes_itself(definition)} - strong
        strong_names = {*self._runners, *self._steps, *(names[key] for key in strong)}
        weak_names = {names[key] for key in weak}
        pending = strong_names | weak_names
        while pending:
            for key in callers.get(pending.pop(), ()):
                if key in strong:
                    continue
                if any(name in strong_names or (name in weak_names and not own) for name, own in calls[key]):
                    kind, kind_names = strong, strong_names
                elif key not in weak and not definitions[key].is_constructor:
                    # Only calls of its own methods are left.
                    kind, kind_names = weak, weak_names
                else:
                    continue
                kind.add(key)
                if names[key] not in kind_names:
                    kind_names.add(names[key])
                    pending.add(names[key])
        found = strong | weak | self._setters_used(definitions)
        found_names = (self._runners | {names[key] for key in found}) - COMMON_NAMES
        return frozenset(found), found_names | self._graph.aliases_of(found_names)

    def _names_relevant(self, definition: Definition) -> bool:
        """Whether a definition names something relevant, for somebody who may write it."""
        return self._by_name and bool(self._graph.effects(definition).named & self.relevant.keys())

    def _setters_used(self, definitions: Mapping[str, Definition]) -> set[str]:
        """What sets attributes of computed names, called by a definition that names something relevant.

        Who else calls it has other names in mind.
        """
        callees = {
            name
            for definition in definitions.values()
            if self._names_relevant(definition)
            for name, _ in self._graph.called(definition)
        }
        return {
            key
            for key, definition in definitions.items()
            if definition.called_as in callees and "*" in self._graph.effects(definition).named
        }

    def _writes_beyond(self, definition: Definition) -> bool:
        effects = self._graph.effects(definition)
        # What a plain function calls its `self` is somebody else's object.
        writes = effects.writes if definition.owner else effects.writes | effects.own_writes
        return not writes.isdisjoint(self.relevant) or self._names_relevant(definition)

    def _writes_itself(self, definition: Definition) -> bool:
        if definition.is_constructor:
            return False
        owner = definition.qualname.partition(".")[0]
        return any(self.concerns(owner, name) for name in self._graph.own_writes(definition))

    def concerns(self, owner: str, name: str) -> bool:
        """Whether somebody reads the attribute `name` of instances of the class `owner`."""
        return owner in self.relevant.get(name, ())
