"""The content of lists and dicts as terms: elements that are there under a guard, and joining branches."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.domain.build import apply, conditional, conjunction, is_plain_tuple, negate
from analyzer.domain.magnitude import MAX_ELEMENTS
from analyzer.domain.terms import TRUE, Apply, Term, children, raw_apply

Element = tuple[Term, Term]
"""The guard under which an element is there, and the element."""


def tuple_of(elements: Iterable[Element]) -> Term:
    """A tuple of guarded elements."""
    return raw_apply("tuple", tuple(value if guard is TRUE else maybe(guard, value) for guard, value in elements))


def unguarded(term: Term) -> Element:
    """The guard of an element, and the element itself."""
    if isinstance(term, Apply) and term.op == "maybe":
        return term.args[0], term.args[1]
    return TRUE, term


def maybe(guard: Term, value: Term) -> Term:
    """An element that is there under `guard`."""
    if isinstance(value, Apply) and value.op == "maybe":
        return maybe(conjunction(guard, value.args[0]), value.args[1])
    return raw_apply("maybe", (guard, value))


def concatenated(first: Term, second: Term) -> Term:
    """The elements of `first` and then those of `second`."""
    if (
        isinstance(first, Apply)
        and isinstance(second, Apply)
        and first.op == second.op == "tuple"
        and len(first.args) + len(second.args) <= MAX_ELEMENTS
    ):
        return raw_apply("tuple", (*first.args, *second.args))
    return apply("concat", first, second)


def merged_items(guard: Term, then: Term, otherwise: Term) -> Term:
    """The content of a list that two branches left: what both have once, the rest under its guard."""
    if not (isinstance(then, Apply) and isinstance(otherwise, Apply) and then.op == otherwise.op == "tuple"):
        return conditional(guard, then, otherwise)
    shared = 0
    for one, other in zip(then.args, otherwise.args, strict=False):
        if one is not other:
            break
        shared += 1
    left = (maybe(guard, item) for item in then.args[shared:])
    right = (maybe(negate(guard), item) for item in otherwise.args[shared:])
    return raw_apply("tuple", (*then.args[:shared], *left, *right))


def merged_keys(then: Term, otherwise: Term) -> Term | None:
    """The keys that a dict has on one of two branches; whether it has one is told by its value."""
    if not (is_plain_tuple(then) and is_plain_tuple(otherwise)):
        return None
    return raw_apply("tuple", tuple(dict.fromkeys((*children(then), *children(otherwise)))))
