"""What of a function's source can matter, given which attributes are read and which calls have effects.

It leaves out what the interpreter leaves alone: a statement that sets nothing that is read, calls nothing that
matters, and binds no local name that what is left reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from analyzer.domain.syntax import CHANGES
from analyzer.frontend.meaning import digest

# With these, names are read that nobody wrote down.
_INTROSPECTION: Final = frozenset({"locals", "vars", "exec", "eval", "globals"})
_LEAVES: Final = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)


@dataclass(frozen=True)
class Concern:
    """Attributes that are read, names of calls with effects, names of calls that may raise; whether raises count."""

    attributes: frozenset[str]
    calls: frozenset[str]
    raising: frozenset[str]
    raises: bool


@lru_cache(maxsize=4096)
def relevant_meaning(text: str, concern: Concern) -> str:
    """A digest of what can matter of the function in `text`; of the text itself when it cannot be parsed."""

    def slice_functions(tree: ast.Module) -> None:
        for function in tree.body:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and not _looks_inside(function):
                function.body = _Slicer(concern, function).slice()

    return digest(text, slice_functions)


def _looks_inside(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Name) and node.id in _INTROSPECTION for node in ast.walk(function))


class _Slicer:
    """One function: what must be kept, and what that reads."""

    def __init__(self, concern: Concern, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._concern = concern
        self._function = function
        self._nested = set(_local_functions(function))
        self._live: set[str] = set()

    def slice(self) -> list[ast.stmt]:
        """The statements that can matter, until what they read adds none."""
        while True:
            kept = self._block(self._function.body)
            live = {name for statement in kept for name in _loads(statement)}
            if live <= self._live:
                return kept
            self._live |= live

    def _block(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [kept for statement in body for kept in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> Iterator[ast.stmt]:
        """`node` as far as it can matter."""
        if not self._matters(node):
            return
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                yield ast.If(test, self._block(body), self._block(orelse))
            case ast.With(items=items, body=body):
                yield ast.With(items, self._block(body))
            case _:
                yield node

    def _matters(self, node: ast.stmt) -> bool:
        return any(self._counts(part) for part in ast.walk(node))

    def _counts(self, node: ast.AST) -> bool:
        concern = self._concern
        match node:
            case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
                return attr in concern.attributes
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                return name in self._live
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Delete() | ast.Match() | ast.ClassDef():
                return True
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                return name in self._live
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                bound = {alias.asname or alias.name.partition(".")[0] for alias in aliases}
                return bool(bound & self._live) or "*" in bound
            case ast.Call(func=func, args=args, keywords=keywords):
                called = {_simple_name(func), *map(_simple_name, args)}
                if called & (concern.calls | self._nested):
                    return True
                return isinstance(func, ast.Attribute) and any(item.arg in concern.attributes for item in keywords)
            case ast.Expr(value=ast.Call(func=func, args=args)):
                names = {_simple_name(func), *map(_simple_name, args)}
                return bool(names & CHANGES) or (concern.raises and bool(names & concern.raising))
            case ast.Raise() | ast.Assert():
                return concern.raises
            case _:
                return isinstance(node, _LEAVES)


def _local_functions(function: ast.AST) -> Iterator[str]:
    """Local names that may hold a function of its own: what calling it does is not known by name."""
    for node in ast.walk(function):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if node is not function:
                yield name
            case ast.Assign(targets=targets, value=ast.Lambda()):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case _:
                pass


def _loads(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target.id


def _simple_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case _:
            return "?"
