"""Reading cases from ``--set`` options and JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import DEFAULT_SCENARIO, Case, Value


def read_cases(
    file: str | None, settings: Sequence[str], scenarios: Sequence[str], given: Mapping[str, Value]
) -> list[Case]:
    """The cases to evaluate: those of `file` with `given` and `settings` put over each, or one per scenario."""
    values = {**given, **dict(map(read_setting, settings))}
    if file is None:
        return [Case(values, scenario) for scenario in scenarios or (DEFAULT_SCENARIO,)]
    if len(scenarios) > 1:
        raise UsageError("--inputs takes one --scenario at most", hint="give each case its own `scenario`")
    default = scenarios[0] if scenarios else DEFAULT_SCENARIO
    return [replace(case, inputs={**case.inputs, **values}) for case in _read_file(file, default)]


def read_setting(setting: str) -> tuple[str, Value]:
    """Name and value of ``NAME=VALUE``; the value is JSON, else a string. Raises UsageError."""
    name, equals, text = setting.partition("=")
    if not equals or not name:
        raise UsageError(f"--set {setting} has no NAME=VALUE", hint="write --set page_size=64")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return name.strip(), _as_value(name, value)


def _as_value(name: str, value: Any) -> Value:
    """A JSON value as an input: a scalar or a list of scalars."""
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return tuple(value)
    if isinstance(value, list | dict):
        raise UsageError(f"{name} cannot be a nested list or an object")
    return value  # type: ignore[no-any-return]  # JSON has no other scalars


def _read_file(file: str, default: str) -> list[Case]:
    from analyzer.adapters.files import read_input  # noqa: PLC0415 - only with --inputs

    try:
        items = json.loads(read_input(file))
    except OSError as error:
        raise UsageError(f"cannot read the cases: {error.strerror}", where=file) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the cases are not JSON: {error}", where=file) from error
    if not isinstance(items, list):
        raise UsageError("the cases must be a JSON list", where=file, hint='write [{"scenario": "mha", "inputs": {}}]')
    return [_read_case(item, default) for item in items]


def _read_case(item: Any, default: str) -> Case:
    """One case; what is wrong with it is kept in the case, so that the others still count."""
    if not isinstance(item, Mapping):
        return Case(problem="a case must be an object with `inputs`")
    scenario = item.get("scenario", default)
    inputs = item.get("inputs", {})
    if not isinstance(scenario, str):
        return Case(problem="`scenario` of a case must be a string")
    if not isinstance(inputs, Mapping):
        return Case(scenario=scenario, problem="`inputs` of a case must be an object")
    try:
        return Case({name: _as_value(name, value) for name, value in inputs.items()}, scenario)
    except UsageError as error:
        return Case(scenario=scenario, problem=str(error))
