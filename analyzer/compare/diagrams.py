"""Decision diagrams: choices in one order of guards, with every operation pushed into the leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from analyzer.compare.forms import Branch, Failure, Form, Guard, Polynomial, Pool

# Pushing operations into choices can grow without end; past these many steps a choice stays one value.
_STEPS_PER_OPERATION: Final = 300
_STEPS_PER_FORMULA: Final = 3_000
_WORK_PER_FORMULA: Final = 40_000
_FEWEST_STEPS: Final = 40

Facts = tuple[tuple[Guard, bool], ...]
Merge = Callable[[Guard, Polynomial, Polynomial], "Form | None"]


class TooLargeError(Exception):
    """An operation on diagrams took more steps than it is worth."""


class Diagrams:
    """Operations on choices.

    `merge` may turn a choice between two numbers into one number (a minimum).
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.merge: Merge = lambda _guard, _then, _otherwise: None
        self._chosen: dict[tuple[Form, Form, Form], Form] = {}
        self._lifted: dict[tuple[object, ...], Form] = {}
        self._left_in_formula = _STEPS_PER_FORMULA
        self._work_allowed = _WORK_PER_FORMULA
        self._left = _STEPS_PER_OPERATION
        self._depth = 0

    def start_formula(self) -> None:
        """Begin a formula with a full allowance of steps."""
        self._left_in_formula = _STEPS_PER_FORMULA
        self._work_allowed = self.pool.work + _WORK_PER_FORMULA

    def ask(self, guard: Guard) -> Form:
        """The guard as a yes-or-no value."""
        return self.pool.branch(guard, self.pool.true, self.pool.false)

    def negate(self, form: Form) -> Form:
        """Yes for no."""
        return self.choose(form, self.pool.false, self.pool.true)

    def both(self, left: Form, right: Form) -> Form:
        """`left and right`."""
        return self.choose(left, right, self.pool.false)

    def either(self, left: Form, right: Form) -> Form:
        """`left or right`."""
        return self.choose(left, self.pool.true, right)

    def choose(self, guard: Form, then: Form, otherwise: Form) -> Form:
        """`then` where the yes-or-no value `guard` is yes, else `otherwise`."""
        try:
            return self._bounded(lambda: self._choose(guard, then, otherwise))
        except TooLargeError:
            if self._depth:
                raise
            return self._stuck("choice", (guard, then, otherwise))

    def lift(self, name: str, function: Callable[..., Form], *args: Form) -> Form:
        """`function` applied in every leaf of `args`; `name` identifies it."""
        try:
            return self._bounded(lambda: self._lift(name, function, args))
        except TooLargeError:
            if self._depth:
                raise
            flat = tuple(self._stuck("case", (arg,)) if isinstance(arg, Branch) else arg for arg in args)
            return function(*flat)

    def _stuck(self, kind: str, args: tuple[Form, ...]) -> Polynomial:
        return self.pool.polynomial({((self.pool.factor(kind, "", args), 1),): 1})

    def _bounded(self, operation: Callable[[], Form]) -> Form:
        if self._depth == 0:
            self._left = max(_FEWEST_STEPS, min(_STEPS_PER_OPERATION, self._left_in_formula))
        before = self._left
        self._depth += 1
        try:
            return operation()
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._left_in_formula -= before - self._left

    def _tick(self) -> None:
        self._left -= 1
        if self._left < 0 or self.pool.work > self._work_allowed:
            raise TooLargeError

    def _choose(self, guard: Form, then: Form, otherwise: Form) -> Form:
        pool = self.pool
        if guard is pool.true:
            return then
        if guard is pool.false:
            return otherwise
        if isinstance(guard, Failure):
            return guard
        if isinstance(guard, Polynomial):
            # A question that grew too large was left as one value.
            guard = self.ask(pool.guard("truth", "", (guard,)))
        assert isinstance(guard, Branch)
        if then is otherwise and not guard.fails:
            return then
        if then is pool.true and otherwise is pool.false:
            return guard
        key = (guard, then, otherwise)
        known = self._chosen.get(key)
        if known is None:
            self._tick()
            top = _first_guard((guard, then, otherwise))
            yes = self._choose(*(cofactor(form, top, holds=True) for form in key))
            no = self._choose(*(cofactor(form, top, holds=False) for form in key))
            known = self._join(top, yes, no)
            self._chosen[key] = known
        return known

    def _lift(self, name: str, function: Callable[..., Form], args: tuple[Form, ...]) -> Form:
        if not any(isinstance(arg, Branch) for arg in args):
            return function(*args)
        key = (name, *args)
        known = self._lifted.get(key)
        if known is None:
            self._tick()
            top = _first_guard(args)
            yes = self._lift(name, function, tuple(cofactor(arg, top, holds=True) for arg in args))
            no = self._lift(name, function, tuple(cofactor(arg, top, holds=False) for arg in args))
            known = self._ordered(top, yes, no)
            self._lifted[key] = known
        return known

    def _ordered(self, guard: Guard, yes: Form, no: Form) -> Form:
        """The choice, re-sorted where an operation brought guards of its own."""
        if any(isinstance(form, Branch) and form.guard.order <= guard.order for form in (yes, no)):
            return self._choose(self.ask(guard), yes, no)
        return self._join(guard, yes, no)

    def _join(self, guard: Guard, yes: Form, no: Form) -> Form:
        if yes is no:
            return yes
        if isinstance(yes, Polynomial) and isinstance(no, Polynomial):
            merged = self.merge(guard, yes, no)
            if merged is not None:
                return merged
        return self.pool.branch(guard, yes, no)


def cofactor(form: Form, guard: Guard, *, holds: bool) -> Form:
    """`form` given the answer to `guard`, which no guard of `form` precedes."""
    if isinstance(form, Branch) and form.guard is guard:
        return form.then if holds else form.otherwise
    return form


def _first_guard(forms: tuple[Form, ...]) -> Guard:
    return min((form.guard for form in forms if isinstance(form, Branch)), key=lambda guard: guard.order)


def prune(pool: Pool, root: Form, decide: Callable[[Guard, Facts], bool | None], join: Merge, steps: int = 800) -> Form:
    """`root` without the branches that the guards above them exclude."""
    left = steps

    def visit(form: Form, facts: Facts) -> Form:
        nonlocal left
        left -= 1
        if not isinstance(form, Branch) or left < 0:
            return form
        answer = decide(form.guard, facts)
        if answer is not None:
            return visit(form.then if answer else form.otherwise, facts)
        yes = visit(form.then, (*facts, (form.guard, True)))
        no = visit(form.otherwise, (*facts, (form.guard, False)))
        # The guard asks nothing that the ones below it do not ask anyway.
        if isinstance(yes, Branch) and visit(yes, (*facts, (form.guard, False))) is no:
            return yes
        if isinstance(no, Branch) and visit(no, (*facts, (form.guard, True))) is yes:
            return no
        if isinstance(yes, Polynomial) and isinstance(no, Polynomial) and yes is not no:
            return join(form.guard, yes, no) or pool.branch(form.guard, yes, no)
        return pool.branch(form.guard, yes, no)

    return visit(root, ())
