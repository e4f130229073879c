"""Lowering: a definition's text, parsed by libcst, becomes the statement language of the domain."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from analyzer.domain import syntax as ir
from analyzer.domain.errors import SourceSyntaxError
from analyzer.frontend.expressions import ExpressionLowering, dotted_name

_JUMPS = (cst.Pass, cst.Break, cst.Continue)


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
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    except cst.ParserSyntaxError as error:
        raise SourceSyntaxError(
            f"a definition does not parse: {error.message.splitlines()[0]}",
            hint="the ref may use a syntax newer than the installed libcst",
        ) from error
    return _Lowering(wrapper).block(wrapper.module.body)


@lru_cache(maxsize=20_000)
def lower_expression(text: str) -> ir.Expr:
    """The single expression in `text`."""
    statement = lower_statements(f"({text})\n")[0]
    assert isinstance(statement, ir.Evaluate)
    return statement.value


class _Lowering(ExpressionLowering):
    """One pass over one snippet."""

    def __init__(self, wrapper: MetadataWrapper) -> None:
        super().__init__(wrapper.resolve(PositionProvider))

    def block(self, body: Iterable[cst.BaseStatement | cst.BaseSmallStatement]) -> tuple[ir.Stmt, ...]:
        lowered: list[ir.Stmt] = []
        for node in body:
            if isinstance(node, cst.SimpleStatementLine):
                lowered.extend(self._small(small) for small in node.body)
            elif isinstance(node, cst.BaseSmallStatement):
                lowered.append(self._small(node))
            else:
                lowered.append(self._compound(node))
        return tuple(lowered)

    def _suite(self, suite: cst.BaseSuite) -> tuple[ir.Stmt, ...]:
        return self.block(suite.body)

    def _small(self, node: cst.BaseSmallStatement) -> ir.Stmt:
        line, end = self.lines(node)
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
                return ir.UnsupportedStatement(type(node).__name__, self.text(node), line, end)

    def _compound(self, node: cst.BaseStatement) -> ir.Stmt:
        line, end = self.lines(node)
        match node:
            case cst.If(test=test, body=body, orelse=orelse):
                return ir.If(self.expr(test), self._suite(body), self._else(orelse), line, end)
            case cst.For(target=target, iter=iterable, body=body, orelse=orelse):
                return ir.For(
                    self.expr(target), self.expr(iterable), self._suite(body), self._else(orelse), line, end
                )
            case cst.While(test=test, body=body, orelse=orelse):
                return ir.While(self.expr(test), self._suite(body), self._else(orelse), line, end)
            case cst.Try() | cst.TryStar():
                return self._try(node, line, end)
            case cst.With(items=items, body=body):
                contexts = tuple(
                    (self.expr(item.item), None if item.asname is None else self.expr(item.asname.name))
                    for item in items
                )
                return ir.With(contexts, self._suite(body), line, end)
            case cst.FunctionDef():
                return self._function(node, line, end)
            case _:
                return ir.UnsupportedStatement(type(node).__name__, self.text(node), line, end)

    def _else(self, orelse: cst.If | cst.Else | None) -> tuple[ir.Stmt, ...]:
        if orelse is None:
            return ()
        if isinstance(orelse, cst.If):
            return (self._compound(orelse),)
        return self._suite(orelse.body)

    def _try(self, node: cst.Try | cst.TryStar, line: int, end: int) -> ir.Stmt:
        handlers = tuple(
            ir.Handler(
                None if handler.type is None else self.expr(handler.type),
                None if handler.name is None else self.text(handler.name.name),
                self._suite(handler.body),
            )
            for handler in node.handlers
        )
        final = () if node.finalbody is None else self._suite(node.finalbody.body)
        return ir.Try(self._suite(node.body), handlers, self._else(node.orelse), final, line, end)

    def _function(self, node: cst.FunctionDef, line: int, end: int) -> ir.FunctionStatement:
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        return ir.FunctionStatement(
            node.name.value, self.parameters(node.params), self._suite(node.body), decorators, line, end
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
