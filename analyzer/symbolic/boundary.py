"""Where the analysis ends: readings of the machine, functions of others, and what could not be followed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, TypeGuard

from analyzer.domain.iteration import FOR, ITERATIONS, is_loop_variable
from analyzer.domain.terms import UNSET, Opaque, Term, children, walk

_FORMS: Final = ITERATIONS | {FOR}


def opaque_calls(terms: Iterable[Term], gaps: Collection[Term], readings: Collection[str]) -> set[str]:
    """The functions that `terms` need the values of, whose code is not part of the source.

    Left out are what is reported as a gap, `readings` of the machine, and what is only an attribute or a method of
    one of these: the blind spot is the same.
    """
    return {
        node.name
        for node in walk(*terms)
        if _is_call(node) and node not in gaps and not _is_reading(node, readings) and not _is_of_another(node)
    }


def _is_call(term: Term) -> TypeGuard[Opaque]:
    return isinstance(term, Opaque) and term is not UNSET and term.name not in _FORMS and not is_loop_variable(term)


def _is_reading(term: Opaque, readings: Collection[str]) -> bool:
    return term.name.rsplit(".", 1)[-1].removesuffix("()") in readings


def _is_of_another(term: Opaque) -> bool:
    """Whether a term is an attribute, a method or an element of what is opaque itself."""
    owner = next(iter(children(term)), None)
    is_part = term.name.startswith(".") or term.name == "call"
    return is_part and owner is not None and any(map(_is_call, walk(owner)))
