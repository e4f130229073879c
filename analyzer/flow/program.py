"""Name resolution over the files of one tree: modules, imports, classes and their ancestors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from analyzer.domain.modules import ClassFacts, Definition, ModuleFacts
from analyzer.domain.resolution import Resolution
from analyzer.domain.source import SourceFile
from analyzer.ports import SourceTree

PACKAGE = "sglang"
_MAX_REEXPORTS = 12
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_WRAPPERS = frozenset({"Optional", "Union", "None", "typing", "Annotated", "ClassVar", "Final", "Type", "type", "A"})


class TreeProgram:
    """A program that indexes only the files its caller asks about."""

    def __init__(self, tree: SourceTree, index: Callable[[SourceFile, str], ModuleFacts]) -> None:
        self._tree = tree
        self._index = index
        self._modules: dict[str, ModuleFacts | None] = {}
        self._mro: dict[str, tuple[ClassFacts, ...]] = {}
        self._base_names: dict[str, frozenset[str]] = {}
        self._names: dict[tuple[str, str], Resolution | None] = {}
        self.manifest: dict[str, str | None] = {}

    @property
    def indexed(self) -> int:
        """How many files were looked into."""
        return sum(facts is not None for facts in self._modules.values())

    def module(self, name: str) -> ModuleFacts | None:
        """The facts of module `name`; None when the tree has no such file."""
        if name not in self._modules:
            self._modules[name] = self._load(name)
        return self._modules[name]

    def patching(self) -> tuple[ModuleFacts, ...]:
        """The modules looked into so far that set attributes of what others define, in the order of looking."""
        return tuple(facts for facts in self._modules.values() if facts is not None and facts.patches)

    def _load(self, name: str) -> ModuleFacts | None:
        if not self.is_internal(name):
            return None
        stem = name.replace(".", "/")
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            blob = self._tree.blob(path)
            self.manifest[path] = blob
            if blob is not None:
                file = self._tree.read(path)
                if file is not None:
                    return self._index(file, name)
        return None

    def is_internal(self, module: str) -> bool:
        """Whether `module` belongs to the analysed package."""
        return module == PACKAGE or module.startswith(PACKAGE + ".")

    def resolve(self, module: str, name: str) -> Resolution | None:
        """What `name` means at the top level of `module`, imports followed."""
        known = (module, name)
        if known not in self._names:
            self._names[known] = self._resolve(module, name, _MAX_REEXPORTS)
        return self._names[known]

    def _resolve(self, module: str, name: str, budget: int) -> Resolution | None:
        facts = self.module(module)
        if facts is None or budget == 0:
            return None
        if name in facts.functions and name not in facts.reassigned:
            return Resolution("function", facts.functions[name].key)
        if name in facts.classes:
            return Resolution("class", facts.classes[name].key)
        if name in facts.imports:
            binding = facts.imports[name]
            found = self._import(binding.module, binding.member, budget - 1)
            if found is not None:
                return found
        if name in facts.functions or any(name in statement.names for statement in facts.statements):
            return Resolution("global", f"{module}:{name}")
        for star in facts.stars:
            found = self._resolve(star, name, budget - 1)
            if found is not None:
                return found
        return None

    def _import(self, module: str, member: str | None, budget: int) -> Resolution | None:
        if not self.is_internal(module):
            return Resolution("external", module if member is None else f"{module}.{member}")
        if member is None:
            return Resolution("module", module)
        found = self._resolve(module, member, budget)
        if found is not None:
            return found
        submodule = f"{module}.{member}"
        return Resolution("module", submodule) if self.module(submodule) is not None else None

    def resolve_import(self, importer: str, target: str, member: str | None) -> Resolution | None:
        """What an import inside a function of `importer` binds."""
        dots = len(target) - len(target.lstrip("."))
        if dots:
            facts = self.module(importer)
            package = facts is not None and facts.path.endswith("__init__.py")
            parts = importer.split(".")
            parts = parts[: len(parts) - dots + package]
            target = ".".join([*parts, target.lstrip(".")]).rstrip(".")
        return self._import(target, member, _MAX_REEXPORTS)

    def class_facts(self, key: str) -> ClassFacts:
        """The class with this key."""
        module, name = key.split(":")
        facts = self.module(module)
        assert facts is not None
        return facts.classes[name]

    def definition(self, key: str) -> Definition:
        """The function or method with this key."""
        module, qualname = key.split(":")
        facts = self.module(module)
        assert facts is not None
        if "." in qualname:
            owner, name = qualname.split(".", 1)
            return facts.classes[owner].methods[name]
        return facts.functions[qualname]

    def mro(self, key: str) -> tuple[ClassFacts, ...]:
        """The class and its analysed ancestors, nearest first."""
        if key not in self._mro:
            self._mro[key] = ()  # an inheritance cycle in broken source ends here
            order: dict[str, ClassFacts] = {}
            cls = self.class_facts(key)
            order[key] = cls
            for base in cls.bases:
                found = self._base(cls, base)
                if found is not None:
                    for ancestor in self.mro(found.key):
                        # A shared ancestor comes after all its descendants.
                        order.pop(ancestor.key, None)
                        order[ancestor.key] = ancestor
            self._mro[key] = tuple(order.values())
        return self._mro[key]

    def methods(self, key: str) -> Iterator[Definition]:
        """The methods of a class and of its analysed ancestors, those that are overridden too."""
        for cls in self.mro(key):
            yield from cls.methods.values()

    def contains(self, path: str, needles: Iterable[str]) -> bool:
        """Whether the text of a file has one of `needles` in it; nothing is parsed for it."""
        file = self._tree.read(path)
        return file is not None and any(needle.encode() in file.content for needle in needles)

    def find_class(self, modules: Iterable[str], names: Iterable[str]) -> ClassFacts | None:
        """The first of `modules` that defines a class called one of `names` gives that class."""
        for module in modules:
            facts = self.module(module)
            for name in names if facts is not None else ():
                if facts is not None and name in facts.classes:
                    return facts.classes[name]
        return None

    def _base(self, cls: ClassFacts, base: str) -> ClassFacts | None:
        return self._named_class(cls.module, base.split("[", maxsplit=1)[0].split("(", maxsplit=1)[0])

    def base_names(self, key: str) -> frozenset[str]:
        """The simple names of every ancestor, external ones included, and its own."""
        known = self._base_names.get(key)
        if known is None:
            names: set[str] = set()
            for cls in self.mro(key):
                names.add(cls.name)
                names.update(base.split("[")[0].rsplit(".", 1)[-1] for base in cls.bases)
            known = self._base_names[key] = frozenset(names)
        return known

    def annotated_class(self, module: str, annotation: str | None) -> ClassFacts | None:
        """The analysed class that an annotation names; Optional and quotes are looked through."""
        if annotation is None:
            return None
        # A container of the class (List[X]) is not the class.
        first = next((name for name in _NAME.findall(annotation) if name not in _WRAPPERS), None)
        return None if first is None else self._named_class(module, first)

    def _named_class(self, module: str, name: str) -> ClassFacts | None:
        """The analysed class that a dotted name means in `module`."""
        head, *rest = name.split(".")
        found = self.resolve(module, head)
        for part in rest:
            if found is None or found.kind != "module":
                break
            found = self.resolve(found.key, part)
        return self.class_facts(found.key) if found is not None and found.kind == "class" else None
