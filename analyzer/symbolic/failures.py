"""Where computing a term fails because an operand is None."""

from __future__ import annotations

from typing import Final

from analyzer.domain.build import apply, conditional, conjunction, disjunction, negate, rewrite
from analyzer.domain.terms import FALSE, NONE, TRUE, Apply, Conditional, Symbol, Term, children, post_order

# What Python refuses to do with None.
_OF_NUMBERS: Final = frozenset({
    "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^",
    "neg", "abs", "int", "float", "round", "ceil", "floor", "min", "max",
})  # fmt: skip


def fails_on_none(root: Term, unknown: frozenset[str]) -> Term:
    """The guard under which computing `root` is a TypeError.

    `unknown` are the symbols that may be None; an operand that is None by itself is one as well.
    """
    found: dict[Term, Term] = {}
    for term in post_order(root):
        found[term] = _fails(term, found, unknown)
    # Only now: what a guard of the source rules out has met its opposite, whatever it was asked of.
    return rewrite(found[root], _known_to_be_there, {})


def _known_to_be_there(term: Term) -> Term | None:
    """What nobody followed is taken for a value."""
    return FALSE if isinstance(term, Apply) and term.op == "is" and _is_unfollowed(*term.args) else None


def _is_unfollowed(value: Term, other: Term) -> bool:
    return other is NONE and not isinstance(value, Symbol | Conditional)


def _fails(term: Term, found: dict[Term, Term], unknown: frozenset[str]) -> Term:
    match term:
        case Conditional(guard, then, otherwise):
            return disjunction(found[guard], conditional(guard, found[then], found[otherwise]))
        case Apply("and" | "or" as op, args):
            return _connective_fails(op, args, found)
        case Apply("present", _):
            return FALSE
        case Apply(op, args):
            none = (_is_none(arg, unknown) for arg in args) if op in _OF_NUMBERS else ()
            return disjunction(*(found[arg] for arg in args), *none)
        case _:
            return disjunction(*(found[child] for child in children(term)))


def _connective_fails(op: str, args: tuple[Term, ...], found: dict[Term, Term]) -> Term:
    """Operands are computed until one of them decides."""
    reached: Term = TRUE
    failing: Term = FALSE
    for arg in args:
        failing = disjunction(failing, conjunction(reached, found[arg]))
        reached = conjunction(reached, arg if op == "and" else negate(arg))
    return failing


def _is_none(term: Term, unknown: frozenset[str]) -> Term:
    match term:
        case Conditional(guard, then, otherwise):
            return conditional(guard, _is_none(then, unknown), _is_none(otherwise, unknown))
        case Symbol(name) if name in unknown:
            return apply("is", term, NONE)
        case Symbol():
            return FALSE
        case _:
            return apply("is", term, NONE)
