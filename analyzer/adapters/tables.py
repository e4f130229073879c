"""TOML files and tables that are read key by key, every problem kept with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from analyzer.adapters.expressions import ExpressionError, parse_expression
from analyzer.domain.terms import Scalar, Term

# In a path of keys, after an array of tables: which of them; no key that a person writes holds it.
_POSITION: Final = "\0"
_INTEGER_BITS: Final = 63


class RuleFile:
    """One parsed rule file, its text for line numbers, and where its problems go."""

    def __init__(self, path: str, content: bytes, problems: list[str]) -> None:
        self.path = path
        self.content = content
        self.data: dict[str, Any] = {}
        self.problems = problems
        try:
            data = tomllib.loads(content.decode())
        except (ValueError, RecursionError) as error:
            # tomllib already says "(at line 3, column 7)"; numbers and nesting without end raise errors of Python's.
            problems.append(f"{path}: not TOML: {error}")
        else:
            if _is_within_format(data):
                self.data = data
            else:
                problems.append(f"{path}: not TOML: an integer of more than 64 bits")

    def problem(self, message: str, *keys: str) -> None:
        """Record a problem at the line where `keys` (tables, then a key) are written."""
        self.problems.append(f"{self.path}:{self._line(keys)}: {message}")

    def _line(self, keys: tuple[str, ...]) -> int:
        """The line of the last of `keys` that is written as a table header or as a key, in order."""
        lines = self.content.decode(errors="replace").splitlines()
        found = 0
        for key in keys:
            written, _, position = key.partition(_POSITION)
            name = rf"['\"]?{re.escape(written)}['\"]?"
            pattern = re.compile(rf"\s*\[+(.*\.)?{name}\s*\]|(.*[\s{{,])?{name}\s*=")
            matching = [n for n, line in enumerate(lines[found:], found) if pattern.match(line)]
            # An array that is written in one place has one line for all its tables.
            found = matching[min(int(position or 0), len(matching) - 1)] if matching else found
        return found + 1


def _is_within_format(value: object) -> bool:
    """Whether every integer in `value` is one that TOML has."""
    match value:
        case dict():
            return all(map(_is_within_format, value.values()))
        case list():
            return all(map(_is_within_format, value))
        case int():
            return value.bit_length() <= _INTEGER_BITS
        case _:
            return True


class RuleTable:
    """A TOML table being read key by key; what is left unread at the end is unknown."""

    def __init__(self, file: RuleFile, data: Mapping[str, Any] | None, *path: str) -> None:
        """Read `data`; None is a table that is missing, which is one problem and not one per key."""
        self._file = file
        self._data = data or {}
        self._is_missing = data is None
        self._path = path
        self._read: set[str] = set()

    def problem(self, key: str, message: str) -> None:
        """Record a problem at `key`, or at the table itself when it has no such key."""
        if not self._is_missing:
            self._file.problem(message, *self._path, *([key] if key in self._data else []))

    def close(self) -> None:
        """Report every key that nothing asked for."""
        for key in self._data:
            if key not in self._read:
                known = ", ".join(sorted(self._read))
                self.problem(key, f"unknown key {key!r}; known are {known}")

    def text(self, key: str, *, default: str | None = None, among: Iterable[str] = ()) -> str:
        """A string; required unless there is a `default`, and one of `among` when that is not empty."""
        value = self._get(key, str, "a string", default)
        choices = tuple(among)
        if choices and value is not None and value not in choices:
            self.problem(key, f"{key} is {value!r}; it must be one of {', '.join(choices)}")
        return value or ""

    def texts(self, key: str, among: Iterable[str] = ()) -> tuple[str, ...]:
        """A list of strings, empty when absent."""
        values = self._get(key, list, "a list of strings", [])
        choices = tuple(among)
        for value in values:
            if not isinstance(value, str) or not value:
                self.problem(key, f"{key} must be a list of strings that are not empty")
            elif choices and value not in choices:
                self.problem(key, f"{key} has {value!r}; it must be among {', '.join(choices)}")
        return tuple(value for value in values if isinstance(value, str))

    def flag(self, key: str) -> bool:
        """A boolean, false when absent."""
        return bool(self._get(key, bool, "true or false", default=False))

    def number(self, key: str) -> float:
        """A number, 0 when absent."""
        self._read.add(key)
        value = self._data.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.problem(key, f"{key} must be a number")
            return 0
        return value

    def values(self, key: str) -> tuple[Scalar | tuple[Scalar, ...], ...]:
        """A list of scalars or of lists of scalars, empty when absent."""
        items = self._get(key, list, "a list", [])
        return tuple(self._value(key, item) for item in items)

    def assignment(self, key: str) -> dict[str, Scalar | tuple[Scalar, ...]]:
        """A table of scalars or lists of scalars, empty when absent."""
        items = self._get(key, dict, "a table", {})
        return {name: self._value(key, item) for name, item in items.items()}

    def table(self, key: str, *, optional: bool = False) -> RuleTable:
        """A table, empty when it may be absent."""
        value = self._get(key, dict, "a table", {} if optional else None)
        return RuleTable(self._file, value, *self._path, key)

    def tables(self, key: str) -> Iterator[tuple[str, RuleTable]]:
        """The tables inside the optional table `key`, by name."""
        outer = self.table(key, optional=True)
        for name in outer.names():
            yield name, outer.table(name)

    def items(self, key: str) -> Iterator[RuleTable]:
        """The tables of the array `key`, none when it is absent."""
        for position, item in enumerate(self._get(key, list, "an array of tables", [])):
            if isinstance(item, dict):
                yield RuleTable(self._file, item, *self._path, f"{key}{_POSITION}{position}")
            else:
                self.problem(key, f"{key} must be an array of tables")

    def names(self) -> tuple[str, ...]:
        """The keys that the file gives this table."""
        return tuple(self._data)

    def expression(self, key: str) -> Term | None:
        """A Python expression as a term, None when absent."""
        if key not in self._data:
            self._read.add(key)
            return None
        text = self._get(key, str, "a Python expression in quotes", "None")
        try:
            return parse_expression(text)
        except ExpressionError as error:
            self.problem(key, str(error))
            return None

    def _value(self, key: str, item: object) -> Scalar | tuple[Scalar, ...]:
        if isinstance(item, list) and all(isinstance(part, int | float | str) for part in item):
            return tuple(item)
        if isinstance(item, int | float | str):
            return item
        self.problem(key, f"{key} may hold numbers, strings, booleans and lists of them")
        return None

    def _get(self, key: str, kind: type, wanted: str, default: Any) -> Any:
        """The value at `key`, `default` when it is absent; wrong or missing without a default is a problem."""
        self._read.add(key)
        if key not in self._data:
            if default is None:
                self.problem(key, f"{key} is missing")
            return default
        value = self._data[key]
        if not isinstance(value, kind):
            self.problem(key, f"{key} must be {wanted}")
            return default
        return value
