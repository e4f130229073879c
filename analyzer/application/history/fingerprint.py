"""What the files of a tree say to one extraction: two trees that say the same have the same formula."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, TypeVar

from analyzer.domain.errors import SourceSyntaxError
from analyzer.domain.history import ClassNeeds, ModuleNeeds, Needs
from analyzer.domain.modules import ClassFacts, Definition, ModuleFacts
from analyzer.domain.source import SourceFile
from analyzer.flow.callgraph import COMMON_NAMES
from analyzer.flow.roots import module_name
from analyzer.frontend.index import effects_of, index_module
from analyzer.frontend.meaning import meaning, meaning_of_annotation, meaning_of_value
from analyzer.frontend.outline import Key, differing, excerpt, outline
from analyzer.frontend.slicing import Concern, relevant_meaning
from analyzer.symbolic.attributes import ENUM_BASES
from analyzer.symbolic.registries import entering, is_registry

_WORD: Final = re.compile(r"\w+")
# The interpreter reads off a constructor it does not enter which class an attribute is of.
_ATTRIBUTE_CLASS: Final = re.compile(r"self\.(\w+)\s*(?::[^=\n]+)?=\s*([A-Za-z_][\w.]*)\(")
_ABSENT: Final = "absent"
# Files whose facts are kept: the large ones take some megabytes each.
_KEPT: Final = 256

Said = dict[str, object]
V = TypeVar("V")


class Sources:
    """Files by path and blob, with the facts of those seen last: what one commit leaves, the next one finds."""

    def __init__(self, read: Callable[[str, str], SourceFile]) -> None:
        self.read = read
        self._outlines: OrderedDict[tuple[str, str], Mapping[Key, bytes]] = OrderedDict()
        self._facts: OrderedDict[tuple[str, str], ModuleFacts] = OrderedDict()

    def outline(self, path: str, blob: str) -> Mapping[Key, bytes]:
        """The pieces of a file."""
        return _recall(self._outlines, (path, blob), lambda: outline(self.read(path, blob).content))

    def facts(self, path: str, blob: str) -> ModuleFacts:
        """The facts of a file. Raises SourceSyntaxError."""
        return _recall(self._facts, (path, blob), lambda: index_module(self.read(path, blob), module_name(path)))

    def index(self, file: SourceFile, module: str) -> ModuleFacts:
        """The facts of a file whose content is known. Raises SourceSyntaxError."""
        return _recall(self._facts, (file.path, file.blob), lambda: index_module(file, module))


def _recall(kept: OrderedDict[tuple[str, str], V], key: tuple[str, str], make: Callable[[], V]) -> V:
    """The value under `key`, made when it is not there; what was asked for longest ago makes room."""
    if key not in kept:
        kept[key] = make()
        if len(kept) > _KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]


class Listener:
    """Reads from the files of a tree what one extraction asked of them, and nothing else."""

    def __init__(self, needs: Needs, sources: Sources) -> None:
        self._needs = needs
        self._sources = sources
        self._sought = frozenset(word for needle in needs.needles for word in _WORD.findall(needle)) - {"class"}
        self._digests: dict[tuple[str, str], str] = {}

    def differs(self, path: str, before: str, after: str) -> bool:
        """Whether two versions of a file say something else where it was asked."""
        asked = self._needs.files[path]
        assert asked is not None
        old, new = self._sources.outline(path, before), self._sources.outline(path, after)
        changed = differing(old, new) if asked.names or asked.every else None
        if changed is not None:
            try:
                # Whether the file still parses is part of what it says.
                ast.parse(excerpt(new, changed))
                wanted = [key for key in changed if _is_asked(key, asked) or b"global" in new.get(key, b"")]
                if not wanted:
                    return False
                one, other = (self._module_of(path, excerpt(pieces, wanted), asked) for pieces in (old, new))
            except (SyntaxError, ValueError, RecursionError, MemoryError, SourceSyntaxError):
                # What looked like a definition was the text of something else.
                return self._digest(path, before) != self._digest(path, after)
            return one != other
        return self._digest(path, before) != self._digest(path, after)

    def _module_of(self, path: str, text: bytes, asked: ModuleNeeds) -> Said:
        return self.module(index_module(SourceFile(path, "", text), module_name(path)), asked)

    def _digest(self, path: str, blob: str) -> str:
        """What the whole file says where it was asked; of a file that does not parse, its blob."""
        key = (path, blob)
        if key not in self._digests:
            asked = self._needs.files[path]
            assert asked is not None
            try:
                facts = self._sources.facts(path, blob)
            except SourceSyntaxError:
                self._digests[key] = blob
            else:
                self._digests[key] = _digest(self.module(facts, asked))
        return self._digests[key]

    def is_found(self, path: str, blob: str | None) -> bool:
        """Whether a search through the texts of the tree finds something in this one."""
        if blob is None or not self._needs.needles:
            return False
        if path not in self._needs.searched and not path.startswith(self._folders):
            return False
        content = self._sources.read(path, blob).content
        return any(needle.encode() in content for needle in self._needs.needles)

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        """The folders that were searched."""
        return tuple({f"{path.rpartition('/')[0]}/" for path in self._needs.searched})

    def module(self, facts: ModuleFacts, asked: ModuleNeeds) -> Said:
        """What `facts` say where they were asked, by item."""
        said: Said = {f"name {name}": self._name(facts, name, asked) for name in sorted(asked.names - asked.idle)}
        said["stars"] = facts.stars
        said["reassigned"] = sorted(facts.reassigned & {*asked.names, "*"})
        for name, needs in sorted(asked.classes.items()):
            if name in facts.classes:
                for item, what in self._class(facts.classes[name], needs, asked):
                    said[f"{name} {item}"] = what
        if asked.every:
            for definition in facts.definitions:
                said[f"driver {definition.qualname}"] = self._driver(definition)
            said["entries"] = [(place.key, place.decorators) for place in entering(facts, facts.functions.keys())]
        said["patches"] = [meaning(statement.text) for statement in facts.patches]
        said["rebound"] = sorted((n, b.module, b.member) for n, b in facts.rebound.items() if n in asked.names)
        if asked.calls:
            said["calls"] = [meaning(statement.text) for statement in facts.calls]
        return {item: what for item, what in said.items() if what}

    def _name(self, facts: ModuleFacts, name: str, asked: ModuleNeeds) -> object:
        """What a name at the top level is bound to."""
        if name in facts.functions:
            return self._definition(facts.functions[name], asked)
        if name in facts.classes:
            cls = facts.classes[name]
            return ("class", cls.bases, cls.decorators)
        binding = facts.imports.get(name)
        statements = [meaning(statement.text) for statement in facts.statements if name in statement.names]
        if binding is None and not statements:
            return _ABSENT
        origin = None if binding is None else (binding.module, binding.member)
        return (origin, statements, not facts.reassigned.isdisjoint((name, "*")))

    def _class(self, cls: ClassFacts, needs: ClassNeeds, asked: ModuleNeeds) -> Iterator[tuple[str, object]]:
        yield "bases", (cls.bases, cls.decorators)
        if needs.every_method:
            yield "registry", is_registry(cls)
        if needs.every_field and _is_positional(cls):
            yield "fields", tuple(cls.fields)
        for name in sorted(needs.names | needs.computed):
            field = cls.fields.get(name)
            if field is not None:
                annotation = None if field.annotation is None else meaning_of_annotation(field.annotation)
                yield name, (annotation, None if field.value is None else meaning_of_value(field.value))
        for name, method in cls.methods.items():
            looked_up = name in needs.names
            if looked_up or needs.every_method:
                what = self._definition(method, asked, looked_up=looked_up)
                if what:
                    yield f"{name}()", what

    def _definition(self, definition: Definition, asked: ModuleNeeds, *, looked_up: bool = True) -> object:
        """What was read of a function: all of it, what it touches, or that it is there."""
        head = (definition.decorators, definition.parameters, definition.returns)
        if definition.qualname in asked.bodies:
            return (head, self._body(definition.text))
        touched = self._touched(definition) if definition.qualname in asked.touches else ()
        if not looked_up:
            # One that is new to a class whose methods were all listed.
            return self._touched(definition) or None
        attributes: Iterable[object] = ()
        if definition.name == "__init__":
            named = set(_ATTRIBUTE_CLASS.findall(definition.text))
            attributes = sorted(
                pair for pair in named if self._needs.relevant is None or pair[0] in self._needs.relevant
            )
        return ("there", definition.decorators, touched, attributes)

    def _body(self, text: str) -> str:
        """What of the source of a function that was run could matter."""
        return meaning(text) if self._concern is None else relevant_meaning(text, self._concern)

    @cached_property
    def _concern(self) -> Concern | None:
        needs = self._needs
        if needs.relevant is None:
            return None
        return Concern(needs.relevant, needs.effectful, needs.raising, raises=not needs.by_name)

    def _touched(self, definition: Definition) -> object:
        """What of the names that a definition touches could make it matter; empty when nothing does."""
        effects, needs = effects_of(definition.text), self._needs
        if needs.relevant is None:
            named = effects.writes, effects.own_writes, effects.calls, effects.named, effects.changed, effects.filled
            return [*map(sorted, named), effects.handed]
        writes = (effects.writes | effects.named if needs.by_name else effects.writes) & needs.relevant
        own = effects.own_writes & needs.relevant
        raising = frozenset[str]() if needs.by_name else needs.raising
        called = {call.rpartition(".")[2] for call in effects.calls} | {p.rpartition(".")[2] for p in effects.passed}
        found = (sorted(writes), sorted(own), sorted((called & (needs.effectful | raising)) - COMMON_NAMES))
        raises = effects.raises and not needs.by_name
        computed = needs.by_name and "*" in effects.named
        handed = [given for given in effects.handed if given[0] in needs.effectful]
        held = sorted(a for a, function in effects.held if function.rpartition(".")[2] in needs.effectful)
        filled = sorted(place for place in effects.filled if place.rpartition(".")[2] in needs.relevant)
        every = (*found, sorted(effects.changed), handed, filled, held, raises, computed)
        return every if any(every) else ()

    def _driver(self, definition: Definition) -> object:
        effects = effects_of(definition.text)
        return sorted({call.rpartition(".")[2] for call in effects.calls} & self._sought)


def _is_asked(key: Key, asked: ModuleNeeds) -> bool:
    """Whether a piece of a file can hold something that was asked for."""
    kind, owner, name = key
    if asked.every or kind in ("rest", "import"):
        return True
    if not owner:
        return name in asked.names or name in asked.classes
    needs = asked.classes.get(owner)
    if needs is None:
        return False
    everything = needs.every_method if kind == "def" else needs.every_field
    return everything or name in needs.names or name in needs.computed


def _is_positional(cls: ClassFacts) -> bool:
    """Whether the order of the fields says something: of a dataclass and of an enum."""
    return bool(cls.decorators) or any(base.rpartition(".")[2] in ENUM_BASES for base in cls.bases)


def _digest(said: Mapping[str, object]) -> str:
    return hashlib.sha256(repr(sorted(said.items())).encode("utf-8", "surrogatepass")).hexdigest()
