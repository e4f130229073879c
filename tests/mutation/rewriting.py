"""Changes of text alone: names, order, spelling and structure of a source file, by functions that hold `lines`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from typing import Final

Function = ast.FunctionDef
_FLIPPED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp)
_PUT_OFF: Final = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def text_mutants(source: bytes, lines: Collection[int]) -> Iterator[tuple[str, bytes]]:
    """Each way to rewrite one function: what was done, and the changed file."""
    tree = ast.parse(source)
    functions = [position for position, node in enumerate(_functions(tree)) if _holds(node, lines)]
    for position in functions:
        for name, rewrite in REWRITINGS.items():
            copy = deepcopy(tree)
            function = _functions(copy)[position]
            if rewrite(function, copy):
                yield f"{name} in {function.name}", ast.unparse(ast.fix_missing_locations(copy)).encode()


def _functions(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def _holds(function: Function, lines: Collection[int]) -> bool:
    return any(function.lineno <= line <= (function.end_lineno or 0) for line in lines)


def _rename_locals(function: Function, tree: ast.AST) -> bool:
    del tree
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    fixed = {
        argument.arg
        for node in ast.walk(function)
        if isinstance(node, ast.arguments)
        for argument in ast.walk(node)
        if isinstance(argument, ast.arg)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            fixed |= set(node.names)
        if isinstance(node, ast.ExceptHandler) and node.name:
            fixed.add(node.name)
    names = stored - fixed
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = f"renamed_{node.id}"
    return bool(names)


def _invert_ifs(function: Function, tree: ast.AST) -> bool:
    del tree
    found = [node for node in ast.walk(function) if isinstance(node, ast.If) and node.orelse]
    for node in found:
        node.test, node.body, node.orelse = ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body
    return bool(found)


def _name_results(function: Function, tree: ast.AST) -> bool:
    del tree
    return _replace_returns(
        function,
        lambda value: [
            ast.Assign([ast.Name("the_result", ast.Store())], value),
            ast.Return(ast.Name("the_result", ast.Load())),
        ],
    )


def _extract_helper(function: Function, tree: ast.AST) -> bool:
    del tree

    def extracted(value: ast.expr) -> list[ast.stmt]:
        helper = ast.parse("def helper():\n    return 0\nreturn helper()").body
        assert isinstance(helper[0], Function)
        helper[0].body = [ast.Return(value)]
        return helper

    return _replace_returns(function, extracted)


def _replace_returns(function: Function, replace: Callable[[ast.expr], list[ast.stmt]]) -> bool:
    done = False

    class Returns(ast.NodeTransformer):
        def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
            nonlocal done
            if node.value is None or any(isinstance(part, _PUT_OFF) for part in ast.walk(node.value)):
                return node
            done = True
            return replace(node.value)

        def visit_FunctionDef(self, node: Function) -> Function:
            return self.generic_visit(node) if node is function else node  # type: ignore[return-value]  # a function stays one

        def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
            return node

    Returns().visit(function)
    return done


def _spell_out_augmented(function: Function, tree: ast.AST) -> bool:
    del tree
    done = False

    class Augmented(ast.NodeTransformer):
        def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
            nonlocal done
            if isinstance(node.target, ast.Subscript):
                return node
            done = True
            read = deepcopy(node.target)
            read.ctx = ast.Load()
            return ast.Assign([node.target], ast.BinOp(read, node.op, node.value))

    Augmented().visit(function)
    return done


def _flip_comparisons(function: Function, tree: ast.AST) -> bool:
    del tree
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _FLIPPED
    ]
    for node in found:
        node.left, node.comparators = node.comparators[0], [node.left]
        node.ops = [_FLIPPED[type(node.ops[0])]()]
    return bool(found)


def _negate_twice(function: Function, tree: ast.AST) -> bool:
    """`a and b` as `not (not a or not b)`, where only its truth is asked for."""
    del tree
    found = [node for node in ast.walk(function) if isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp)]
    for node in found:
        assert isinstance(node.test, ast.BoolOp)
        opposite = ast.Or() if isinstance(node.test.op, ast.And) else ast.And()
        parts: list[ast.expr] = [ast.UnaryOp(ast.Not(), value) for value in node.test.values]
        node.test = ast.UnaryOp(ast.Not(), ast.BoolOp(opposite, parts))
    return bool(found)


def _say_more(function: Function, tree: ast.AST) -> bool:
    del tree
    said = ast.parse('"""Says more than it did."""\n"and so does this line".strip()').body
    function.body = [*said, *function.body]
    return True


def _move_to_the_end(function: Function, tree: ast.AST) -> bool:
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef) and function in owner.body and not function.decorator_list:
            owner.body.remove(function)
            owner.body.append(function)
            return True
    return False


def _nest(function: Function, tree: ast.AST) -> bool:
    """A guard that returns early, with what comes after it as its else."""
    del tree
    for position, node in enumerate(function.body):
        ends = isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ast.Return | ast.Raise)
        if ends and function.body[position + 1 :]:
            assert isinstance(node, ast.If)
            node.orelse, function.body = function.body[position + 1 :], function.body[: position + 1]
            return True
    return False


REWRITINGS: Final[dict[str, Callable[[Function, ast.AST], bool]]] = {
    "renamed variables": _rename_locals,
    "inverted ifs": _invert_ifs,
    "a name for the result": _name_results,
    "a helper": _extract_helper,
    "x = x + y": _spell_out_augmented,
    "comparisons turned round": _flip_comparisons,
    "negated twice": _negate_twice,
    "a docstring and a message": _say_more,
    "moved in its class": _move_to_the_end,
    "an else after a return": _nest,
}
