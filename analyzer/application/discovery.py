"""The loop between the flow analysis and the interpreter: explore only what the formula needs."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from analyzer.application.history.recording import Recorder, RecordingProgram
from analyzer.domain.errors import AnchorNotFoundError
from analyzer.domain.relevance import Node, Position, Relevance
from analyzer.domain.rules import RuleSet
from analyzer.domain.syntax import Expr, FunctionSyntax, Stmt
from analyzer.domain.terms import symbols_of
from analyzer.flow.callgraph import CallGraph
from analyzer.flow.program import TreeProgram
from analyzer.flow.relevance import ModRef
from analyzer.flow.roots import Root, RootSearch
from analyzer.frontend.index import effects_of, index_module
from analyzer.frontend.lower import lower_expression, lower_function, lower_statements
from analyzer.ports import SourceTree
from analyzer.symbolic.interpreter import Run, interpret
from analyzer.symbolic.world import Skipped

# Each pass adds the attributes that the previous one was seen to read; real releases need three.
_MAX_PASSES = 6


class Frontend:
    """The lowering functions as the interpreter wants them; `recorder` learns what was lowered."""

    def __init__(self, recorder: Recorder | None) -> None:
        self._note = _ignore if recorder is None else recorder.lowered

    def function(self, text: str) -> FunctionSyntax:
        """The function in `text`."""
        self._note(text)
        return lower_function(text)

    def statements(self, text: str) -> tuple[Stmt, ...]:
        """The statements in `text`."""
        self._note(text)
        return lower_statements(text)

    def expression(self, text: str) -> Expr:
        """The expression in `text`."""
        self._note(text)
        return lower_expression(text)


def _ignore(text: str) -> None:
    del text


class UnsettledError(Exception):
    """More matters in a tree than did in the one before: only a look at it afresh tells what."""


class Exploration:
    """One tree under analysis; a `recorder` learns what is asked of it."""

    def __init__(self, tree: SourceTree, rules: RuleSet, recorder: Recorder | None = None) -> None:
        self._rules = rules
        self._recorder = recorder
        self.frontend = Frontend(recorder)
        self.program = TreeProgram(tree, index_module) if recorder is None else RecordingProgram(tree, recorder)
        records = frozenset(name for name, rule in rules.symbols.items() if rule.domain.kind == "record")
        self.graph = CallGraph(
            self.program, effects_of if recorder is None else recorder.effects, rules.anchors, records
        )
        if recorder is not None:
            measuring = (*rules.anchors["measure_functions"], *rules.anchors["freeing_functions"])
            recorder.begin(self.program, self.graph, measuring)
        self._search = RootSearch(tree, self.program, self.graph, rules.anchors)

    @property
    def modules(self) -> int:
        """How many files were looked into."""
        return self.program.indexed

    @property
    def manifest(self) -> Mapping[str, str | None]:
        """Every path that was asked for, with its blob."""
        return dict(self.program.manifest)

    def root(self) -> Root:
        """Where interpretation starts."""
        return self._search.find()

    def interpret(
        self, root: Root, before: tuple[Relevance, ...] = (), likely: Relevance | None = None
    ) -> tuple[Run, str, tuple[Relevance, ...]]:
        """Interpret from `root` until no skipped statement could have written what the formula reads.

        The first pass begins with what is `likely` to matter, as in another release: most of the others are saved. One
        is enough with what was found to matter `before`, in a tree that is much the same. Raises UnsettledError when
        it is not.
        """
        universe = set(self._universe(root))
        sinks = self._sink_paths(root)
        runner = self.program.base_names(root.runner)
        wanted = dict.fromkeys((*self._rules.anchors["sink_attributes"], "mem_fraction_static"), runner)
        relevant, sizing = wanted, ""
        for start in before or (() if likely is None else (likely,)):
            universe |= self.still_there(start)
            relevant, sizing = with_reads(wanted, start.relevant), start.sizing
        relevance = ModRef(self.graph, self._rules.anchors, universe, relevant, sizing)
        for number in range(_MAX_PASSES):
            patching = self.program.patching()
            run = interpret(self.program, self.frontend, self._rules, relevance, root, sinks)
            run.read_quantities(root.sink)
            # What the first pass began with may matter no more.
            grown = with_reads(relevant if number else wanted, run.machine.reads)
            # A first pass may only see an opt-in second sizing.
            found = _sizing_definition(run, root.sink) or (sizing if number else "")
            patched = self.program.patching()
            reached = self.reached(run) | self.graph.patch(patched)
            universe |= reached
            following = ModRef(self.graph, self._rules.anchors, universe, grown, found)
            is_settled = found == sizing and patched == patching
            if is_settled and not any(missed(s, relevance, following) for s in run.machine.skipped.values()):
                break
            if before:
                raise UnsettledError
            relevant, sizing, relevance = grown, found, following
        if not sizing:
            raise AnchorNotFoundError(
                f"the value of {root.sink} does not depend on a measurement",
                where=f"from {root.definition.qualname} in {root.definition.path}",
                hint="check measure_functions and sink_attributes in rules/anchors.toml",
            )
        self.conclude(following)
        return run, sizing, (self.settled(grown, reached, sizing=sizing),)

    def settled(
        self,
        relevant: Mapping[str, frozenset[str]],
        reached: Iterable[Node],
        *,
        sizing: str = "",
        until: Mapping[str, Position] | None = None,
    ) -> Relevance:
        """What mattered in the end."""
        modules = tuple(facts.module for facts in self.program.patching())
        return Relevance(dict(relevant), frozenset(reached), modules, sizing, until or {})

    def still_there(self, before: Relevance) -> set[Node]:
        """What was reached in another tree and is in this one; modules that set attributes of others are looked into.

        Raises SourceSyntaxError when one of them does not parse.
        """
        for module in before.patching:
            self.program.module(module)
        return {(owner, key) for owner, key in before.reached if self._has(key) and (not owner or self._has(owner))}

    def _has(self, key: str) -> bool:
        """Whether the tree has a class, function or method with this key."""
        module, _, qualname = key.partition(":")
        facts = self.program.module(module)
        if facts is None:
            return False
        owner, _, name = qualname.rpartition(".")
        if owner:
            return owner in facts.classes and name in facts.classes[owner].methods
        return name in facts.functions or name in facts.classes

    def conclude(self, relevance: ModRef) -> None:
        """Tell the recorder what mattered in the end."""
        if self._recorder is not None:
            self._recorder.conclude(relevance)

    def reached(self, run: Run) -> set[Node]:
        """What a run got to that no name led to: the functions it ran, the methods of the objects it made."""
        foreign = tuple(self._rules.anchors["opaque_modules"])
        found = {(self.program.definition(key).owner, key) for key in run.machine.world.functions_run}
        for key in {info.class_key for info in run.machine.world.objects.values() if info.class_key}:
            for cls in self.program.mro(key):
                if not cls.module.startswith(foreign):
                    found |= {(key, method.key) for method in cls.methods.values()}
        return found

    def _sink_paths(self, root: Root) -> dict[str, str]:
        """For each quantity, the first of its sinks whose attribute the runner of this version sets."""
        methods = self.program.methods(root.runner)
        written = {name for method in methods for name in self.graph.effects(method).own_writes}
        return {
            rule.name: path
            for rule in self._rules.quantities.values()
            for path in reversed(rule.sinks)
            if re.split(r"[.(]", path)[0] in written
        }

    def _universe(self, root: Root) -> frozenset[Node]:
        """Every definition whose effects may concern the formula, as far as names tell."""
        found = set(self.graph.closure((root.receiver, root.definition.key)))
        for method in self.program.methods(root.runner):
            found |= self.graph.closure((root.runner, method.key))
        found |= {(owner, key) for owner, key in self._search.driver_nodes()}
        return frozenset(found)


def with_reads(
    relevant: Mapping[str, frozenset[str]], reads: Mapping[str, AbstractSet[str]]
) -> dict[str, frozenset[str]]:
    """`relevant` with what was read as well."""
    grown = dict(relevant)
    for name, owners in reads.items():
        grown[name] = grown.get(name, frozenset()) | owners
    return grown


def missed(skipped: Skipped, before: ModRef, after: ModRef) -> bool:
    """Whether something that was left alone may write what only now is known to be read."""
    if (after.names - before.names) & skipped.calls:
        return True
    if any(before.changers.get(name) != after.changers.get(name) for name in skipped.calls):
        return True
    return any(
        (name in after.relevant and name not in before.relevant)
        if not owner
        else owner in after.relevant.get(name, ()) and owner not in before.relevant.get(name, ())
        for owner, name in skipped.writes
    )


def _sizing_definition(run: Run, sink: str) -> str:
    """The innermost definition that both measures after loading and sets the count: raises in it count.

    "" while the count does not depend on a measurement yet.
    """
    used = symbols_of(run.sink_value(sink))
    measurements = [m for m in run.machine.world.measurements if m.term.name in used]
    writes = [calls for receiver, _, calls, *_ in run.machine.world.sink_writes if receiver is run.runner]
    if not measurements or not writes:
        return ""
    shared = [os.path.commonprefix([m.calls, calls]) for m in measurements for calls in writes]  # noqa: RUF071 - of call stacks
    nearest = max(shared, key=len)
    return nearest[-1] if nearest else measurements[-1].calls[0]
