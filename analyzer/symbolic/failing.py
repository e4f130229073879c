"""How computing a value fails by itself, for a handler that waits for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.domain.build import apply, conditional, map_leaves
from analyzer.domain.terms import (
    NONE,
    Apply,
    Conditional,
    Constant,
    Opaque,
    Raise,
    Symbol,
    Term,
    constant,
    post_order,
    raising,
)
from analyzer.symbolic.state import State

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

CASTS: Final = {"int": int, "float": float}
DIVISIONS: Final = frozenset({"/", "//", "%"})
_OF_NUMBERS: Final = frozenset({"<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "**", "neg", "abs"})
_TYPE_ERROR: Final = raising("TypeError")
_VALUE_ERROR: Final = raising("ValueError")


class Failures:
    """The exceptions that Python raises while it computes a term, each under its guard."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def of(self, root: Term, state: State) -> Term:
        """What is raised when `root` is computed: a raise on the ways that fail, None on the others."""
        found: dict[Term, Term] = {}
        for term in post_order(root):
            found[term] = self._own(term, found, state)
        return found[root]

    def _own(self, term: Term, found: dict[Term, Term], state: State) -> Term:
        match term:
            case Raise():
                return term
            case Conditional(guard, then, otherwise):
                return _first(found[guard], conditional(guard, found[then], found[otherwise]))
            case Apply("and" | "or" | "is" | "is not" | "present", _):
                return NONE
            case Apply(op, args):
                error = self._of_operation(op, args, state)
                for arg in reversed(args):
                    error = _first(found[arg], error)
                return error
            case _:
                return NONE

    def _of_operation(self, op: str, args: tuple[Term, ...], state: State) -> Term:
        if op in CASTS and len(args) == 1:
            return map_leaves(args[0], lambda leaf: self._of_cast(op, leaf))
        error: Term = NONE
        if op in DIVISIONS and not self._is_positive(args[1]):
            error = conditional(state.decide(apply("==", args[1], constant(0))), raising("ZeroDivisionError"), NONE)
        for arg in args if op in _OF_NUMBERS else ():
            error = _first(map_leaves(arg, self._of_missing), error)
        return error

    def _of_cast(self, op: str, leaf: Term) -> Term:
        """Whether a value is a number, or the text of one."""
        if isinstance(leaf, Constant) and isinstance(leaf.value, str):
            try:
                CASTS[op](leaf.value)
            except ValueError:
                return _VALUE_ERROR
            return NONE
        # The text of a variable of the environment is taken to be the number that its reader expects.
        return self._of_missing(leaf)

    def _of_missing(self, leaf: Term) -> Term:
        """None is no number."""
        if leaf is NONE:
            return _TYPE_ERROR
        rule = self.machine.rules.symbols.get(leaf.name) if isinstance(leaf, Symbol) else None
        if rule is None or not rule.domain.optional:
            return NONE
        return conditional(apply("is", leaf, NONE), _TYPE_ERROR, NONE)

    def _is_positive(self, divisor: Term) -> bool:
        """Whether a divisor is never zero, as far as the rules know."""
        match divisor:
            case Symbol(name):
                rule = self.machine.rules.symbols.get(name)
                return rule is not None and rule.domain.low > 0
            case Apply("*", args):
                return all(map(self._is_positive, args))
            case Constant(value):
                return bool(value)
            case Opaque():
                # What nobody follows is taken to be what its user expects.
                return True
            case _:
                return False


def _first(earlier: Term, later: Term) -> Term:
    """What is raised first."""
    return map_leaves(earlier, lambda leaf: leaf if isinstance(leaf, Raise) else later)
