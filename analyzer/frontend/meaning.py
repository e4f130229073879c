"""What a piece of source says; comments, docstrings, layout and log lines do not count."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_LOGGERS: Final = frozenset({"logger", "logging", "log"})
_LEVELS: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log", "warn"})
# Calling these changes nothing that anybody else could read.
_PURE: Final = frozenset({"len", "round", "str", "repr", "int", "float", "min", "max", "abs", "sum", "sorted", "type"})


@lru_cache(maxsize=200_000)
def meaning(text: str) -> str:
    """A digest of what `text` says; of the text itself when it cannot be parsed."""
    return digest(text, lambda _: None)


def meaning_of_value(text: str) -> str:
    """A digest of what the expression `text` says, which alone on a line would be a docstring if it is a constant."""
    return meaning(f"_ = ({text}\n)")


@lru_cache(maxsize=20_000)
def meaning_of_annotation(text: str) -> str:
    """A digest of what an annotation says; the help texts beside an annotated type do not count."""
    return digest(f"_: ({text}\n)", lambda tree: _Undescribed().visit(tree))


def digest(text: str, reduce: Callable[[ast.Module], None]) -> str:
    """A digest of what `text` says once `reduce` has taken out more; of the text itself when it cannot be parsed."""
    said = text
    try:
        tree = _Silent().visit(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    else:
        assert isinstance(tree, ast.Module)
        reduce(tree)
        said = ast.dump(tree)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


class _Silent(ast.NodeTransformer):
    """Drops what only people read."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """A docstring, or a line of a log."""
        if isinstance(node.value, ast.Constant) or _is_log_line(node.value):
            return None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """An exception counts by its class, never by its text."""
        match node.exc:
            case ast.Call(func=function, args=args, keywords=keywords) if _are_silent([*args, *keywords]):
                return ast.Raise(function, node.cause)
            case _:
                return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """The same."""
        kept = node.msg if node.msg is not None and not _are_silent([node.msg]) else None
        return self.generic_visit(ast.Assert(node.test, kept))


class _Undescribed(ast.NodeTransformer):
    """Drops the help texts of an annotated type: strings after the type, and arguments called help."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """``Annotated[type, "what it is for"]``, under whatever name it was imported; members of Literal stay."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[first, *others])) if name != "Literal":
                kept = [other for other in others if not _is_text(other)]
                return self.generic_visit(ast.Subscript(node.value, ast.Tuple([first, *kept])))
            case _:
                return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``Arg(help="what it is for", ...)``."""
        kept = [keyword for keyword in node.keywords if keyword.arg != "help"]
        return self.generic_visit(ast.Call(node.func, node.args, kept))


def _is_text(node: ast.expr) -> bool:
    """Whether a string is a sentence; one without a space may be the name of a type."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()


def _is_log_line(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=level), args=args, keywords=keywords):
            return owner in _LOGGERS and level in _LEVELS and _are_silent([*args, *keywords])
        case _:
            return False


def _are_silent(nodes: list[ast.AST]) -> bool:
    """Whether computing `nodes` does nothing but compute."""
    return all(_is_silent(child) for node in nodes for child in ast.walk(node))


def _is_silent(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _PURE
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr=name)):
            return name in {"join", "format"}
        case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
            return False
        case _:
            return True
