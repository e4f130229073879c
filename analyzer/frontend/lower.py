"""Lowering: a definition's text, parsed by libcst, becomes the statement language of the domain.

Lines come from the standard parser, walked in step with libcst's tree statement by statement:
libcst's own position metadata costs more than its parse.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import libcst as cst

from analyzer.domain import syntax as ir
from analyzer.domain.errors import SourceSyntaxError
from analyzer.frontend.expressions import ExpressionLowering, dotted_name
from analyzer.frontend.patterns import Case, Patterns, UnsupportedPatternError, chain

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)


@lru_cache(maxsize=20_000)
def lower_function(text: str) -> ir.FunctionSyntax:
    """The function whose dedented source is `text`; lines are relative to its first line."""
    statement = lower_statements(text)[0]
    assert isinstance(statement, ir.FunctionStatement)
    return ir.FunctionSyntax(statement.name, statement.parameters, statement.body, statement.decorators)


@lru_cache(maxsize=20_000)
def lower_statements(text: str) -> tuple[ir.Stmt, ...]:
    """The statements of `text`, lines relative to its first line."""
    try:
        return _Lowering().block(cst.parse_module(text).body, ast.parse(text).body)
    except (cst.ParserSyntaxError, SyntaxError, RecursionError, MemoryError) as error:
        first = text.split("\n", 1)[0][:60]
        raise SourceSyntaxError(
            f"a definition cannot be read: {first!r}",
            where=type(error).__name__,
            hint="it may nest too deeply, or use a syntax newer than the installed libcst",
        ) from error


@lru_cache(maxsize=20_000)
def lower_expression(text: str) -> ir.Expr:
    """The single expression in `text`."""
    statement = lower_statements(f"({text})\n")[0]
    assert isinstance(statement, ir.Evaluate)
    return statement.value


class _Lowering(ExpressionLowering):
    """One pass over one snippet."""

    def block(self, body: Iterable[cst.CSTNode], lines: Sequence[ast.stmt]) -> tuple[ir.Stmt, ...]:
        """The statements of `body`, placed by their counterparts in `lines`."""
        places = iter(lines)
        lowered: list[ir.Stmt] = []
        for node in body:
            if isinstance(node, cst.SimpleStatementLine):
                lowered.extend(self._small(small, next(places)) for small in node.body)
            elif isinstance(node, cst.BaseSmallStatement):
                lowered.append(self._small(node, next(places)))
            elif isinstance(node, cst.Match):
                lowered.extend(self._match(node, next(places)))
            elif isinstance(node, cst.BaseStatement):
                lowered.append(self._compound(node, next(places)))
        return tuple(lowered)

    def _suite(self, suite: cst.BaseSuite, lines: Sequence[ast.stmt]) -> tuple[ir.Stmt, ...]:
        return self.block(suite.body, lines)

    def _enter(self, place: ast.stmt) -> tuple[int, int]:
        self.line = place.lineno - 1
        if isinstance(place, ast.Assign) and place.targets[-1].end_lineno != place.lineno:
            # Targets over several lines: what happens, happens where the value is.
            self.line = place.value.lineno - 1
        self.keyword_lines = {}
        if place.end_lineno != place.lineno and isinstance(place, _SIMPLE):
            keywords = sorted(
                (node.lineno, node.arg) for node in ast.walk(place) if isinstance(node, ast.keyword) and node.arg
            )
            for line, name in keywords:
                self.keyword_lines.setdefault(name, []).append(line - 1)
        return self.line, (place.end_lineno or place.lineno) - 1

    def _small(self, node: cst.BaseSmallStatement, place: ast.stmt) -> ir.Stmt:  # noqa: C901, PLR0912 - one case for each kind of statement
        line, end = self._enter(place)
        match node:
            case cst.Assign(targets, value):
                return ir.Assign(tuple(self.expr(t.target) for t in targets), self.expr(value), None, line, end)
            case cst.AnnAssign(target=target, annotation=annotation, value=value):
                if value is None:
                    return ir.Jump("pass", line, end)
                return ir.Assign((self.expr(target),), self.expr(value), self.text(annotation.annotation), line, end)
            case cst.AugAssign(target=target, operator=operator, value=value):
                op = self.text(operator).strip().removesuffix("=")
                return ir.Augment(self.expr(target), op, self.expr(value), line, end)
            case cst.Del(target=cst.Tuple(elements) | cst.List(elements)):
                return ir.Delete(tuple(self.expr(element.value) for element in elements), line, end)
            case cst.Del(target=target):
                return ir.Delete((self.expr(target),), line, end)
            case cst.Return(value=value):
                return ir.Return(None if value is None else self.expr(value), line, end)
            case cst.Raise(exc=exc):
                return ir.RaiseStatement(None if exc is None else self.expr(exc), line, end)
            case cst.Assert(test=test):
                return ir.Assert(self.expr(test), line, end)
            case cst.Expr(value=value):
                return ir.Evaluate(self.expr(value), line, end)
            case cst.Import() | cst.ImportFrom():
                return ir.ImportStatement(_bindings(node), line, end)
            case cst.Global(names=names) | cst.Nonlocal(names=names):
                return ir.GlobalStatement(tuple(name.name.value for name in names), line, end)
            case cst.Pass() | cst.Break() | cst.Continue():
                return ir.Jump(type(node).__name__.lower(), line, end)
            case _:
                return self._unsupported(node, place, line, end)

    def _unsupported(self, node: cst.CSTNode, place: ast.stmt, line: int, end: int) -> ir.Stmt:
        inside = list(ast.walk(place))
        stored = [n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        captured = [n.name for n in inside if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name]
        names = () if isinstance(place, ast.ClassDef) else tuple(sorted({*stored, *captured}))
        leaves = not isinstance(place, ast.ClassDef) and any(isinstance(n, ast.Return) for n in inside)
        return ir.UnsupportedStatement(type(node).__name__, self.text(node), names, leaves, line, end)

    def _compound(self, node: cst.BaseStatement, place: Any) -> ir.Stmt:
        line, end = self._enter(place)
        match node:
            case cst.If(test=test, body=body, orelse=orelse) | cst.While(test=test, body=body, orelse=orelse):
                kind = ir.If if isinstance(node, cst.If) else ir.While
                return kind(self.expr(test), self._suite(body, place.body), self._else(orelse, place.orelse), line, end)
            case cst.For(target=target, iter=iterable, body=body, orelse=orelse):
                head = self.expr(target), self.expr(iterable)
                return ir.For(*head, self._suite(body, place.body), self._else(orelse, place.orelse), line, end)
            case cst.Try() | cst.TryStar():
                return self._try(node, place, line, end)
            case cst.With(items=items, body=body):
                contexts = tuple(
                    (self.expr(item.item), None if item.asname is None else self.expr(item.asname.name))
                    for item in items
                )
                return ir.With(contexts, self._suite(body, place.body), line, end)
            case cst.FunctionDef():
                return self._function(node, place, line, end)
            case _:
                return self._unsupported(node, place, line, end)

    def _match(self, node: cst.Match, place: Any) -> tuple[ir.Stmt, ...]:
        """A ``match`` as what evaluates its subject, and nested ifs."""
        line, end = self._enter(place)
        patterns = Patterns(self.expr, line)
        try:
            subject, evaluated = patterns.subject(node.subject)
            cases = []
            for case, counterpart in zip(node.cases, place.cases, strict=True):
                self.line = case_line = counterpart.pattern.lineno - 1
                pattern = patterns.lower(case.pattern, subject)
                guard = None if case.guard is None else self.expr(case.guard)
                body = self._suite(case.body, counterpart.body)
                cases.append(Case(pattern, guard, body, case_line, end))
            return (*evaluated, *chain(cases))
        except UnsupportedPatternError:
            return (self._unsupported(node, place, line, end),)

    def _else(self, orelse: cst.If | cst.Else | None, lines: Sequence[ast.stmt]) -> tuple[ir.Stmt, ...]:
        if orelse is None:
            return ()
        if isinstance(orelse, cst.If):
            return (self._compound(orelse, lines[0]),)
        return self._suite(orelse.body, lines)

    def _try(self, node: cst.Try | cst.TryStar, place: Any, line: int, end: int) -> ir.Stmt:
        body = self._suite(node.body, place.body)
        clauses: Sequence[cst.ExceptHandler | cst.ExceptStarHandler] = node.handlers
        handlers = tuple(
            ir.Handler(
                None if handler.type is None else self.expr(handler.type),
                None if handler.name is None else self.text(handler.name.name),
                self._suite(handler.body, counterpart.body),
            )
            for handler, counterpart in zip(clauses, place.handlers, strict=True)
        )
        final = () if node.finalbody is None else self._suite(node.finalbody.body, place.finalbody)
        return ir.Try(body, handlers, self._else(node.orelse, place.orelse), final, line, end)

    def _function(self, node: cst.FunctionDef, place: Any, line: int, end: int) -> ir.FunctionStatement:
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        parameters = self.parameters(node.params)
        return ir.FunctionStatement(
            node.name.value, parameters, self._suite(node.body, place.body), decorators, line, end
        )


def _bindings(node: cst.Import | cst.ImportFrom) -> tuple[ir.ImportBinding, ...]:
    """Import bindings; a relative module keeps its leading dots for the resolver."""
    if isinstance(node.names, cst.ImportStar):
        return ()
    found: list[ir.ImportBinding] = []
    for alias in node.names:
        name = dotted_name(alias.name)
        bound = dotted_name(alias.asname.name) if alias.asname is not None else None
        if isinstance(node, cst.Import):
            top = name if bound else name.split(".")[0]
            found.append(ir.ImportBinding(bound or top, top, None))
        else:
            module = "." * len(node.relative) + (dotted_name(node.module) if node.module else "")
            found.append(ir.ImportBinding(bound or name, module, name))
    return tuple(found)
