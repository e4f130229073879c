"""Where the analysis ends: readings of the machine, functions of others, and what could not be followed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, TypeGuard

from analyzer.domain.iteration import FOR, ITERATIONS, is_loop_variable
from analyzer.domain.terms import UNSET, Constant, Opaque, Term, children, walk

_FORMS: Final = ITERATIONS | {FOR}
# What Python itself does with a value: where the value is not known, that is what is not known.
_OF_A_VALUE: Final = frozenset(
    {"*", "call", "callable", "enumerate", "hasattr", "isinstance", "issubclass", "json.load", "json.loads", "open"}
    | {"non-empty", "reversed", "slice", "type", "zip"}
)


def opaque_calls(terms: Iterable[Term], gaps: Collection[Term], readings: Collection[str]) -> set[str]:
    """The functions that `terms` need the values of, whose code is not part of the source.

    Left out are what is reported as a gap, with what that is a gap of, `readings` of the machine, and what is only
    an attribute or a method of one of these, or a question about it: the blind spot is the same.
    """
    return {
        node.name
        for node in _outside(terms, gaps)
        if _is_call(node) and not _is_reading(node, readings) and not _is_of_another(node)
    }


def _outside(terms: Iterable[Term], gaps: Collection[Term]) -> Iterator[Term]:
    """Every part of `terms` that is reached without going through a gap, once."""
    seen: set[Term] = set()
    stack = list(terms)
    while stack:
        node = stack.pop()
        if node not in seen and node not in gaps:
            seen.add(node)
            yield node
            stack.extend(children(node))


def _is_call(term: Term) -> TypeGuard[Opaque]:
    return isinstance(term, Opaque) and term is not UNSET and term.name not in _FORMS and not is_loop_variable(term)


def _is_reading(term: Opaque, readings: Collection[str]) -> bool:
    """Whether a term tells of the machine: by its name, by the last part of it, or as a file of the kernel."""
    match term:
        case Opaque("open", (Constant(str(path)), *_)):
            return path.startswith(("/proc/", "/sys/"))
        case _:
            return term.name in readings or term.name.rsplit(".", 1)[-1].removesuffix("()") in readings


def _is_of_another(term: Opaque) -> bool:
    """Whether a term is an attribute, a method or an element of what is opaque itself, or a question about it."""
    owner = next(iter(children(term)), None)
    is_part = term.name.startswith(".") or term.name in _OF_A_VALUE
    return is_part and owner is not None and any(_is_call(part) or is_loop_variable(part) for part in walk(owner))
