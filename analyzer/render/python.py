"""A formula as the source of one Python function."""

from __future__ import annotations

import json
from collections.abc import Iterator

from analyzer.domain.characters import printable
from analyzer.domain.code import Parameter, PythonFunction, Statement
from analyzer.domain.source import Revision
from analyzer.domain.views import ShowReport
from analyzer.render.blocks import revision_title
from analyzer.render.page import Page

_INDENT = "    "


def render_show(report: ShowReport, page: Page) -> str:
    """The functions of the formulas that were asked for."""
    del page
    return "\n\n\n".join("\n".join(_function(function, report.revision)) for function in report.functions) + "\n"


def _function(function: PythonFunction, revision: Revision) -> Iterator[str]:
    if any("math." in text for text in _expressions(function)):
        yield "import math\n\n"
    if any("bisect." in text for text in _expressions(function)):
        yield "import bisect\n\n"
    yield f"def {function.name}("
    yield f"{_INDENT}*,"
    yield from (f"{_INDENT}{_parameter(parameter)}" for parameter in function.parameters)
    yield "):"
    summary = (
        f"{function.title} [{function.unit}] as SGLang {revision_title(revision)} computes it: {function.scenario}."
    )
    yield f"{_INDENT}{_docstring(summary)}"
    for parameter in function.parameters:
        if parameter.computed:
            yield f"{_INDENT}if {parameter.name} is None:"
            yield f"{_INDENT * 2}{parameter.name} = {parameter.default}"
    yield from (f"{_INDENT}{line}" for statement in function.statements for line in _statement(statement))
    for condition, exception in function.errors:
        yield f"{_INDENT}if {condition}:"
        yield f"{_INDENT * 2}raise {exception}({function.title + ': SGLang refuses these inputs'!r})"
    for text in function.unwritten:
        yield f"{_INDENT}# not checked here: {printable(text)}"
    yield f"{_INDENT}return {function.result}"


def _expressions(function: PythonFunction) -> list[str]:
    defaults = [parameter.default or "" for parameter in function.parameters]
    return [
        *defaults,
        *(statement.expression for statement in function.statements),
        *(text for text, _ in function.errors),
    ]


def _parameter(parameter: Parameter) -> str:
    default = "" if parameter.default is None else "=None" if parameter.computed else f"={parameter.default}"
    return f"{parameter.name}{default},  # [{parameter.unit}] {printable(parameter.description)}"


def _docstring(text: str) -> str:
    # Between quotes that nothing in it can end.
    return json.dumps(printable(text))


def _statement(statement: Statement) -> Iterator[str]:
    if statement.comment:
        yield f"# {printable(statement.comment)}"
    if statement.lazy:
        yield f"def {statement.name}():"
        yield f"{_INDENT}return {statement.expression}"
    else:
        yield f"{statement.name} = {statement.expression}"
