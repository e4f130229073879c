"""What the rules say about units: of symbols, of quantities, of what stays uninterpreted."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.domain.rules import RuleSet
from analyzer.domain.terms import Opaque, Symbol
from analyzer.domain.unit import Unit, parse_unit


def declared_units(rules: RuleSet) -> Callable[[Symbol | Opaque], Unit | None]:
    """The unit that `rules` give to an input or to an uninterpreted function, None when they give none."""

    def look_up(term: Symbol | Opaque) -> Unit | None:
        if isinstance(term, Opaque):
            text = rules.unit_of(_origin(term))
        else:
            rule = rules.symbols.get(term.name) or rules.quantities.get(term.name)
            text = rule.unit if rule is not None else rules.unit_of(term.name)
        return None if text is None else parse_unit(text)

    return look_up


def _origin(term: Opaque) -> str:
    """The dotted name of what was read or called, whatever it was given."""
    inner = term.args[0] if term.args else None
    if not isinstance(inner, Opaque):
        return term.name
    if term.name == "call":
        return _origin(inner)
    return f"{_origin(inner)}{term.name}" if term.name.startswith(".") else term.name
