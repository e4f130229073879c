"""The exploration of what the options become on their own, apart from the one of the sizing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.application.discovery import Exploration, UnsettledError, missed, with_reads
from analyzer.domain.errors import ExtractionError
from analyzer.domain.relevance import ANY_NAME, Node, Position, Relevance
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import CAPACITY
from analyzer.domain.terms import symbols_of
from analyzer.flow.option_roots import OptionRoot, OptionRootSearch
from analyzer.flow.relevance import ModRef
from analyzer.flow.schedule import ALWAYS, Schedule
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
        self, universe: set[Node], relevant: Mapping[str, frozenset[str]], until: Mapping[str, Position]
    ) -> Schedule:
        graph, anchors, known = self._exploration.graph, self._rules.anchors, frozenset(universe)
        return Schedule(dict(relevant), dict(until), lambda names: ModRef(graph, anchors, known, names, by_name=True))

    def interpret(
        self, root: OptionRoot, before: tuple[Relevance, ...] = ()
    ) -> tuple[Run, tuple[str, ...], tuple[Relevance, ...]]:
        """Interpret from `root` until no skipped statement could have written what the fraction reads.

        A start can fail on the capacity of the device. Where the fraction does not read it, the options that do are
        followed beside the fraction; the second value names them. One pass is enough with what was found to matter
        `before`, in a tree that is much the same. Raises UnsettledError when it is not.
        """
        run, narrow = self._to_fixpoint(root, (root.sink,), before[:1], None)
        if CAPACITY in symbols_of(run.option_value(root.sink)):
            return run, (), (narrow,)
        beside = self._rules.anchors["capacity_options"]
        run, wide = self._to_fixpoint(root, (root.sink, *beside), before[1:], None)
        return run, beside, (narrow, wide)

    def _reached_from(self, root: OptionRoot) -> set[Node]:
        """Every definition that names lead to from where interpretation starts."""
        starts, graph = (root.definition, *root.then), self._exploration.graph
        return {node for start in starts for node in graph.closure((root.receiver, start.key))}

    def follow(
        self, root: OptionRoot, before: tuple[Relevance, ...] = (), likely: Relevance | None = None
    ) -> tuple[Run, tuple[str, ...], tuple[Relevance, ...]]:
        """Interpret from `root` until no skipped statement could have written an option that the sizing reads.

        The second value names those options. The first pass begins with what is `likely` to matter, as in another
        release. One is enough with what was found to matter `before`, in a tree that is much the same. Raises
        UnsettledError when it is not.
        """
        fields = {name for cls in self._exploration.program.mro(root.options) for name in cls.fields}
        wanted = tuple(name for name in self._rules.anchors["sizing_options"] if name in fields)
        # What is declared by name may be set in a loop that names nothing.
        run, settled = self._to_fixpoint(root, wanted, before, likely, ANY_NAME)
        return run, wanted, (settled,)

    def _to_fixpoint(
        self,
        root: OptionRoot,
        wanted: tuple[str, ...],
        before: tuple[Relevance, ...],
        likely: Relevance | None,
        *also: str,
    ) -> tuple[Run, Relevance]:
        program, graph = self._exploration.program, self._exploration.graph
        universe = self._reached_from(root)
        start = relevant = dict.fromkeys((*wanted, *also), program.base_names(root.options))
        until: dict[str, Position] = dict.fromkeys((*wanted, *also), ALWAYS)
        for found in before or (() if likely is None else (likely,)):
            universe |= self._exploration.still_there(found)
            relevant, until = with_reads(relevant, found.relevant), _latest(until, found.until)
        schedule = self._schedule(universe, relevant, until)
        for number in range(_MAX_PASSES):
            patching = program.patching()
            run = interpret(program, self._exploration.frontend, self._rules, schedule, root, {})
            for name in wanted:
                run.option_value(name)
            # What the first pass began with may matter no more.
            relevant = with_reads(relevant if number else start, run.machine.reads)
            until = _latest(until, run.machine.read_until)
            reached = self._exploration.reached(run) | graph.patch(program.patching())
            universe |= reached
            following = self._schedule(universe, relevant, until)
            skipped = run.machine.skipped.items()
            settled = program.patching() == patching
            if settled and not any(missed(done, schedule.view(at), following.view(at)) for at, done in skipped):
                self._exploration.conclude(following.view(()))
                return run, self._exploration.settled(relevant, reached, until=until)
            if before:
                raise UnsettledError
            schedule = following
        raise ExtractionError(
            f"what {root.sink} depends on is still growing after {_MAX_PASSES} passes",
            where=f"from {root.definition.qualname} in {root.definition.path}",
            hint="name the functions that only read files or devices in opaque_functions of rules/anchors.toml",
        )


def _latest(until: Mapping[str, Position], read: Mapping[str, Position]) -> dict[str, Position]:
    """The later position of both for each name."""
    return {name: max(until.get(name, ()), read.get(name, ())) for name in until.keys() | read.keys()}
