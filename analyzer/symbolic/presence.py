"""Attributes and items that are there on some ways only."""

from __future__ import annotations

from analyzer.domain.build import conditional, map_leaves
from analyzer.domain.terms import TRUE, UNSET, Conditional, Term, constant, raising, raw_apply
from analyzer.symbolic.state import State


def where_set(value: Term, state: State) -> Term:
    """An attribute that was set on some of the ways here: on the others, reading it raises.

    Where it is known to be there (``hasattr``), those others are not taken.
    """
    if value is UNSET:
        return raising("AttributeError")
    if not isinstance(value, Conditional):
        return value
    # Where guards contradict each other, it can be missing nowhere and still be written as if it could.
    if state.decide(is_set(value)) is TRUE:
        return _without_unset(value)
    return map_leaves(value, lambda leaf: raising("AttributeError") if leaf is UNSET else leaf)


def _without_unset(value: Term) -> Term:
    known: dict[Term, Term] = {}

    def visit(node: Term) -> Term:
        if not isinstance(node, Conditional):
            return node
        if node not in known:
            then, otherwise = visit(node.then), visit(node.otherwise)
            if UNSET in (then, otherwise):
                known[node] = otherwise if then is UNSET else then
            else:
                known[node] = conditional(node.guard, then, otherwise)
        return known[node]

    return visit(value)


def is_present(term: Term) -> Term:
    """The guard that an attribute of an unknown thing is there."""
    return raw_apply("present", (term,))


def is_set(term: Term, own: Term = UNSET) -> Term:
    """The guard that an attribute written on some paths is there; `own` is what an unknown thing has by itself."""
    return map_leaves(
        term, lambda leaf: is_present(own) if leaf is own and own is not UNSET else constant(leaf is not UNSET)
    )
