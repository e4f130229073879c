"""What the interpreter needs to know of the program under analysis."""

from __future__ import annotations

from typing import Protocol

from analyzer.domain.modules import ClassFacts, Definition, ModuleFacts
from analyzer.domain.resolution import Resolution


class Program(Protocol):
    """Names, classes and modules of one tree, found on demand."""

    def module(self, name: str) -> ModuleFacts | None:
        """The facts of module `name`; None when the tree has no such file."""
        ...

    def patching(self) -> tuple[ModuleFacts, ...]:
        """The modules looked into so far that set attributes of what others define, in the order of looking."""
        ...

    def is_internal(self, module: str) -> bool:
        """Whether `module` belongs to the analysed package."""
        ...

    def resolve(self, module: str, name: str) -> Resolution | None:
        """What `name` means at the top level of `module`, imports followed."""
        ...

    def resolve_import(self, importer: str, target: str, member: str | None) -> Resolution | None:
        """What an import inside a function of `importer` binds."""
        ...

    def class_facts(self, key: str) -> ClassFacts:
        """The class with this key."""
        ...

    def definition(self, key: str) -> Definition:
        """The function or method with this key."""
        ...

    def mro(self, key: str) -> tuple[ClassFacts, ...]:
        """The class and its analysed ancestors, nearest first."""
        ...

    def base_names(self, key: str) -> frozenset[str]:
        """The simple names of every ancestor, external ones included, and its own."""
        ...

    def annotated_class(self, module: str, annotation: str | None) -> ClassFacts | None:
        """The analysed class that an annotation names; Optional and quotes are looked through."""
        ...
