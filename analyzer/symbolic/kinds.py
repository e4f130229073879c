"""Symbols that tell which of several attributes is there: what makes a model one of a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from analyzer.domain.build import conditional, map_leaves
from analyzer.domain.terms import NONE, Apply, Conditional, Constant, Symbol, Term, constant, opaque
from analyzer.symbolic.world import SymbolFormula, World

_OTHER: Final = opaque("another kind")


def note_kind(world: World, origin: Term, compute: Callable[[], Term]) -> None:
    """`origin` stands for what `compute` gives; where it is there for one kind only, that is what makes the kind."""
    for name, kind in _kinds(origin):
        world.kinds.setdefault(name, {}).setdefault(kind, compute)
        world.define(name, name, SymbolFormula.of(lambda name=name: _which(world, name)))  # type: ignore[misc]  # a lambda with a default has no inferable type


def _kinds(origin: Term) -> list[tuple[str, str]]:
    """The symbol and the kind in ``x if ... and symbol == 'kind' else None``."""
    if not isinstance(origin, Conditional) or origin.otherwise is not NONE:
        return []
    guard = origin.guard
    parts = guard.args if isinstance(guard, Apply) and guard.op == "and" else (guard,)
    found = []
    for part in parts:
        match part:
            case Apply("==", (Symbol(name), Constant(str(kind)))):
                found.append((name, kind))
            case _:
                pass
    return found


def _which(world: World, name: str) -> Term:
    kind: Term = _OTHER
    for known, compute in sorted(world.kinds[name].items(), reverse=True):
        present = map_leaves(compute(), lambda leaf: constant(leaf is not NONE))
        kind = conditional(present, constant(known), kind)
    return kind
