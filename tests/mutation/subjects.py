"""A release with one changed file: its formulas, and what its own code computes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any

from analyzer.adapters.rules import load_rules
from analyzer.adapters.wheel import ArchiveTree
from analyzer.application.extract import Explored, explore, extract
from analyzer.domain.extraction import Extraction
from analyzer.domain.report import Change, Kind
from analyzer.domain.rules import RuleSet
from analyzer.domain.source import Revision, SourceFile
from tests.differential.configurations import draw
from tests.differential.execution import Outcome, Release, release
from tests.differential.loading import OPENED
from tests.mutation.operators import semantic_mutants
from tests.mutation.rewriting import text_mutants
from tests.support.comparing import compare_extractions
from tests.support.releases import wheel

_CONFIGURATIONS = 60
_DISPLAYED_BELOW = "python/"


@dataclass(frozen=True)
class Mutant:
    """One change of one file of a release."""

    version: str
    path: str
    what: str
    content: bytes

    @property
    def module(self) -> str:
        """The dotted name of the changed file."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def __str__(self) -> str:
        return f"{self.version} {self.path}: {self.what}"


class _ChangedTree:
    """A tree in which one file has another content."""

    def __init__(self, tree: ArchiveTree, path: str, content: bytes) -> None:
        self._tree = tree
        self._changed = SourceFile(path, sha256(content).hexdigest()[:40], content)

    @property
    def revision(self) -> Revision:
        return self._tree.revision

    def paths(self) -> Sequence[str]:
        return self._tree.paths()

    def blob(self, path: str) -> str | None:
        return self._changed.blob if path == self._changed.path else self._tree.blob(path)

    def read(self, path: str) -> SourceFile | None:
        return self._changed if path == self._changed.path else self._tree.read(path)

    def display_path(self, path: str) -> str:
        return self._tree.display_path(path)


@cache
def rules() -> RuleSet:
    """The rules that ship with the package."""
    return load_rules()


@cache
def tree(version: str) -> ArchiveTree:
    """The files of a release."""
    return ArchiveTree(Revision(version, version, f"wheel {version}", version), wheel(version))


@cache
def _explored(version: str, root: str) -> Explored:
    return explore(tree(version), rules(), root)


def original(version: str, root: str) -> Extraction:
    """The formulas of a release."""
    return _explored(version, root).extraction


def mutated(mutant: Mutant, root: str) -> Extraction:
    """The formulas of a changed release."""
    changed = _ChangedTree(tree(mutant.version), mutant.path, mutant.content)
    return extract(changed, rules(), root, _explored(mutant.version, root).settled[0])


def semantic(version: str, quantities: Collection[str], root: str, seed: int, *, executed: bool) -> Iterator[Mutant]:
    """Changes of what the formulas of `quantities` compute, in random order; those that can be `executed` only."""
    yield from _mutants(version, quantities, root, seed, semantic_mutants, executed=executed)


def textual(version: str, quantities: Collection[str], root: str, seed: int, *, executed: bool) -> Iterator[Mutant]:
    """Changes of text in the functions that the formulas of `quantities` come from, in random order."""
    yield from _mutants(version, quantities, root, seed, text_mutants, executed=executed)


def _mutants(
    version: str, quantities: Collection[str], root: str, seed: int, make: Any, *, executed: bool
) -> Iterator[Mutant]:
    found: list[Mutant] = []
    for path, lines in sorted(_lines(original(version, root), quantities).items()):
        file = tree(version).read(path)
        mutant = Mutant(version, path, "", b"")
        if file is not None and (not executed or mutant.module in OPENED):
            found += [Mutant(version, path, what, content) for what, content in make(file.content, lines)]
    Random(f"{version}/{seed}").shuffle(found)  # noqa: S311 - repeatable, not secret
    return iter(found)


def _lines(extraction: Extraction, quantities: Collection[str]) -> dict[str, set[int]]:
    """Where the formulas of `quantities` are written, by file."""
    found: dict[str, set[int]] = {}
    for name in quantities:
        formula = extraction.quantities.get(name) or extraction.definitions.get(name)
        for span in () if formula is None else formula.locations:
            path = span.path.removeprefix(_DISPLAYED_BELOW)
            found.setdefault(path, set()).update(range(span.line, span.end_line + 1))
    return found


def compared(mutant: Mutant, scenario: str, root: str) -> tuple[Kind, tuple[Change, ...]]:
    """The verdict over a changed release, and what it rests on."""
    before, after = original(mutant.version, root), mutated(mutant, root)
    names = tuple(dict.fromkeys((*before.quantities, *after.quantities)))
    found = compare_extractions(before, after, rules(), scenarios=[scenario], quantities=names)
    return found.verdict, found.changes


@cache
def _cases(version: str, scenario: str) -> list[tuple[Mapping[str, Any], Outcome]]:
    return [(inputs, release(version).run(inputs, scenario)) for inputs in draw(scenario, _CONFIGURATIONS, seed=31)]


def changes_results(mutant: Mutant, scenario: str) -> bool:
    """Whether the changed code of the release itself computes something else for some configuration."""
    changed = Release(mutant.version, "cuda", {mutant.module: mutant.content})
    return any(
        _differ(_run(changed, inputs, scenario), expected) for inputs, expected in _cases(mutant.version, scenario)
    )


def _differ(found: Outcome | str, expected: Outcome) -> bool:
    """Whether two outcomes differ in what both have: some quantities are seen only by the name of a variable."""
    if isinstance(found, str) or found.error != expected.error:
        return True
    shared = found.quantities.keys() & expected.quantities.keys()
    return any(found.quantities[name] != expected.quantities[name] for name in shared)


def _run(changed: Release, inputs: Mapping[str, Any], scenario: str) -> Outcome | str:
    try:
        return changed.run(inputs, scenario)
    except Exception as error:  # noqa: BLE001 - a changed release may fail in any way
        return type(error).__name__
