"""Changes of meaning: one constant, operator, comparison, branch or clamp of a source file is another one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from typing import Final

_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Div,
    ast.Div: ast.Mult,
    ast.LShift: ast.RShift,
}
_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CLAMPS: Final = {"min": "max", "max": "min"}


def semantic_mutants(source: bytes, lines: Collection[int]) -> Iterator[tuple[str, bytes]]:
    """Each way to change one thing on one of `lines`: what was done, and the changed file."""
    tree = ast.parse(source)
    places = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) in lines]
    for position, node in enumerate(places):
        for name, _ in _changes(node):
            copy = deepcopy(tree)
            found = [other for other in ast.walk(copy) if getattr(other, "lineno", 0) in lines][position]
            dict(_changes(found))[name]()
            where = f"line {getattr(node, 'lineno', 0)}: {name} in {ast.unparse(node)[:60]}"
            yield where, ast.unparse(ast.fix_missing_locations(copy)).encode()


def _changes(  # noqa: C901 - one case for each kind of node
    node: ast.AST,
) -> Iterator[tuple[str, Callable[[], None]]]:
    match node:
        case ast.Constant(value=bool() | str() | None | bytes()):
            return
        case ast.Constant(value=int() as value):
            yield "constant", lambda: setattr(node, "value", value + 1)
        case ast.Constant(value=float() as value):
            yield "constant", lambda: setattr(node, "value", value * 1.25 + 0.125)
        case ast.BinOp(left=left, right=right) if type(node.op) in _ARITHMETIC:
            other = _ARITHMETIC[type(node.op)]
            yield "operator", lambda: setattr(node, "op", other())
            if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv):
                yield "operands", lambda: node.__dict__.update(left=right, right=left)
        case ast.Compare(ops=[_]) if type(node.ops[0]) in _COMPARISONS:
            opposite = _COMPARISONS[type(node.ops[0])]
            yield "comparison", lambda: setattr(node, "ops", [opposite()])
        case ast.BoolOp(op=op):
            yield "connective", lambda: setattr(node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.IfExp(body=body, orelse=orelse):
            yield "branches", lambda: node.__dict__.update(body=orelse, orelse=body)
        case ast.If(test=test):
            yield "guard", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), test))
        case ast.Call(func=ast.Name(id=name) as called, args=[first, _, *_]) if name in _CLAMPS:
            yield "clamp", lambda: setattr(called, "id", _CLAMPS[name])
            yield "dropped clamp", lambda: node.__dict__.update(args=[first, first], keywords=[])
        case _:
            return
