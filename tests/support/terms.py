"""Terms written as Python expressions, and small extractions and rule sets made of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from typing import Final

from analyzer.adapters.rules import load_rules
from analyzer.domain.build import apply, compare, conditional, truth
from analyzer.domain.extraction import Coverage, Extraction, Formula, Gap, Hop, InputFacts
from analyzer.domain.rules import Anchors, ChangeRule, Domain, QuantityRule, RuleSet, ScenarioRule, SymbolRule
from analyzer.domain.source import Span
from analyzer.domain.terms import Scalar, Term, constant, opaque, raising, symbol

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_CALLS: Final = frozenset(
    {"int", "float", "min", "max", "round", "abs", "ceil", "floor", "rank_min", "float32", "bool"}
)


def parse(text: str) -> Term:
    """The term of a Python expression; ``raises("E")`` raises, ``name(...)`` unknown is opaque."""
    return _term(ast.parse(text.strip(), mode="eval").body)


def _term(node: ast.expr) -> Term:  # noqa: C901, PLR0912 - one case per kind of node
    match node:
        case ast.Constant(value):
            assert isinstance(value, int | float | bool | str | None)
            return constant(value)
        case ast.Name() | ast.Attribute():
            return symbol(ast.unparse(node))
        case ast.BinOp(left, op, right):
            return apply(_BINARY[type(op)], _term(left), _term(right))
        case ast.UnaryOp(ast.Not(), operand):
            return apply("not", _term(operand))
        case ast.UnaryOp(ast.USub(), operand):
            return apply("neg", _term(operand))
        case ast.BoolOp(op, values):
            return apply("and" if isinstance(op, ast.And) else "or", *(truth(_term(value)) for value in values))
        case ast.Compare(left, [op], [right]):
            return compare(_COMPARE[type(op)], _term(left), _term(right))
        case ast.IfExp(test, body, orelse):
            return conditional(_term(test), _term(body), _term(orelse))
        case ast.Tuple(items):
            return apply("tuple", *map(_term, items))
        case ast.Call(ast.Name("raises"), [ast.Constant(str(name))]):
            return raising(name)
        case ast.Call(ast.Name(name), args) if name in _CALLS:
            return apply(name, *map(_term, args))
        case ast.Call(function, args):
            return opaque(ast.unparse(function), map(_term, args))
        case _:
            raise NotImplementedError(ast.dump(node))


def domain(kind: str, low: float = 0, high: float = 0, *choices: Scalar, optional: bool = False) -> Domain:
    """A domain, for tables."""
    return Domain(kind, low, high, choices, optional)


_ARGUMENTS: Final = frozenset({"page_size", "max_total_tokens", "tp_size", "max_running_requests"})


def _symbol(name: str, unit: str, where: Domain, default: str | None = None, *, free: bool = True) -> SymbolRule:
    sources = (f"ServerArgs.{name}",) if name in _ARGUMENTS else ()
    return SymbolRule(name, unit, name, where, sources, None if default is None else parse(default), free)


_SYMBOLS: Final = (
    _symbol("available_gpu_memory", "GiB", domain("memory", 0, 288)),
    _symbol("pre_model_load_memory", "GiB", domain("memory", 1, 288)),
    _symbol("mem_fraction_static", "1", domain("real", 0, 1, 0.875, 0.88, 0.5, 0.9)),
    _symbol("rest_memory", "GiB", domain("real", -100, 280)),
    _symbol("cell_size", "byte/token", domain("integer", 1, 1 << 24, 70272, 131072)),
    _symbol("max_total_num_tokens", "token", domain("integer", 0, 1 << 30)),
    _symbol("num_layers", "layer", domain("integer", 1, 128, 61, 32)),
    _symbol("num_kv_heads", "head", domain("integer", 1, 128, 8)),
    _symbol("num_key_value_heads", "head", domain("integer", 1, 128, 8)),
    _symbol("tp_size", "1", domain("integer", 1, 64, 8, 1, 2, 4), "1"),
    _symbol("head_dim", "element", domain("integer", 1, 1024, 128, 64)),
    _symbol("v_head_dim", "element", domain("integer", 1, 1024, 128, 64), "head_dim"),
    _symbol("kv_element_size", "byte", domain("integer", 1, 4, 2, 1)),
    _symbol("page_size", "token", domain("integer", 1, 256, 1, 16, 64, 128), "1"),
    _symbol("max_total_tokens", "token", domain("integer", 1, 1 << 24, optional=True), "None"),
    _symbol("max_running_requests", "request", domain("integer", 1, 8192, optional=True), "None"),
    _symbol("context_len", "token", domain("integer", 1, 1 << 20, 32768)),
    _symbol("gpu_mem", "MiB", domain("integer", 1, 300_000, 98304, optional=True)),
    _symbol("use_mla_backend", "1", domain("boolean"), "False", free=False),
    _symbol("enable_dp_attention", "1", domain("boolean"), "False", free=False),
    _symbol("device", "1", domain("choice", 0, 0, "cuda", "hip", "cpu"), "'cuda'", free=False),
    _symbol("ratio", "1", domain("real", 0, 1, 0.8), free=False),
    _symbol("a", "1", domain("integer", -50, 50)),
    _symbol("b", "1", domain("integer", -50, 50)),
    _symbol("n", "1", domain("integer", 1, 50)),
    _symbol("m", "1", domain("integer", 1, 50)),
    _symbol("x", "1", domain("real", -50, 50)),
    _symbol("y", "1", domain("real", -50, 50)),
    _symbol("z", "1", domain("real", 0, 50)),
    _symbol("p", "1", domain("boolean")),
    _symbol("q", "1", domain("boolean")),
)
_UNITS: Final = {
    "pre_model_load_memory": "GiB",
    "available_gpu_memory": "GiB",
    "rest_memory": "GiB",
    "cell_size": "byte/token",
    "max_total_num_tokens": "token",
    "max_num_reqs": "request",
    "effective_mem_fraction_static": "1",
    "default_mem_fraction_static": "1",
}
_SCENARIOS: Final = (
    ScenarioRule("mha", "MHA", "", {"use_mla_backend": False}),
    ScenarioRule("mla", "MLA", "", {"use_mla_backend": True}),
    ScenarioRule("+hip", "HIP", "", {"device": "hip"}),
    ScenarioRule("+dp", "DP attention", "", {}, ("enable_dp_attention",)),
)


@cache
def change_rules() -> tuple[ChangeRule, ...]:
    """The change rules that ship with the package."""
    return load_rules().changes


def rule_set(changes: tuple[ChangeRule, ...] = ()) -> RuleSet:
    """A small rule set, with the symbols, quantities and scenarios that the tests use."""
    quantities = {
        name: QuantityRule(name, unit, name, name, (), name == "default_mem_fraction_static")
        for name, unit in _UNITS.items()
    }
    symbols = {rule.name: rule for rule in _SYMBOLS}
    scenarios = {rule.name: rule for rule in _SCENARIOS}
    return RuleSet(Anchors({}), quantities, symbols, {}, scenarios, {}, changes or change_rules(), "test")


def formula(
    text: str, *, unit: str = "1", source_unit: str = "", error: str | None = None, path: str = "a.py"
) -> Formula:
    """A formula written as a Python expression."""
    failure = None if error is None else parse(error)
    return Formula(parse(text), unit, source_unit or unit, failure, "source", (Span(path, 1, 1),))


def extraction(
    quantities: Mapping[str, str | Formula],
    definitions: Mapping[str, str | Formula] | None = None,
    defaults: Mapping[str, str | None] | None = None,
    *,
    hops: tuple[Hop, ...] = (),
    gaps: tuple[Gap, ...] = (),
) -> Extraction:
    """An extraction of formulas written as Python expressions."""
    inputs = {
        name: InputFacts(name, None if text is None else parse(text), (name,))
        for name, text in (defaults or {}).items()
    }
    return Extraction(
        entry="entry",
        quantities={name: _formula(name, text) for name, text in quantities.items()},
        definitions={name: _formula(name, text) for name, text in (definitions or {}).items()},
        inputs=inputs,
        hops=hops,
        gaps=gaps,
        coverage=Coverage(1, 1, 0, 0, ()),
        unit_conversions=(),
        unit_findings=(),
        manifest={},
    )


def _formula(name: str, text: str | Formula) -> Formula:
    return text if isinstance(text, Formula) else formula(text, unit=_UNITS.get(name, "1"))
