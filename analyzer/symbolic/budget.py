"""Finding the budget in a token count: the first division of memory by bytes per token.

It is found by shape, not by the names `rest_memory` and `cell_size`: walking down from the count
through casts, clamps, page rounding and branches to a division whose numerator is memory in bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzer.domain.build import conditional
from analyzer.domain.terms import Apply, Conditional, Constant, Symbol, Term, symbols_of, walk

_MEASURED = frozenset({"pre_model_load_memory", "available_gpu_memory"})
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Budget:
    """`memory` in `unit` divided by `cost` bytes per token.

    `exact` tells that both occur in the count as they are, not merged from several branches.
    """

    memory: Term
    cost: Term
    unit: str
    exact: bool


def find_budget(tokens: Term) -> Budget | None:
    """The budget behind a token count; None when no division of memory is found."""
    memo: dict[int, Budget | None] = {}

    def visit(term: Term) -> Budget | None:
        if id(term) not in memo:
            memo[id(term)] = None
            memo[id(term)] = _budget_of(term) or _join(term, visit)
        return memo[id(term)]

    return visit(tokens)


def _join(term: Term, visit: Callable[[Term], Budget | None]) -> Budget | None:
    if isinstance(term, Conditional):
        left, right = visit(term.then), visit(term.otherwise)
        if left is None or right is None:
            return left or right
        memory = conditional(term.guard, left.memory, right.memory)
        cost = conditional(term.guard, left.cost, right.cost)
        exact = left.exact and right.exact and memory in (left.memory, right.memory) and cost in (left.cost, right.cost)
        return Budget(memory, cost, left.unit, exact)
    if isinstance(term, Apply):
        for arg in term.args:
            found = visit(arg)
            if found is not None:
                return found
    return None


def _budget_of(term: Term) -> Budget | None:
    """The budget when `term` itself is the division."""
    if not isinstance(term, Apply) or term.op not in ("//", "/"):
        return None
    numerator, cost = term.args
    if not symbols_of(numerator) & _MEASURED or symbols_of(cost) & _MEASURED:
        return None
    scaled = _unscale(numerator)
    if scaled is not None:
        return Budget(scaled, cost, "GiB", exact=True)
    if _in_bytes(numerator):
        return Budget(numerator, cost, "byte", exact=True)
    return None


def _unscale(term: Term) -> Term | None:
    """`x` when `term` is `x * 2**30`, looked for under casts and branches."""
    match term:
        case Apply("int" | "floor", (inner,)):
            return _unscale(inner)
        case Apply("*", (inner, Constant(value))) | Apply("*", (Constant(value), inner)) if value == _GIB:
            return inner
        case Conditional(guard, then, otherwise):
            left, right = _unscale(then), _unscale(otherwise)
            return None if left is None or right is None else conditional(guard, left, right)
        case _:
            return None


def _in_bytes(term: Term) -> bool:
    """Whether every measurement in `term` is scaled to bytes where it is read."""
    scaled = {
        arg
        for node in walk(term)
        if isinstance(node, Apply)
        and node.op == "*"
        and any(isinstance(a, Constant) and a.value == _GIB for a in node.args)
        for arg in node.args
    }
    measured = {node for node in walk(term) if isinstance(node, Symbol) and node.name in _MEASURED}
    return bool(measured) and measured <= scaled


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
