"""The page of the Python API, written from its signatures, docstrings and fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
from enum import Enum
from typing import Any, Final

import analyzer.api

_HEAD: Final = """# Python API

What every command does, as functions of `analyzer.api`. This page is written from the code; the names on it are the
public ones, they follow the version of the package (semantic versioning), and they are typed (`py.typed`). Every
failure that a caller can cause is an `AnalyzerError`. `options` is an `Options`, or a `Workspace` to be used for
several calls: what is resolved and extracted once is then kept.
"""


def api_page() -> str:
    """The whole page as Markdown."""
    found = {name: getattr(analyzer.api, name) for name in sorted(analyzer.api.__all__, key=str.lower)}
    functions = {name: item for name, item in found.items() if inspect.isfunction(item)}
    types = {name: item for name, item in found.items() if inspect.isclass(item)}
    assert functions.keys() | types.keys() == found.keys()
    parts = [_HEAD, "## Functions\n", *(_function(name, item) for name, item in functions.items())]
    parts += ["## Types\n", *(_type(name, item) for name, item in types.items())]
    return "\n".join(parts)


def _function(name: str, function: Any) -> str:
    return f"### `{name}`\n\n```python\n{_signature(name, function)}\n```\n\n{_prose(function)}\n"


def _signature(name: str, function: Any) -> str:
    """The signature, one parameter a line; types as they are written, defaults that have a short text."""
    parameters = list(inspect.signature(function).parameters.values())
    lines = []
    for position, parameter in enumerate(parameters):
        keyword_only = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if keyword_only and (position == 0 or parameters[position - 1].kind is not inspect.Parameter.KEYWORD_ONLY):
            lines.append("    *,")
        lines.append(f"    {parameter.name}: {parameter.annotation}{_default(parameter.default)},")
    inner = "\n".join(["", *lines, ""]) if lines else ""
    return f"{name}({inner}) -> {inspect.signature(function).return_annotation}"


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return ""
    return f" = {value!r}" if isinstance(value, str | int | tuple | None) else " = Options()"


def _type(name: str, item: type) -> str:
    parts = [f"### `{name}`\n", f"{_prose(item)}\n"]
    if issubclass(item, Enum):
        parts.append(f"Values, in order: {', '.join(f'`{value.name}`' for value in item)}.\n")
    elif dataclasses.is_dataclass(item):
        parts += [*(f"- `{field.name}`: `{field.type}`" for field in dataclasses.fields(item)), ""]
    return "\n".join(parts)


def _prose(item: Any) -> str:
    """The docstring, with its code marked as Markdown does."""
    text = inspect.getdoc(item) or ""
    return re.sub(r"``(.+?)``", r"`\1`", text)
