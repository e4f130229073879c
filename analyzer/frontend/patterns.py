"""Lowering of ``match``: each case becomes a condition and what its pattern binds, in nested ifs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from typing import Any, Final

import libcst as cst

from analyzer.domain import syntax as ir

# Of these, the one positional part of a pattern is the object itself.
_SELF_MATCHING: Final = frozenset({"bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
# No name of the source: what is matched, where it is no name already.
_SUBJECT: Final = "match subject"


class UnsupportedPatternError(Exception):
    """A pattern without a condition that can be written down."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The condition under which a pattern matches, None for always, and the names that it binds then."""

    test: ir.Expr | None
    bound: tuple[tuple[str, ir.Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One case, its body lowered."""

    pattern: Pattern
    guard: ir.Expr | None
    body: tuple[ir.Stmt, ...]
    line: int
    end_line: int


class Patterns:
    """Patterns over one subject, by the expressions of a lowering."""

    def __init__(self, expr: Callable[[cst.BaseExpression], ir.Expr], line: int) -> None:
        self._expr = expr
        self._line = line

    def subject(self, node: cst.BaseExpression) -> tuple[ir.Expr, tuple[ir.Stmt, ...]]:
        """What stands for the subject, and the statement that evaluates it once, where that takes one."""
        value = self._expr(node)
        if isinstance(value, ir.Name | ir.Literal):
            return value, ()
        if isinstance(value, ir.Sequence) and not any(isinstance(item, ir.Starred) for item in value.items):
            names = tuple(ir.Name(f"{_SUBJECT} {index}", self._line) for index in range(len(value.items)))
            statements = tuple(
                ir.Assign((name,), item, None, self._line, self._line)
                for name, item in zip(names, value.items, strict=True)
            )
            return ir.Sequence("tuple", names, self._line), statements
        name = ir.Name(_SUBJECT, self._line)
        return name, (ir.Assign((name,), value, None, self._line, self._line),)

    def lower(self, node: cst.MatchPattern, subject: ir.Expr) -> Pattern:
        """`node` over `subject`. Raises UnsupportedPatternError."""
        match node:
            case cst.MatchValue(value=value):
                return Pattern(self._compared(subject, "==", self._expr(value)))
            case cst.MatchSingleton(value=value):
                return Pattern(self._compared(subject, "is", self._expr(value)))
            case cst.MatchOr(patterns=alternatives):
                return self._either([self.lower(alternative.pattern, subject) for alternative in alternatives])
            case cst.MatchAs(pattern=inner, name=name):
                found = Pattern(None) if inner is None else self.lower(inner, subject)
                bound = () if name is None else ((name.value, subject),)
                return Pattern(found.test, (*found.bound, *bound))
            case cst.MatchClass():
                return self._class(node, subject)
            case cst.MatchTuple(patterns=elements) | cst.MatchList(patterns=elements):
                return self._elements(elements, subject)
            case _:
                raise UnsupportedPatternError

    def _compared(self, subject: ir.Expr, op: str, value: ir.Expr) -> ir.Expr:
        return ir.Comparison(subject, ((op, value),), self._line)

    def _either(self, alternatives: Sequence[Pattern]) -> Pattern:
        if any(pattern.bound for pattern in alternatives):
            raise UnsupportedPatternError
        tests = [pattern.test for pattern in alternatives]
        known = [test for test in tests if test is not None]
        return Pattern(self._joined("or", known) if len(known) == len(tests) else None)

    def _class(self, node: cst.MatchClass, subject: ir.Expr) -> Pattern:
        kind = self._expr(node.cls)
        asked = (ir.Argument(subject, line=self._line), ir.Argument(kind, line=self._line))
        parts = [Pattern(ir.Call(ir.Name("isinstance", self._line), asked, self._line))]
        if node.patterns:
            if len(node.patterns) > 1 or not isinstance(kind, ir.Name) or kind.id not in _SELF_MATCHING:
                raise UnsupportedPatternError
            parts.append(self._element(node.patterns[0], subject))
        parts += [
            self.lower(keyword.pattern, ir.Attribute(subject, keyword.key.value, self._line)) for keyword in node.kwds
        ]
        return self._all(parts)

    def _elements(
        self, elements: Sequence[cst.MatchSequenceElement | cst.MatchOrElement | cst.MatchStar], subject: ir.Expr
    ) -> Pattern:
        """A sequence pattern over a subject that is written as a tuple itself."""
        if not isinstance(subject, ir.Sequence) or len(subject.items) != len(elements):
            raise UnsupportedPatternError
        pairs = zip(elements, subject.items, strict=True)
        return self._all([self._element(element, item) for element, item in pairs])

    def _element(self, element: object, subject: ir.Expr) -> Pattern:
        if not isinstance(element, cst.MatchSequenceElement):
            raise UnsupportedPatternError
        return self.lower(element.value, subject)

    def _all(self, parts: Sequence[Pattern]) -> Pattern:
        tests = [part.test for part in parts if part.test is not None]
        bound = tuple(pair for part in parts for pair in part.bound)
        return Pattern(self._joined("and", tests) if tests else None, bound)

    def _joined(self, op: str, tests: Sequence[ir.Expr]) -> ir.Expr:
        return reduce(lambda left, right: ir.Boolean(op, left, right, self._line), tests)


def chain(cases: Sequence[Case]) -> tuple[ir.Stmt, ...]:
    """The cases one after the other. Raises UnsupportedPatternError."""
    if not cases:
        return ()
    case, rest = cases[0], cases[1:]
    names = tuple(
        ir.Assign((ir.Name(name, case.line),), value, None, case.line, case.line) for name, value in case.pattern.bound
    )
    if case.guard is None and case.pattern.test is None:
        return (*names, *case.body)
    if case.guard is None or case.pattern.test is None:
        # A pattern that always matches binds its names before its guard is looked at.
        always = case.pattern.test is None
        test = case.guard if always else case.pattern.test
        assert test is not None
        body = case.body if always else (*names, *case.body)
        return (*(names if always else ()), ir.If(test, body, chain(rest), case.line, case.end_line))
    # The names are bound with the body: in the guard, what they stand for is written in their place.
    guard = _replaced(case.guard, dict(case.pattern.bound))
    test = ir.Boolean("and", case.pattern.test, guard, case.line)
    return (ir.If(test, (*names, *case.body), chain(rest), case.line, case.end_line),)


def _replaced(part: Any, bound: Mapping[str, ir.Expr]) -> Any:
    """A part of an expression with names replaced by what they stand for."""
    if isinstance(part, ir.Name):
        return bound.get(part.id, part)
    if isinstance(part, tuple):
        return tuple(_replaced(item, bound) for item in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    if isinstance(part, ir.Lambda | ir.Comprehension | ir.Walrus):
        # These bind names themselves.
        raise UnsupportedPatternError
    return replace(part, **{field.name: _replaced(getattr(part, field.name), bound) for field in fields(part)})
