"""Tables that classes and functions enter themselves into: filled by calls and decorators when a module is imported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from analyzer.domain.modules import ClassFacts, Definition, ModuleFacts, ModuleStatement
from analyzer.domain.terms import handle
from analyzer.symbolic.state import Frame, State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_ENTERS: Final = re.compile(r"setattr\(cls\b|\bcls\.\w+(\[[^\]]+\])?\s*=[^=]|\bcls\.\w+\.(append|add)\(")
_ENTERS_VARIABLE: Final = r"\b{}(\[[^\]]+\]\s*[|+]?=[^=]|\s*[|+]=|\.(append|add|extend|insert|setdefault|update)\()"
_WORD: Final = re.compile(r"[^\W\d]\w*")

Entry = ModuleStatement | Definition | ClassFacts


def is_registry(cls: ClassFacts) -> bool:
    """Whether a method of `cls` puts something into the class itself, read off its text."""
    return any(_ENTERS.search(method.text) for method in cls.methods.values())


def registrars(facts: ModuleFacts, variable: str) -> frozenset[str]:
    """The functions of a module that put something into one of its variables, or name a function that does."""
    enters = re.compile(_ENTERS_VARIABLE.format(re.escape(variable)))
    words = {name: frozenset(_WORD.findall(function.text)) for name, function in facts.functions.items()}
    found: set[str] = set()
    pending = {name for name, function in facts.functions.items() if enters.search(function.text)}
    while pending:
        found |= pending
        pending = {name for name, used in words.items() if used & pending} - found
    return frozenset(found)


def entering(facts: ModuleFacts, names: AbstractSet[str]) -> list[Definition | ClassFacts]:
    """The functions and classes of a module with a decorator among its functions `names`, in their order."""
    definitions: tuple[Definition | ClassFacts, ...] = (*facts.functions.values(), *facts.classes.values())
    found = [place for place in definitions if any(names & set(_WORD.findall(text)) for text in place.decorators)]
    return sorted(found, key=lambda place: place.line)


class Registries:
    """Fills the tables of a module by what its top level calls, each once, when somebody reads them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        # The entries that were carried out, by module and line.
        self._done: set[tuple[str, int]] = set()

    def fill_class(self, cls: ClassFacts) -> None:
        """Make the calls at the top level of the class's module, for what they enter into the class."""
        facts = self.machine.program.module(cls.module)
        if facts is not None:
            names = facts.functions.keys() | facts.classes.keys()
            self._run(facts, [statement for statement in facts.calls if statement.names & names])

    def fill_variable(self, module: str, name: str) -> None:
        """Make the calls and run the decorators at the top level of a module that enter something into its variable."""
        facts = self.machine.program.module(module)
        if facts is None:
            return
        names = registrars(facts, name)
        calls = [statement for statement in facts.calls if statement.names & names]
        entries: list[Entry] = [*calls, *entering(facts, names)]
        self._run(facts, sorted(entries, key=lambda entry: entry.line))

    def _run(self, facts: ModuleFacts, entries: Sequence[Entry]) -> None:
        """Carry out those of `entries` that were not yet, in their order, outside every path."""
        new = [entry for entry in entries if (facts.module, entry.line) not in self._done]
        if not new:
            return
        self._done.update((facts.module, entry.line) for entry in new)
        machine, before, eager = self.machine, self.machine.span, self.machine.eager
        state = State(Frame(facts.module, facts.path, 1, "<module>"))
        machine.eager = True
        for entry in new:
            state.frame = Frame(facts.module, facts.path, entry.line, "<module>")
            if isinstance(entry, ModuleStatement):
                machine.statements.block(machine.lowering.statements(entry.text), state)
            else:
                kind, key = ("class", "") if isinstance(entry, ClassFacts) else ("undecorated", "|")
                decorators = [machine.lowering.expression(text) for text in entry.decorators]
                machine.decorators.apply(handle(kind, key + entry.key), decorators, state)
        machine.span, machine.eager = before, eager
        machine.toplevel.keep(state)
