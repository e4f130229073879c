"""The literal defaults of a release's server options, read from their declarations."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.support.releases import wheel

_DECLARED_IN = ("sglang/srt/server_args.py", "sglang/srt/arg_groups/fields/")


@cache
def option_defaults(version: str) -> dict[str, Any]:
    """Option name to literal default; options without one are left out."""
    found: dict[str, Any] = {}
    with zipfile.ZipFile(wheel(version)) as archive:
        for name in archive.namelist():
            if name.startswith(_DECLARED_IN) and name.endswith(".py"):
                found.update(_literals(ast.parse(archive.read(name))))
    return found


def _literals(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                yield from _literal(statement.target.id, statement)


def _literal(name: str, statement: ast.AnnAssign) -> Iterator[tuple[str, Any]]:
    if statement.value is None:
        return
    try:
        yield name, _fallback(statement.annotation, ast.literal_eval(statement.value))
    except ValueError:
        # A computed default: whoever reads the option sees that it is off.
        return


def _fallback(annotation: ast.expr, default: Any) -> Any:
    """What reading the option answers: some releases declare a fallback for None in the annotation."""
    if default is not None:
        return default
    for node in ast.walk(annotation):
        if isinstance(node, ast.keyword) and node.arg == "fallback":
            return ast.literal_eval(node.value)
    return default
