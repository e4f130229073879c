"""Finding the budget in a token count: the first division of memory by bytes per token.

It is found by shape, not by the names `rest_memory` and `cell_size`: walking down from the count
through casts, clamps, page rounding and branches to a division of measured memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from analyzer.domain.build import apply, conditional
from analyzer.domain.terms import (
    Apply,
    Conditional,
    Constant,
    Symbol,
    Term,
    children,
    constant,
    post_order,
    symbols_of,
    walk,
)
from analyzer.domain.unit import parse_unit
from analyzer.units import Inference

_MEASURED: Final = frozenset({"pre_model_load_memory", "available_gpu_memory"})
_GIB: Final = 1 << 30
_SMALLEST_SCALE: Final = 1000
_INTEGERS: Final = frozenset({"int", "floor", "ceil"})
_KEEP_INTEGERS: Final = frozenset({"+", "-", "*", "//", "%", "min", "max", "neg", "abs"})


@dataclass(frozen=True, slots=True)
class Budget:
    """`memory` in `unit` divided by `cost` bytes per token.

    `exact` tells that both occur in the count as they are, not merged from several branches.
    """

    memory: Term
    cost: Term
    unit: str
    exact: bool


def find_budget(tokens: Term, units: Inference) -> Budget | None:
    """The budget behind a token count; None when no division of memory is found."""
    memo: dict[Term, Budget | None] = {}
    measured = _measured(tokens)

    def visit(term: Term) -> Budget | None:
        if term not in memo:
            memo[term] = None
            division = _division(term, measured)
            scaled = None if division is None else _scaled_budget(*division)
            if scaled is None and division is not None:
                scaled = _misscaled_budget(*division, units)
            memo[term] = scaled or _join(term, visit) or (_budget_in_unit(*division, units) if division else None)
        return memo[term]

    return visit(tokens)


def _join(term: Term, visit: Callable[[Term], Budget | None]) -> Budget | None:
    if isinstance(term, Conditional):
        left, right = visit(term.then), visit(term.otherwise)
        if left is None or right is None:
            return left or right
        memory = conditional(term.guard, left.memory, in_unit(right.memory, right.unit, left.unit))
        cost = conditional(term.guard, left.cost, right.cost)
        exact = left.exact and right.exact and memory in (left.memory, right.memory) and cost in (left.cost, right.cost)
        return Budget(memory, cost, left.unit, exact)
    if isinstance(term, Apply):
        for arg in term.args:
            found = visit(arg)
            if found is not None:
                return found
    return None


def _measured(root: Term) -> frozenset[Term]:
    """The parts of `root` that depend on a measurement."""
    found: set[Term] = set()
    for term in post_order(root):
        if (isinstance(term, Symbol) and term.name in _MEASURED) or not found.isdisjoint(children(term)):
            found.add(term)
    return frozenset(found)


def _division(term: Term, measured: frozenset[Term]) -> tuple[Term, Term] | None:
    """What is divided and by what, when the one was measured and the other was not."""
    if not isinstance(term, Apply) or term.op not in ("//", "/"):
        return None
    numerator, cost = term.args
    return (numerator, cost) if numerator in measured and cost not in measured else None


def _scaled_budget(numerator: Term, cost: Term) -> Budget | None:
    """The budget of a division of GiB that are turned into bytes."""
    scaled = _unscale(numerator)
    return None if scaled is None else Budget(scaled, cost, "GiB", exact=True)


def _misscaled_budget(numerator: Term, cost: Term, units: Inference) -> Budget | None:
    """The budget of a division of memory that is multiplied by what looks like a change of unit and is none."""
    inner = _unscale(numerator, _looks_like_scale)
    unit = None if inner is None or isinstance(cost, Constant) else units.of(inner)
    if inner is None or unit is None or not unit.is_memory or units.of(numerator) != unit:
        return None
    return Budget(inner, cost, str(unit), exact=True)


def _is_gib(value: object) -> bool:
    return value == _GIB


def _looks_like_scale(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= _SMALLEST_SCALE


def _budget_in_unit(numerator: Term, cost: Term, units: Inference) -> Budget | None:
    """The budget of a division of memory in whatever unit it has by then."""
    unit = units.of(numerator)
    if unit is None or not unit.is_memory or isinstance(cost, Constant):
        return None
    return Budget(numerator, cost, str(unit), exact=True)


def _unscale(term: Term, is_scale: Callable[[object], bool] = _is_gib) -> Term | None:
    """`x` when `term` is `x * 2**30`, looked for under casts, branches and what is set aside in bytes.

    What reads a measurement of its own is part of the budget, not set aside from it.
    """
    match term:
        case Apply("-", (inner, aside)) if symbols_of(aside) & _MEASURED <= symbols_of(inner):
            return _unscale(inner, is_scale)
        case Apply("int" | "floor", (inner,)) | Apply("max", (inner, Constant())):
            return _unscale(inner, is_scale)
        case Apply("*", (inner, Constant(value))) | Apply("*", (Constant(value), inner)) if is_scale(value):
            return inner
        case Conditional(guard, then, otherwise):
            left, right = _unscale(then, is_scale), _unscale(otherwise, is_scale)
            return None if left is None or right is None else conditional(guard, left, right)
        case _:
            return None


def in_unit(value: Term, given: str, wanted: str, *, like: Term | None = None) -> Term:
    """`value` in `given` units as a number of `wanted` ones; an integer where `like` is one."""
    ratio = parse_unit(given).step / parse_unit(wanted).step
    if ratio == 1:
        return value
    factor = ratio.numerator if ratio.denominator == 1 else float(ratio)
    scaled = apply("*", value, constant(factor))
    return apply("int", scaled) if like is not None and _is_integer(like) else scaled


def _is_integer(term: Term) -> bool:
    """Whether `term` is surely an int, as far as its operations tell."""
    match term:
        case Constant(value):
            return isinstance(value, int)
        case Conditional(_, then, otherwise):
            return _is_integer(then) and _is_integer(otherwise)
        case Apply(op, args):
            return op in _INTEGERS or (op in _KEEP_INTEGERS and all(map(_is_integer, args)))
        case _:
            return False


def find_fraction(memory: Term) -> Term | None:
    """The fraction in effect: `f` of the headroom `(1 - f)` in a budget."""
    for node in walk(memory):
        if (
            isinstance(node, Apply)
            and node.op == "-"
            and isinstance(node.args[0], Constant)
            and node.args[0].value == 1
            and "mem_fraction_static" in symbols_of(node.args[1])
        ):
            return node.args[1]
    return None
