"""Which variables of a module its functions set, for longer than they run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

_GLOBAL = re.compile(rb"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)
# A name that is set in `globals()`, or an item or more that nobody can name.
_GLOBALS = re.compile(
    rb"\bglobals\(\)(?:\.(?:update|setdefault|pop)\(|"
    rb"\[(?:[\"'](\w+)[\"']\]|[^\]\n]+\])[ \t]*(?::[^=\n]+)?[-+*/|&]{0,2}=(?!=))"
)
_FINALLY = re.compile(rb"^[ \t]+finally:", re.MULTILINE)


def rebound_variables(content: bytes, tree: ast.Module) -> frozenset[str]:
    """Names that functions of the module assign at its top level, and do not put back.

    Read off the text, because walking every tree for it doubles the cost of the index.
    """
    declared = _names(name for names in _GLOBAL.findall(content) for name in names.split(b","))
    if declared and _FINALLY.search(content):
        declared = frozenset().union(*map(_left_changed, _functions(tree)))
    return declared | _names(name or b"*" for name in _GLOBALS.findall(content))


def _names(found: Iterable[bytes]) -> frozenset[str]:
    return frozenset(name.strip().decode("utf-8", "replace") for name in found)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _left_changed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names that `function` declares global, without those that have what they had once it is left."""
    declared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    kept: dict[str, str] = {}
    for statement in function.body:
        if isinstance(statement, ast.Assign):
            kept.update((target, value) for target, value in _copies(statement) if value in declared)
        if isinstance(statement, ast.Try):
            for last in statement.finalbody:
                declared -= {name for name, value in _copies(last) if kept.get(value) == name}
    return frozenset(declared)


def _copies(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that an assignment sets to what another name holds."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    targets, values = _parts(statement.targets[0]), _parts(statement.value)
    if len(targets) == len(values):
        for target, value in zip(targets, values, strict=True):
            if isinstance(target, ast.Name) and isinstance(value, ast.Name):
                yield target.id, value.id


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]
