"""Whether SGLang stops before a value exists, told from what is known of a case."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from analyzer.domain.binding import Binding
from analyzer.domain.semantics import MissingInputError, RaisedError, deep_recursion
from analyzer.domain.terms import Apply, Conditional, Raise, Term, symbols_of


@dataclass(frozen=True, slots=True)
class Refusal:
    """The exception that SGLang raises, or the conditions that must be known to tell whether it raises one."""

    exception: str | None = None
    unknown: tuple[Term, ...] = ()


def refusal(error: Term | None, binding: Binding, left_open: Collection[str] = ()) -> Refusal:
    """What comes of `error`, the raises before a value.

    `left_open` are inputs that a server of this kind has and that nobody gave: what they decide is not known.
    """
    if error is None:
        return Refusal()
    with deep_recursion():
        return _Outcomes(binding, frozenset(left_open) & symbols_of(error)).of(error)


class _Outcomes:
    """Follows the branches that what is known leads to; where it leads to none, all of them."""

    def __init__(self, binding: Binding, left_open: frozenset[str]) -> None:
        self._binding = binding.without(left_open)
        self._known: dict[Term, bool | None] = {}

    def of(self, error: Term) -> Refusal:
        """The one outcome of `error`, or what keeps it from having one."""
        unknown: list[Term] = []
        stops = {isinstance(outcome, Raise) for outcome in self._reached(error, unknown)}
        if stops == {False, True}:
            return Refusal(unknown=tuple(dict.fromkeys(unknown)))
        likely = self._likely(error)
        return Refusal(likely.exception if isinstance(likely, Raise) else None)

    def _likely(self, error: Term) -> Term:
        """The outcome when a condition that cannot be computed does not hold."""
        while isinstance(error, Conditional):
            error = error.then if self._holds(error.guard) else error.otherwise
        return error

    def _reached(self, error: Term, unknown: list[Term]) -> Iterator[Term]:
        stack, seen = [error], set[Term]()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if not isinstance(node, Conditional):
                yield node
                continue
            holds = self._holds(node.guard)
            if holds is None:
                unknown.append(node.guard)
            stack += [node.otherwise] if holds is not True else []
            stack += [node.then] if holds is not False else []

    def _holds(self, guard: Term) -> bool | None:
        """Whether `guard` holds, None when what is known does not say."""
        if guard not in self._known:
            try:
                self._known[guard] = self._decide(guard)
            except RaisedError:
                # An operation that fails on its operands is no statement that stops the server.
                self._known[guard] = False
        return self._known[guard]

    def _decide(self, guard: Term) -> bool | None:
        match guard:
            case Apply("not", (inner,)):
                held = self._decide(inner)
                return None if held is None else not held
            case Apply("and" | "or" as op, args):
                return self._decide_connective(args, until=op == "or")
            case Conditional(condition, then, otherwise):
                held = self._decide(condition)
                if held is not None:
                    return self._decide(then if held else otherwise)
                one, other = self._holds(then), self._holds(otherwise)
                return one if one == other else None
            case _:
                return self._compute(guard)

    def _decide_connective(self, args: Iterable[Term], *, until: bool) -> bool | None:
        """`and` and `or`: an operand that decides does so whatever an unknown one before it is."""
        unknown = False
        for arg in args:
            held = self._holds(arg) if unknown else self._decide(arg)
            if held is until:
                return until
            unknown |= held is None
        return None if unknown else not until

    def _compute(self, guard: Term) -> bool | None:
        try:
            return bool(self._binding.value(guard))
        except MissingInputError:
            return None
