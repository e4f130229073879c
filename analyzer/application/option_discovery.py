"""The exploration of what the options become on their own, apart from the one of the sizing."""

from __future__ import annotations

from typing import Final

from analyzer.application.discovery import Exploration, missed
from analyzer.domain.errors import ExtractionError
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import CAPACITY
from analyzer.domain.terms import symbols_of
from analyzer.flow.callgraph import Node
from analyzer.flow.option_roots import OptionRoot, OptionRootSearch
from analyzer.flow.relevance import ModRef
from analyzer.flow.schedule import ALWAYS, Position, Schedule
from analyzer.ports import SourceTree
from analyzer.symbolic.interpreter import Run, interpret

# Each pass adds the options that the previous one was seen to read; real releases need six.
_MAX_PASSES: Final = 16


class OptionExploration:
    """One tree whose options are under analysis."""

    def __init__(self, tree: SourceTree, rules: RuleSet, exploration: Exploration) -> None:
        self._rules = rules
        self._exploration = exploration
        self._search = OptionRootSearch(tree, exploration.program, exploration.graph, rules.anchors)

    def root(self) -> OptionRoot:
        """Where interpretation starts."""
        return self._search.find()

    def _schedule(
        self, universe: set[Node], relevant: dict[str, frozenset[str]], until: dict[str, Position]
    ) -> Schedule:
        graph, anchors, known = self._exploration.graph, self._rules.anchors, frozenset(universe)
        return Schedule(dict(relevant), dict(until), lambda names: ModRef(graph, anchors, known, names, by_name=True))

    def interpret(self, root: OptionRoot) -> tuple[Run, tuple[str, ...]]:
        """Interpret from `root` until no skipped statement could have written what the fraction reads.

        A start can fail on the capacity of the device. Where the fraction does not read it, the options that do are
        followed beside the fraction; the second value names them.
        """
        run = self._to_fixpoint(root, (root.sink,))
        if CAPACITY in symbols_of(run.option_value(root.sink)):
            return run, ()
        beside = self._rules.anchors["capacity_options"]
        return self._to_fixpoint(root, (root.sink, *beside)), beside

    def _to_fixpoint(self, root: OptionRoot, wanted: tuple[str, ...]) -> Run:
        program, graph = self._exploration.program, self._exploration.graph
        universe = set(graph.closure((root.receiver, root.definition.key)))
        relevant = dict.fromkeys(wanted, program.base_names(root.options))
        until: dict[str, Position] = dict.fromkeys(wanted, ALWAYS)
        schedule = self._schedule(universe, relevant, until)
        for _ in range(_MAX_PASSES):
            patching = program.patching()
            run = interpret(program, self._exploration.frontend, self._rules, schedule, root, {})
            for name in wanted:
                run.option_value(name)
            for name, owners in run.machine.reads.items():
                relevant[name] = relevant.get(name, frozenset()) | owners
                until[name] = max(until.get(name, ()), run.machine.read_until[name])
            universe |= self._exploration.reached(run)
            universe |= graph.patch(program.patching())
            following = self._schedule(universe, relevant, until)
            skipped = run.machine.skipped.items()
            settled = program.patching() == patching
            if settled and not any(missed(done, schedule.view(at), following.view(at)) for at, done in skipped):
                self._exploration.conclude(following.view(()))
                return run
            schedule = following
        raise ExtractionError(
            f"what {root.sink} depends on is still growing after {_MAX_PASSES} passes",
            where=f"from {root.definition.qualname} in {root.definition.path}",
            hint="name the functions that only read files or devices in opaque_functions of rules/anchors.toml",
        )
