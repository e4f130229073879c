"""Records what an extraction asks of the files of its tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from analyzer.domain.history import ClassNeeds, ModuleNeeds, Needs
from analyzer.domain.modules import ClassFacts, Definition, Effects, ModuleFacts
from analyzer.domain.source import SourceFile
from analyzer.flow.callgraph import CallGraph
from analyzer.flow.program import TreeProgram
from analyzer.flow.relevance import ModRef
from analyzer.frontend.index import effects_of
from analyzer.ports import SourceTree

V = TypeVar("V")
Index = Callable[[SourceFile, str], ModuleFacts]
"""How the facts of a file, which is a module of that name, are found."""
_NONE: Final = frozenset[str]()


class Asked(dict[str, V]):
    """A dict that remembers which keys were asked for, and whether all were."""

    def __init__(self, content: Any) -> None:
        super().__init__(content)
        self.keys_asked: set[str] = set()
        self.every = False

    def __getitem__(self, key: str) -> V:
        self.keys_asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.keys_asked.add(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`."""
        self.keys_asked.add(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        self.every = True
        return super().__iter__()

    def keys(self) -> Any:
        """Every key."""
        self.every = True
        return super().keys()

    def values(self) -> Any:
        """Every value."""
        self.every = True
        return super().values()

    def items(self) -> Any:
        """Every key with its value."""
        self.every = True
        return super().items()


class Recorder:
    """What one exploration asked: of which files, names and definitions."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._plain: dict[str, ModuleFacts] = {}
        self._modules: dict[str, ModuleFacts] = {}
        self._lowered: set[str] = set()
        self._touched: set[str] = set()
        self._searched: set[str] = set()
        self._needles: set[str] = set()
        self._relevance: ModRef | None = None

    def index(self, file: SourceFile, module: str) -> ModuleFacts:
        """The facts of a file, which record what is asked of them."""
        facts = self._index(file, module)
        classes: dict[str, ClassFacts] = {
            name: replace(cls, methods=Asked(cls.methods), fields=Asked(cls.fields))
            for name, cls in facts.classes.items()
        }
        recording = replace(
            facts, imports=Asked(facts.imports), functions=Asked(facts.functions), classes=Asked(classes)
        )
        self._plain[file.path], self._modules[file.path] = facts, recording
        return recording

    def effects(self, text: str) -> Effects:
        """The names that a definition touches."""
        self._touched.add(text)
        return effects_of(text)

    def lowered(self, text: str) -> None:
        """Note that `text` was read in full."""
        self._lowered.add(text)

    def searched(self, path: str, needles: Iterable[str]) -> None:
        """Note that the text of a file was searched."""
        self._searched.add(path)
        self._needles.update(needles)

    def begin(self, program: TreeProgram, graph: CallGraph, always: Iterable[str]) -> None:
        """Know who asks: `program` for files, `graph` for effects; calls of names in `always` matter anyhow."""
        self._program, self._graph, self._always = program, graph, frozenset(always)

    def conclude(self, relevance: ModRef) -> None:
        """Know what could matter in the end; an exploration that fails does not get so far."""
        self._relevance = relevance

    def needs(self, *, by_name: bool) -> Needs:
        """What was asked, once the exploration is over; with `by_name`, naming an attribute counts as writing it."""
        near = self._near()
        relevance = self._relevance
        files = {path: None if blob is None else self._of(path, near) for path, blob in self._program.manifest.items()}
        return Needs(
            files,
            frozenset(self._searched),
            frozenset(self._needles),
            None if relevance is None else frozenset(relevance.relevant),
            frozenset() if relevance is None else frozenset(relevance.names | relevance.changers.keys() | self._always),
            frozenset() if relevance is None else frozenset(relevance.raising_names),
            by_name,
        )

    def _near(self) -> set[str]:
        """The texts whose effects could matter: of what lowered code may call by name, however far away."""
        by_name: dict[str, list[Definition]] = {}
        pending: list[Definition] = []
        for definition in self._definitions():
            if definition.text in self._lowered:
                pending.append(definition)
            elif definition.text in self._touched:
                by_name.setdefault(definition.called_as, []).append(definition)
        found: set[str] = set()
        while pending:
            for name, _ in self._graph.called(pending.pop()):
                for callee in by_name.pop(name, ()):
                    found.add(callee.text)
                    pending.append(callee)
        return found

    def _definitions(self) -> Iterator[Definition]:
        for facts in self._plain.values():
            yield from facts.definitions

    def _of(self, path: str, near: set[str]) -> ModuleNeeds:
        """What was asked of one file."""
        if path not in self._plain:
            # It did not parse: any other content may.
            return ModuleNeeds(_NONE, _NONE, every=False, classes={}, bodies=_NONE, touches=_NONE, calls=False)
        facts, plain = self._modules[path], self._plain[path]
        imports, functions, classes = facts.imports, facts.functions, facts.classes
        assert isinstance(imports, Asked)
        assert isinstance(functions, Asked)
        assert isinstance(classes, Asked)
        names = frozenset(imports.keys_asked | functions.keys_asked | classes.keys_asked)
        asked = {name: self._of_class(cls) for name, cls in dict.items(classes)}
        return ModuleNeeds(
            names=names,
            idle=names & self._idle(plain, near),
            every=functions.every,
            classes={name: needs for name, needs in asked.items() if needs is not None},
            bodies=frozenset(d.qualname for d in plain.definitions if d.text in self._lowered),
            touches=frozenset(d.qualname for d in plain.definitions if d.text in near),
            calls=any(statement.text in self._lowered for statement in facts.calls),
        )

    def _idle(self, facts: ModuleFacts, near: set[str]) -> frozenset[str]:
        """The functions and variables of a module that nothing was read of."""
        used = {d.qualname for d in facts.definitions if d.text in self._lowered or d.text in near}
        used |= {name for s in facts.statements if s.text in self._lowered for name in s.names}
        bound = facts.functions.keys() | {name for s in facts.statements for name in s.names}
        return frozenset(bound - used - facts.imports.keys() - facts.classes.keys())

    def _of_class(self, cls: ClassFacts) -> ClassNeeds | None:
        """What was asked of one class, None for nothing."""
        methods, fields = cls.methods, cls.fields
        assert isinstance(methods, Asked)
        assert isinstance(fields, Asked)
        names = frozenset(methods.keys_asked | fields.keys_asked)
        if not (names or methods.every or fields.every):
            return None
        computed = frozenset(name for name, field in dict.items(fields) if field.value in self._lowered)
        return ClassNeeds(names, methods.every, fields.every, computed)


class RecordingProgram(TreeProgram):
    """A program that also records which texts were searched."""

    def __init__(self, tree: SourceTree, recorder: Recorder) -> None:
        super().__init__(tree, recorder.index)
        self._recorder = recorder

    def contains(self, path: str, needles: Iterable[str]) -> bool:
        """Whether the text of a file has one of `needles` in it."""
        wanted = tuple(needles)
        self._recorder.searched(path, wanted)
        return super().contains(path, wanted)
