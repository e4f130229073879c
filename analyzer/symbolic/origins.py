"""Origins: what the rules say a name, a call or a whole expression of SGLang is worth."""

from __future__ import annotations

import re

from analyzer.domain import syntax as ir
from analyzer.domain.build import apply
from analyzer.domain.errors import RuleFileError
from analyzer.domain.rules import RuleSet
from analyzer.domain.terms import Term, constant, opaque, symbol

_NAMED = re.compile(r"(\*\.)?[\w.]+(\(\))?")


def named_origins(rules: RuleSet) -> dict[str, Term]:
    """Origins that are names: ``Class.attribute``, ``Class.method()``, ``function()``."""
    found = dict(rules.origins)
    for rule in rules.symbols.values():
        for source in rule.sources:
            if _NAMED.fullmatch(source):
                found[source] = symbol(rule.name)
    return found


def expression_sources(rules: RuleSet) -> dict[str, str]:
    """Sources that are whole expressions over symbols (``end_layer - start_layer``), by their text."""
    return {
        source: rule.name for rule in rules.symbols.values() for source in rule.sources if not _NAMED.fullmatch(source)
    }


def term_of(node: ir.Expr) -> Term:
    """The term that an expression over symbols writes; a call is an uninterpreted function."""
    match node:
        case ir.Name(name):
            return symbol(name)
        case ir.Literal(value):
            return constant(value)
        case ir.Binary(op, left, right):
            return apply(op, term_of(left), term_of(right))
        case ir.Call(ir.Name(name), args):
            return opaque(name, tuple(term_of(arg.value) for arg in args))
        case _:
            raise RuleFileError(f"a source in the rules is no expression over symbols: {node}")
