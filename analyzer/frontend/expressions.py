"""Lowering of expressions from libcst nodes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from analyzer.domain import syntax as ir
from analyzer.domain.magnitude import is_too_large

_BINARY = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitOr: "|",
    cst.BitAnd: "&",
    cst.BitXor: "^",
}
_COMPARISON = {
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}
_UNARY = {cst.Not: "not", cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~"}
_CONSTANTS = {"None": None, "True": True, "False": False}
_EMPTY = cst.Module([])


def dotted_name(node: cst.CSTNode) -> str:
    """The dotted name that an import names."""
    if isinstance(node, cst.Attribute):
        return f"{dotted_name(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


class ExpressionLowering:
    """Turns expression nodes into the domain's; each carries the line of its statement."""

    line = 0
    # Lines of the keyword arguments of the statement at hand, by keyword, in order of appearance.
    keyword_lines: dict[str, list[int]] = {}  # noqa: RUF012 - replaced as a whole, never changed in place

    def text(self, node: cst.CSTNode) -> str:
        """The source text of `node`."""
        return _EMPTY.code_for_node(node)

    def expr(self, node: cst.BaseExpression) -> ir.Expr:  # noqa: C901, PLR0912 - one case for each kind of expression
        """`node` lowered; what has no form here becomes `Unsupported`."""
        line = self.line
        match node:
            case cst.Name(value):
                return ir.Literal(_CONSTANTS[value], line) if value in _CONSTANTS else ir.Name(value, line)
            case cst.Integer() | cst.Float():
                number = node.evaluated_value
                if is_too_large(number):
                    return ir.Unsupported("a number of this size", self.text(node), line)
                return ir.Literal(number, line)
            case cst.SimpleString() | cst.ConcatenatedString() | cst.FormattedString():
                return self._string(node, line)
            case cst.Attribute(value=value, attr=attr):
                return ir.Attribute(self.expr(value), attr.value, line)
            case cst.Call(func=func, args=args):
                return ir.Call(self.expr(func), tuple(self._argument(arg) for arg in args), line)
            case cst.Subscript(value=value, slice=elements):
                return ir.Subscript(self.expr(value), self._index(elements, line), line)
            case cst.BinaryOperation(left=left, operator=op, right=right) if type(op) in _BINARY:
                return ir.Binary(_BINARY[type(op)], self.expr(left), self.expr(right), line)
            case cst.UnaryOperation(operator=op, expression=operand):
                return ir.Unary(_UNARY[type(op)], self.expr(operand), line)
            case cst.BooleanOperation(left=left, operator=op, right=right):
                name = "and" if isinstance(op, cst.And) else "or"
                return ir.Boolean(name, self.expr(left), self.expr(right), line)
            case cst.Comparison(left=left, comparisons=comparisons):
                rest = tuple((_COMPARISON[type(c.operator)], self.expr(c.comparator)) for c in comparisons)
                return ir.Comparison(self.expr(left), rest, line)
            case cst.IfExp(test=test, body=body, orelse=orelse):
                return ir.IfExpression(self.expr(test), self.expr(body), self.expr(orelse), line)
            case cst.NamedExpr(target=cst.Name(value=name), value=value):
                return ir.Walrus(name, self.expr(value), line)
            case cst.Yield(value=value):
                delegates = isinstance(value, cst.From)
                inner = value.item if isinstance(value, cst.From) else value
                return ir.Yield(None if inner is None else self.expr(inner), delegates, line)
            case cst.Lambda(params=params, body=body):
                return ir.Lambda(self.parameters(params), self.expr(body), line)
            case _:
                return self._container(node, line)

    def _container(self, node: cst.BaseExpression, line: int) -> ir.Expr:
        match node:
            case cst.Tuple(elements) | cst.List(elements) | cst.Set(elements):
                kind = type(node).__name__.lower()
                return ir.Sequence(kind, tuple(self._element(element) for element in elements), line)
            case cst.Dict(elements):
                return ir.Mapping(tuple(self._entry(element) for element in elements), line)
            case cst.ListComp(elt=elt) | cst.SetComp(elt=elt) | cst.GeneratorExp(elt=elt):
                kind = {cst.ListComp: "list", cst.SetComp: "set"}.get(type(node), "generator")
                return ir.Comprehension(kind, self.expr(elt), None, self._clauses(node.for_in), line)
            case cst.DictComp(key=key, value=value, for_in=for_in):
                return ir.Comprehension("dict", self.expr(key), self.expr(value), self._clauses(for_in), line)
            case _:
                return ir.Unsupported(type(node).__name__, self.text(node), line)

    def _string(self, node: cst.BaseString, line: int) -> ir.Expr:
        if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
            value = node.evaluated_value
            if isinstance(value, str):
                return ir.Literal(value, line)
            if isinstance(value, bytes):
                return ir.Unsupported("bytes literal", self.text(node), line)
        return self._interpolated(node, line)

    def _interpolated(self, node: cst.BaseString, line: int) -> ir.FormattedString:
        parts: list[ir.Expr] = []
        stack: list[cst.CSTNode] = [node]
        is_plain = True
        while stack:
            current = stack.pop()
            match current:
                case cst.ConcatenatedString(left=left, right=right):
                    stack += (right, left)
                case cst.FormattedString(parts=inner):
                    stack += reversed(inner)
                case cst.SimpleString():
                    parts.append(ir.Literal(str(current.evaluated_value), line))
                case cst.FormattedStringText(value):
                    parts.append(ir.Literal(value.replace("{{", "{").replace("}}", "}"), line))
                    is_plain = is_plain and "\\" not in value
                case cst.FormattedStringExpression(expression, conversion, format_spec, equal=equal):
                    parts.append(self.expr(expression))
                    if conversion or format_spec or equal:
                        is_plain = False
                        spec = "".join(self.text(part) for part in format_spec or ())
                        label = self.text(expression) + "=" if equal else ""
                        parts.append(ir.Literal(f"{label}!{conversion or ''}:{spec}", line))
                case _:
                    is_plain = False
        return ir.FormattedString(tuple(parts), is_plain, line)

    def _argument(self, arg: cst.Arg) -> ir.Argument:
        if arg.keyword is None:
            return ir.Argument(self.expr(arg.value), None, arg.star, self.line)
        lines = self.keyword_lines.get(arg.keyword.value)
        line = lines.pop(0) if lines else self.line
        return ir.Argument(self.expr(arg.value), arg.keyword.value, "", line)

    def _index(self, elements: Sequence[cst.SubscriptElement], line: int) -> ir.Expr:
        lowered = tuple(self._subscript_element(element.slice, line) for element in elements)
        return lowered[0] if len(lowered) == 1 else ir.Sequence("tuple", lowered, line)

    def _subscript_element(self, node: cst.BaseSlice, line: int) -> ir.Expr:
        if isinstance(node, cst.Index):
            return self.expr(node.value)
        assert isinstance(node, cst.Slice)
        bounds = [None if part is None else self.expr(part) for part in (node.lower, node.upper, node.step)]
        return ir.Slice(bounds[0], bounds[1], bounds[2], line)

    def _element(self, element: cst.BaseElement) -> ir.Expr:
        if isinstance(element, cst.StarredElement):
            return ir.Starred(self.expr(element.value), self.line)
        return self.expr(element.value)

    def _entry(self, element: cst.BaseDictElement) -> tuple[ir.Expr | None, ir.Expr]:
        if isinstance(element, cst.DictElement):
            return self.expr(element.key), self.expr(element.value)
        return None, self.expr(element.value)

    def _clauses(self, node: cst.CompFor) -> tuple[ir.Clause, ...]:
        conditions = tuple(self.expr(condition.test) for condition in node.ifs)
        clause = ir.Clause(self.expr(node.target), self.expr(node.iter), conditions)
        inner = () if node.inner_for_in is None else self._clauses(node.inner_for_in)
        return (clause, *inner)

    def parameters(self, params: cst.Parameters) -> tuple[ir.Parameter, ...]:
        """The parameters of a function or lambda, in order."""
        found = [self._parameter(param, "positional") for param in (*params.posonly_params, *params.params)]
        if isinstance(params.star_arg, cst.Param):
            found.append(self._parameter(params.star_arg, "*"))
        found.extend(self._parameter(param, "keyword") for param in params.kwonly_params)
        if params.star_kwarg is not None:
            found.append(self._parameter(params.star_kwarg, "**"))
        return tuple(found)

    def _parameter(self, param: cst.Param, kind: str) -> ir.Parameter:
        annotation = None if param.annotation is None else self.text(param.annotation.annotation)
        default = None if param.default is None else self.expr(param.default)
        return ir.Parameter(param.name.value, kind, annotation, default)
