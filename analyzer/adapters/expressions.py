"""Reading the Python expressions of rule files into terms."""

from __future__ import annotations

import ast
from typing import Final

from analyzer.domain import build
from analyzer.domain.operators import OPERATORS
from analyzer.domain.terms import Term, atom, constant, raising, symbol

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
}
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_FUNCTIONS: Final = frozenset(name for name, entry in OPERATORS.items() if not entry.precedence and name != "item")
_METHODS: Final = frozenset({"upper", "lower", "strip", "startswith", "endswith"})


class ExpressionError(ValueError):
    """A text that is not an expression of the rule language."""


def parse_expression(text: str) -> Term:
    """The term that `text` writes. Raises ExpressionError."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError) as error:
        message = f"not a Python expression: {text!r}"
        raise ExpressionError(message) from error
    return _term(tree.body)


def _term(node: ast.expr) -> Term:  # noqa: C901 - one row per kind of node
    match node:
        case ast.Constant(value=int() | float() | str() | None as value):
            return constant(value)
        case ast.Name(id=name):
            return symbol(name)
        case ast.Attribute():
            return atom(_dotted(node))
        case ast.UnaryOp():
            return _unary(node)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return build.apply(_BINARY[type(op)], _term(left), _term(right))
        case ast.BoolOp(op=op, values=values):
            return build.apply("and" if isinstance(op, ast.And) else "or", *map(_term, values))
        case ast.Compare():
            return _comparison(node)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return build.conditional(_term(test), _term(body), _term(orelse))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return build.apply("tuple", *map(_term, items))
        case ast.Subscript(value=value, slice=index):
            return build.apply("item", _term(value), _term(index))
        case ast.Call():
            return _call(node)
        case _:
            raise _unsupported(node)


def _unsupported(node: ast.AST) -> ExpressionError:
    return ExpressionError(f"not allowed in a rule: {ast.unparse(node)!r}")


def _dotted(node: ast.Attribute) -> str:
    """The name of a constant that lives in a class or in torch; any other attribute is refused."""
    text = ast.unparse(node)
    first = text.partition(".")[0]
    if not all(part.isidentifier() for part in text.split(".")) or not (first[0].isupper() or first == "torch"):
        raise _unsupported(node)
    return text


def _unary(node: ast.UnaryOp) -> Term:
    operand = _term(node.operand)
    match node.op:
        case ast.Not():
            return build.negate(operand)
        case ast.USub():
            return build.apply("neg", operand)
        case _:
            raise _unsupported(node)


def _comparison(node: ast.Compare) -> Term:
    operands = [_term(operand) for operand in (node.left, *node.comparators)]
    pairs = zip(node.ops, operands, operands[1:], strict=False)
    return build.conjunction(*(build.compare(_COMPARE[type(op)], left, right) for op, left, right in pairs))


def _call(node: ast.Call) -> Term:
    if node.keywords:
        raise _unsupported(node)
    match node.func:
        case ast.Name(id="raises") if len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return raising(node.args[0].id)
        case ast.Name(id=name) if name in _FUNCTIONS:
            return build.apply(name, *map(_term, node.args))
        case ast.Attribute(value=receiver, attr=method) if method in _METHODS:
            return build.apply(method, _term(receiver), *map(_term, node.args))
        case _:
            raise _unsupported(node)
