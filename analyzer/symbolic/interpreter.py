"""One run of the interpreter from a root function to the state in which the server would serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from analyzer.domain.build import map_leaves
from analyzer.domain.modules import Definition
from analyzer.domain.rules import RuleSet
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.terms import (
    NONE,
    Apply,
    Constant,
    Handle,
    Raise,
    Term,
    handle,
    is_absent,
    symbols_of,
    walk,
    with_owners,
)
from analyzer.ports.program import Program
from analyzer.symbolic.backends import AnotherRunnerError, Backends
from analyzer.symbolic.machine import Lowering, Machine, Schedule
from analyzer.symbolic.options import CONFIG
from analyzer.symbolic.state import Frame, State
from analyzer.symbolic.world import ObjectInfo


@dataclass(frozen=True, slots=True)
class Run:
    """A finished interpretation: the machine with its tables, the final state, the runner object."""

    machine: Machine
    state: State
    runner: Handle
    sinks: Mapping[str, str]

    def sink_value(self, sink: str) -> Term:
        """What the runner holds under `sink` at the end."""
        with deep_recursion():
            return self.machine.backends.where_made(
                self.machine.value(self.machine.attributes.read(self.runner, sink, self.state))
            )

    def option_value(self, option: str) -> Term:
        """What an option is worth at the end."""
        with deep_recursion():
            return self.machine.value(self.machine.attributes.read(CONFIG, option, self.state))

    def read_quantities(self, sink: str) -> None:
        """Force everything that the formulas will need, so that all reads are known."""
        values = [self.sink_value(sink), self.state.error]
        values += [self.quantity_value(name) for name in self.sinks]
        values += [term for _, path, error in self.machine.world.late_errors for term in self._late(path, error)]
        pending = sorted(with_owners(symbols_of(*values)))
        seen: set[str] = set()
        with deep_recursion():
            while pending:
                name = pending.pop()
                if name in seen:
                    continue
                seen.add(name)
                definition = self.machine.world.definition(name)
                if definition is not None:
                    pending.extend(sorted(with_owners(symbols_of(definition))))

    def _late(self, path: Iterable[Term], error: Term) -> tuple[Term, ...]:
        """What decides an error of the sizing that was only met when something was computed on demand."""
        sizing, raises = self.machine.relevance.sizing, self.machine.world.raises
        labels = {node.exception for node in walk(error) if isinstance(node, Raise)} & raises.keys()
        return (error, *path) if any(sizing in raises[label].calls for label in labels) else ()

    def quantity_value(self, name: str) -> Term:
        """What the sink of a quantity holds at the end."""
        with deep_recursion():
            return self.machine.backends.where_made(self._follow(self.sinks[name]))

    def _follow(self, path: str) -> Term:
        """A sink path from the runner: ``attribute.attribute`` or ``attribute(parameter)``."""
        head, _, rest = path.partition("(") if "(" in path else path.partition(".")
        owner = self.machine.value(self.machine.attributes.held(self.runner, head, self.state))
        if head == path:
            return owner
        if path.endswith(")"):
            return self.machine.value(map_leaves(owner, lambda leaf: self._argument(leaf, rest.rstrip(")"))))
        return self.machine.value(map_leaves(owner, lambda leaf: self._part(leaf, rest)))

    def _part(self, owner: Term, name: str) -> Term:
        """An attribute of what the runner holds."""
        return owner if is_absent(owner) else self.machine.attributes.held(owner, name, self.state)

    def _argument(self, reference: Term, parameter: str) -> Term:
        """What a pool's constructor was given as `parameter`, without the padding row."""
        if not isinstance(reference, Handle) or reference not in self.machine.world.constructed:
            return NONE
        args, keywords = self.machine.world.constructed[reference]
        key = self.machine.world.objects[reference].class_key
        assert key is not None
        method = self.machine.attributes.find_method(key, "__init__")
        names = [] if method is None else [name for name, _ in method[1].parameters][1:]
        given = dict(zip(names, args, strict=False)) | keywords
        value = self.machine.value(given.get(parameter, NONE))
        match value:
            case Apply("+", (inner, Constant(1))):
                return inner
            case _:
                return value


class Start(Protocol):
    """Where an interpretation starts: a definition, its receiver's class key, the runner's class key."""

    @property
    def definition(self) -> Definition:
        """The function to interpret."""
        ...

    @property
    def receiver(self) -> str:
        """The class key of its ``self``, or "" for a plain function."""
        ...

    @property
    def runner(self) -> str:
        """The key of the class that receives the token count, or "" when none is made."""
        ...

    @property
    def options(self) -> str:
        """The key of the class of the options when they are what is computed, else ""."""
        ...

    @property
    def then(self) -> tuple[Definition, ...]:
        """Methods of the same receiver that are called one after the other once the definition has run."""
        ...


def interpret(  # noqa: PLR0913, PLR0917 - everything that a run starts from
    program: Program,
    lowering: Lowering,
    rules: RuleSet,
    schedule: Schedule,
    start: Start,
    sinks: Mapping[str, str],
) -> Run:
    """Interpret from `start`; `sinks` say where on the runner each quantity is found at the end."""
    backends = Backends(start.runner)
    while True:
        machine = Machine(program, lowering, rules, schedule, backends)
        try:
            return _run(machine, program, start, sinks)
        except AnotherRunnerError as met:
            backends = Backends(start.runner, met.facts)


def _run(machine: Machine, program: Program, start: Start, sinks: Mapping[str, str]) -> Run:
    root, receiver = start.definition, start.receiver
    frame = Frame(root.module, root.path, root.line, root.qualname, receiver or None)
    state = State(frame)
    machine.backends.assume(state)
    if start.options:
        # Whoever computes options has to follow those that few ask for as well.
        machine.opt_in = frozenset()
        machine.world.objects[CONFIG] = ObjectInfo("instance", start.options, "self")
    with deep_recursion():
        machine.toplevel.patch(program.patching())
        args: tuple[Term, ...] = ()
        if receiver:
            args = (_receiver(machine, root, receiver, start.options),)
        machine.calls.inline(root, receiver, args, _declared_parameters(machine, root), state)
        for following in start.then:
            machine.calls.inline(following, receiver, args, {}, state)
    machine.final = state
    return Run(machine, state, _runner(machine, start.runner), sinks)


def _receiver(machine: Machine, root: Definition, receiver: str, options: str) -> Handle:
    """The ``self`` of the root; the options are there once, whoever holds them."""
    if receiver == options:
        return CONFIG
    kind = "instance" if root.name == "__init__" else "symbolic"
    return machine.world.allocate(ObjectInfo(kind, receiver, "self"))


def _declared_parameters(machine: Machine, root: Definition) -> dict[str, Term]:
    """Parameters of the root that the rules know as symbols stay open, whatever their default."""
    symbols = machine.rules.symbols
    return {
        name: machine.input(name, f"{root.qualname}({name})", lambda: None)
        for name, _ in root.parameters
        if name in symbols
    }


def _runner(machine: Machine, runner_class: str) -> Handle:
    """The runner that received the count last.

    A subclass counts only when the class itself was not built: it stands for another backend.
    """
    built = [
        reference
        for reference, info in machine.world.objects.items()
        if info.class_key is not None
        and info.kind == "instance"
        and any(cls.key == runner_class for cls in machine.program.mro(info.class_key))
    ]
    exact = [reference for reference in built if machine.world.objects[reference].class_key == runner_class]
    written = [receiver for receiver, *_ in machine.world.sink_writes]
    candidates = [reference for reference in exact or built if reference in written] or exact or built
    return candidates[0] if candidates else handle("object", "config")
