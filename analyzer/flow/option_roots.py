"""Where the options become what they are: the constructor that leads to where the fraction is set."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from analyzer.domain.errors import AnchorNotFoundError
from analyzer.domain.modules import CONSTRUCTORS, ClassFacts, Definition
from analyzer.domain.relevance import Node
from analyzer.domain.rules import Anchors
from analyzer.flow.callgraph import CallGraph
from analyzer.flow.program import TreeProgram
from analyzer.flow.roots import module_name
from analyzer.ports import SourceTree

_MAX_CALLERS: Final = 6


@dataclass(frozen=True, slots=True)
class OptionRoot:
    """The function to start from, its receiver's class key, the class of the options, the option asked for.

    `then` are the methods that whoever launches the server calls on the finished options.
    """

    definition: Definition
    receiver: str
    options: str
    sink: str
    runner: str = ""
    then: tuple[Definition, ...] = ()


class OptionRootSearch:
    """Finds the constructor of the options in one tree, and who sets the fraction."""

    def __init__(self, tree: SourceTree, program: TreeProgram, graph: CallGraph, anchors: Anchors) -> None:
        self._tree = tree
        self._program = program
        self._graph = graph
        self._anchors = anchors
        self._sinks = anchors["fraction_options"]

    def find(self) -> OptionRoot:
        """The root of this tree. Raises AnchorNotFoundError naming what is missing and where it was looked for."""
        options = self._options()
        for constructor in self._constructors(options):
            nodes = self._graph.closure((options.key, constructor.key))
            sink = self._written(nodes)
            if sink is not None:
                return OptionRoot(constructor, options.key, options.key, sink, then=self._launched(options, nodes))
        return self._outside(options)

    def _options(self) -> ClassFacts:
        names = self._anchors["config_classes"]
        found = self._program.find_class(self._modules(names), names)
        if found is not None:
            return found
        raise AnchorNotFoundError(
            f"no class {' or '.join(names)}",
            where=f"{len(self._tree.paths())} files of {self._tree.revision.resolved}",
            hint="add the new name to config_classes in rules/anchors.toml",
        )

    def _modules(self, names: Iterable[str]) -> Iterable[str]:
        yield from self._anchors["config_modules"]
        for path in self._files(f"class {name}" for name in names):
            yield module_name(path)

    def _files(self, needles: Iterable[str]) -> list[str]:
        """The files of the server that contain one of `needles`."""
        wanted = tuple(needles)
        sources = (p for p in self._tree.paths() if p.startswith("sglang/srt/") and p.endswith(".py"))
        return [path for path in sources if "/test" not in path and self._program.contains(path, wanted)]

    def _constructors(self, options: ClassFacts) -> list[Definition]:
        """What runs when the options are made, inherited constructors included."""
        found: list[Definition] = []
        for name in CONSTRUCTORS:
            owners = [cls for cls in self._program.mro(options.key) if name in cls.methods]
            found.extend(cls.methods[name] for cls in owners[:1])
        return found

    def _launched(self, options: ClassFacts, constructed: Collection[Node]) -> tuple[Definition, ...]:
        """The methods that are called on the finished options and that their constructor does not call itself."""
        found: list[Definition] = []
        for name in self._anchors["launch_methods"]:
            owners = [cls for cls in self._program.mro(options.key) if name in cls.methods]
            found.extend(cls.methods[name] for cls in owners[:1])
        done = {key for _, key in constructed}
        return tuple(method for method in found if method.key not in done)

    def _written(self, nodes: Iterable[Node]) -> str | None:
        """The fraction's name where one of `nodes` sets it."""
        written = {name for node in nodes for name in self._set_in(self._graph.definition(node))}
        return next((name for name in self._sinks if name in written), None)

    def _set_in(self, definition: Definition) -> frozenset[str]:
        """What a definition sets, or names for somebody who may."""
        return self._graph.written(definition) | self._graph.effects(definition).named

    def _outside(self, options: ClassFacts) -> OptionRoot:
        """The outermost function that is given the options and leads to where the fraction is set."""
        definitions = [d for path in self._files(self._sinks) for d in self._definitions(path)]
        writers = [d for d in definitions if self._takes_options(d) and self._set_in(d) & set(self._sinks)]
        if not writers:
            raise AnchorNotFoundError(
                f"nothing sets {' or '.join(self._sinks)} of {options.name}",
                where=self._tree.display_path(options.path),
                hint="add the new name to fraction_options in rules/anchors.toml",
            )
        sink = next(name for name in self._sinks if name in self._set_in(writers[0]))
        outermost = writers[0]
        for _ in range(_MAX_CALLERS):
            callers = [
                definition
                for path in self._files([f"{outermost.name}("])
                for definition in self._definitions(path)
                if self._calls(definition, outermost) and self._takes_options(definition)
            ]
            if not callers:
                break
            outermost = callers[0]
        return OptionRoot(outermost, outermost.owner, options.key, sink)

    def _calls(self, definition: Definition, callee: Definition) -> bool:
        names = {call.rsplit(".", 1)[-1] for call in self._graph.effects(definition).calls}
        return definition.key != callee.key and callee.name in names

    def _takes_options(self, definition: Definition) -> bool:
        """Whether `definition` is a method of the options, or has a parameter for them."""
        names, classes = set(self._anchors["config_names"]), self._anchors["config_classes"]
        owner = definition.qualname.partition(".")[0]
        return owner in classes or any(
            name in names or any(cls in (annotation or "") for cls in classes)
            for name, annotation in definition.parameters
        )

    def _definitions(self, path: str) -> list[Definition]:
        facts = self._program.module(module_name(path))
        return [] if facts is None else list(facts.definitions)
