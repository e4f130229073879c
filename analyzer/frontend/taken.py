"""Functions that are taken as values: whoever gets one may call it, under whatever name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from analyzer.domain.syntax import CONTAINER_CHANGES

_Scope = ast.FunctionDef | ast.AsyncFunctionDef


def dotted(node: ast.expr) -> str:
    """``a.b.c`` as text; what is no name stands as ``?``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "?"


def root_of_callee(node: ast.expr) -> ast.expr:
    """What is looked up, or called, for the function that a call calls."""
    while not isinstance(node, ast.Name | ast.Attribute):
        match node:
            case ast.Subscript(value=value) | ast.Call(func=value) | ast.NamedExpr(value=value):
                node = value
            case _:
                break
    return node


def taken(tree: ast.Module, nodes: Iterable[ast.AST]) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """The dotted names that stand for values which may be functions, and which of them an attribute is set to.

    `nodes` are all of `tree`, the source of one definition. Its variables are left out: what they stand for is taken
    where they are set. A function nested in it stands for what the whole of it does.
    """
    finder = _Finder(tree)
    passed: set[str] = set()
    held: set[tuple[str, str]] = set()
    for node in nodes:
        for value in _values(node):
            passed.update(finder.functions(value))
        match node:
            case ast.Assign(targets=targets, value=value):
                held.update((a, f) for a in _attributes(targets) for f in finder.functions(value, nested=True))
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as holder, attr=method), args=args) if (
                method in CONTAINER_CHANGES
            ):
                held.update((holder.attr, f) for arg in args for f in finder.functions(arg, nested=True))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                held.update((a, f) for a in _attributes([target]) for f in finder.functions(value, nested=True))
            case _:
                pass
    return frozenset(passed), frozenset(held)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """What a node hands to somebody: arguments, what is assigned or returned, what is gone through, defaults."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            if not isinstance(func, ast.Name | ast.Attribute):
                yield func
            yield from args
            yield from (keyword.value for keyword in keywords)
        case ast.Assign(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
            yield value
        case ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
            yield value
        case ast.For(iter=value) | ast.comprehension(iter=value):
            yield value
        case ast.arguments(defaults=defaults, kw_defaults=kw_defaults):
            yield from defaults
            yield from (default for default in kw_defaults if default is not None)
        case _:
            pass


def _attributes(targets: Iterable[ast.expr]) -> Iterator[str]:
    """The attributes among targets of an assignment, and those whose items are set."""
    for target in targets:
        match target:
            case ast.Attribute(attr=attr) | ast.Subscript(value=ast.Attribute(attr=attr)):
                yield attr
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                yield from _attributes(elements)
            case _:
                pass


class _Finder:
    """Which functions an expression in one definition may stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self._name = ""
        self._nested: set[str] = set()
        self._locals: set[str] = set()
        for scope in tree.body[:1]:
            if isinstance(scope, _Scope):
                self._name = scope.name
                self._look_into(scope)

    def _look_into(self, scope: _Scope) -> None:
        for node in ast.walk(scope):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    self._locals.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if node is not scope:
                    self._nested.add(name)
                case _:
                    pass

    def functions(self, value: ast.expr, *, nested: bool = False) -> Iterator[str]:
        """The dotted names that `value` may stand for; with `nested`, functions in the definition stand for it."""
        match value:
            case ast.Name(id=name) if name in self._nested:
                if nested:
                    yield self._name
            case ast.Name(id=name):
                if name not in self._locals:
                    yield name
            case ast.Attribute():
                yield dotted(value)
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(str(attribute)), *_]):
                yield f"{dotted(owner)}.{attribute}"
            case _:
                for part in _parts(value):
                    yield from self.functions(part, nested=nested)


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """Expressions one of which `value` may be worth, or calls, or which it holds."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.BoolOp(values=parts) | ast.Dict(values=parts):
            yield from parts
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            yield from parts
        case ast.Subscript(value=inner) | ast.NamedExpr(value=inner) if not isinstance(inner, ast.Name | ast.Attribute):
            yield inner
        case ast.Lambda(body=body):
            yield body
            yield from (node.func for node in ast.walk(body) if isinstance(node, ast.Call))
        case _:
            pass
