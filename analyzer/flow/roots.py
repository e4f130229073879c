"""Where interpretation starts: the nearest function that both builds the runner and reaches the sink."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx

from analyzer.domain.errors import AnchorNotFoundError
from analyzer.domain.modules import ClassFacts, Definition, ModuleFacts
from analyzer.domain.rules import Anchors
from analyzer.flow.callgraph import CallGraph
from analyzer.flow.program import TreeProgram
from analyzer.ports import SourceTree


@dataclass(frozen=True, slots=True)
class Root:
    """The function to start from, its receiver's class key, and the class that receives the count."""

    definition: Definition
    receiver: str
    runner: str
    sink: str
    options: str = ""
    then: tuple[Definition, ...] = ()


class RootSearch:
    """Finds the anchors of the rules in one tree."""

    def __init__(self, tree: SourceTree, program: TreeProgram, graph: CallGraph, anchors: Anchors) -> None:
        self._tree = tree
        self._program = program
        self._graph = graph
        self._anchors = anchors
        self._sinks = frozenset(anchors["sink_attributes"])

    def find(self) -> Root:
        """The root of this tree. Raises AnchorNotFoundError naming what is missing and what was near."""
        runner = self._runner()
        writers = self._writers(runner)
        if not writers:
            raise AnchorNotFoundError(
                f"no method of {runner.name} sets {' or '.join(sorted(self._sinks))}",
                where=self._tree.display_path(runner.path),
                hint="add the new attribute name to sink_attributes in rules/anchors.toml",
            )
        drivers = self._drivers({f"{runner.name}("})
        builders = [d for d in drivers if runner.name in self._graph.effects(d).calls]
        if not builders:
            raise AnchorNotFoundError(
                f"nothing constructs {runner.name}",
                where=", ".join(self._anchors["driver_folders"]),
                hint="add the folder of the worker to driver_folders in rules/anchors.toml",
            )
        sink = self._sink_name(runner)
        if self._constructor_reaches(runner, writers):
            builder = self._entry_of(builders[0])
            return Root(builder, builder.owner, runner.key, sink)
        return self._climb(runner, writers, builders, sink)

    def _sink_name(self, runner: ClassFacts) -> str:
        for name in self._anchors["sink_attributes"]:
            if any(name in self._graph.effects(m).own_writes for m in self._program.methods(runner.key)):
                return name
        raise AssertionError

    def _runner(self) -> ClassFacts:
        names = self._anchors["runner_classes"]
        found = self._program.find_class(self._runner_modules(), names)
        if found is not None:
            return found
        raise AnchorNotFoundError(
            f"no class {' or '.join(names)}",
            where=f"{len(self._tree.paths())} files of {self._tree.revision.resolved}",
            hint="is this a clone of SGLang? otherwise add the new name to runner_classes in rules/anchors.toml",
        )

    def _runner_modules(self) -> Iterable[str]:
        yield from self._anchors["runner_modules"]
        wanted = self._anchors["runner_modules"][0].rsplit(".", 1)[-1]
        for path in self._tree.paths():
            if path.endswith(f"/{wanted}.py") and "/test" not in path:
                yield module_name(path)
        needles = [f"class {name}" for name in self._anchors["runner_classes"]]
        for path in self._tree.paths():
            if path.startswith("sglang/srt/") and self._program.contains(path, needles):
                yield module_name(path)

    def _writers(self, runner: ClassFacts) -> list[Definition]:
        methods = self._program.methods(runner.key)
        return [method for method in methods if self._graph.effects(method).own_writes & self._sinks]

    def _constructor_reaches(self, runner: ClassFacts, writers: list[Definition]) -> bool:
        keys = {writer.key for writer in writers}
        for cls in self._program.mro(runner.key):
            if "__init__" in cls.methods:
                closure = self._graph.closure((runner.key, cls.methods["__init__"].key))
                return any(key in keys for _, key in closure)
        return False

    def _drivers(self, needles: set[str]) -> list[Definition]:
        """The definitions of the driver folders in files that contain one of `needles`."""
        return [definition for facts in self._driver_modules(needles) for definition in facts.definitions]

    def driver_nodes(self) -> list[tuple[str, str]]:
        """Call-graph nodes of every definition in the files that drive the runner."""
        names = self._anchors["runner_classes"]
        return [(d.owner, d.key) for d in self._drivers({f"{name}(" for name in names})]

    def _driver_modules(self, needles: set[str]) -> list[ModuleFacts]:
        modules = []
        folders = tuple(self._anchors["driver_folders"])
        for path in self._tree.paths():
            if path.startswith(folders) and "/test" not in path and self._program.contains(path, needles):
                facts = self._program.module(module_name(path))
                if facts is not None:
                    modules.append(facts)
        return modules

    def _entry_of(self, builder: Definition) -> Definition:
        """The constructor of the builder's class when it leads to the builder, else the builder."""
        owner = builder.owner
        if not owner:
            return builder
        init = self._program.class_facts(owner).methods.get("__init__")
        if init is not None and (owner, builder.key) in self._graph.closure((owner, init.key)):
            return init
        return builder

    def _climb(self, runner: ClassFacts, writers: list[Definition], builders: list[Definition], sink: str) -> Root:
        """Follow callers by name from the sink upwards until one also builds the runner."""
        methods = list(self._program.methods(runner.key))
        names = self._callers_within(methods, {writer.name for writer in writers})
        needles = {f".{name}(" for name in names} | {f"{runner.name}("}
        for _ in range(4):
            graph = self._name_graph(self._drivers(needles), runner)
            root = self._common_ancestor(graph, names, {builder.key for builder in builders})
            if root is not None:
                definition = self._program.definition(root)
                return Root(definition, definition.owner, runner.key, sink)
            callers = {self._program.definition(key).name for key in graph if graph.out_degree(key)}
            classes = {builder.owner.rsplit(":", 1)[-1] for builder in builders}
            needles |= {f".{name}(" for name in callers} | {f"{name}(" for name in classes if name}
        raise AnchorNotFoundError(
            f"no function builds {runner.name} and reaches {', '.join(sorted(names))}",
            where=", ".join(self._anchors["driver_folders"]),
            hint="add the folder of the driver to driver_folders in rules/anchors.toml",
        )

    def _callers_within(self, methods: list[Definition], names: set[str]) -> set[str]:
        """`names` and the names of the runner's methods that lead to them."""
        found = set(names)
        while True:
            more = {
                method.name
                for method in methods
                if method.name not in found
                and {call.removeprefix("self.") for call in self._graph.effects(method).calls} & found
            }
            if not more:
                return found
            found |= more

    def _name_graph(self, drivers: list[Definition], runner: ClassFacts) -> nx.DiGraph[str]:
        """Caller to callee among `drivers`, methods matched by name alone."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        by_name: dict[str, list[Definition]] = {}
        for definition in drivers:
            by_name.setdefault(definition.name, []).append(definition)
            if definition.name == "__init__":
                by_name.setdefault(definition.owner.rsplit(":", 1)[-1], []).append(definition)
        for method in self._program.methods(runner.key):
            by_name.setdefault(method.name, []).append(method)
        for definition in drivers:
            for call in self._graph.effects(definition).calls:
                for callee in by_name.get(call.rsplit(".", 1)[-1], ()):
                    own = call.startswith("self.") and call.count(".") == 1
                    if callee.key != definition.key and (not own or callee.owner == definition.owner):
                        graph.add_edge(definition.key, callee.key)
        return graph

    def _common_ancestor(self, graph: nx.DiGraph[str], names: set[str], builders: set[str]) -> str | None:
        """The ancestor of a sink writer nearest to it that also reaches a builder."""
        targets = [key for key in graph if key.rsplit(".", 1)[-1] in names or key.rsplit(":", 1)[-1] in names]
        best: tuple[int, str] | None = None
        reverse = graph.reverse(copy=False)
        for target in targets:
            for key, distance in nx.single_source_shortest_path_length(reverse, target).items():
                if builders & (nx.descendants(graph, key) | {key}) and (best is None or (distance, key) < best):
                    best = (distance, key)
        return None if best is None else best[1]


def module_name(path: str) -> str:
    """The dotted name of the module in `path`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
