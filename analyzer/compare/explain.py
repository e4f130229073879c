"""What the difference between two formulas consists of: the smallest place where they part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from analyzer.domain.build import apply, conjunction, disjunction, is_boolean, negate
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.terms import TRUE, Apply, Conditional, Constant, Raise, Symbol, Term, constant

Equal = Callable[[Term, Term], bool]

_ROUNDINGS: Final = frozenset({"int", "floor", "ceil", "round", "float", "float32"})
_DIVISIONS: Final = frozenset({"/", "//"})
_KIB: Final = 1024
# More than that nobody looks through, however many of them count.
_MAX_PARTS: Final = 24
# Longer sums and products than any formula has.
_MAX_OPERANDS: Final = 128

# The guards that lead to a place in either formula, None where one of them has no branch of its own.
Step = tuple[Term | None, Term | None]
Path = tuple[Step, ...]
# The condition of an error, and the value where it does not hold.
Choice = tuple[Term, Term]


@dataclass(frozen=True, slots=True)
class Part:
    """The part that was added, removed or changed; `area` and `action` are those of the change rules.

    `condition` is the guard under which a case or an error was added or removed. `paths` are the ways to the part.
    """

    area: str
    action: str
    before: Term | None
    after: Term | None
    condition: Term | None = None
    paths: tuple[Path, ...] = field(default=((),), compare=False)


def explain(before: Term, after: Term, equal: Equal) -> tuple[Part, ...]:
    """The smallest parts in which `before` and `after` differ, in the order they are computed."""
    with deep_recursion():
        return tuple(map(_conditioned, _Explainer(equal).parts(before, after, "term")))


class _Explainer:
    def __init__(self, equal: Equal) -> None:
        self._equal_terms = equal
        self._memo: dict[tuple[Term, Term, str], tuple[Part, ...]] = {}

    def parts(self, before: Term, after: Term, area: str) -> tuple[Part, ...]:
        """The differences of two terms that stand in a place of kind `area`."""
        key = (before, after, area)
        if key not in self._memo:
            # The answer if taking the pair apart leads back to it.
            self._memo[key] = (Part(area, "changed", before, after),)
            self._memo[key] = self._parts(before, after, area)
        return self._memo[key]

    def _equal(self, before: Term, after: Term) -> bool:
        return before is after or self._equal_terms(before, after)

    def _parts(self, before: Term, after: Term, area: str) -> tuple[Part, ...]:
        if isinstance(before, Conditional) or isinstance(after, Conditional):
            found = self._conditionals(before, after, area)
            if found:
                return found
        if isinstance(before, Raise) or isinstance(after, Raise):
            return (Part("error", _action(before, after), *_unless_value(before, after)),)
        found = (
            self._rounding(before, after, area)
            or self._clamp(before, after)
            or self._product(before, after)
            or self._sum(before, after)
            or self._same_operator(before, after, area)
        )
        return found or (_leaf(before, after, area),)

    def _conditionals(self, before: Term, after: Term, area: str) -> tuple[Part, ...]:
        found: tuple[Part, ...] = ()
        both = isinstance(before, Conditional) and isinstance(after, Conditional)
        if isinstance(before, Conditional) and isinstance(after, Conditional):
            found = self._same_branches(before, after, area)
        if not found and isinstance(after, Conditional):
            found = self._new_guard(before, after, "added")
        if not found and isinstance(before, Conditional):
            found = self._new_guard(after, before, "removed")
        if not found:
            found = self._refusal(before, after, area)
        if not found and both:
            assert isinstance(before, Conditional)
            assert isinstance(after, Conditional)
            found = self._all_apart(before, after, area)
        return found

    def _same_branches(self, before: Conditional, after: Conditional, area: str) -> tuple[Part, ...]:
        if self._equal(before.guard, after.guard):
            return self._of_branches(before, after, area)
        if self._equal(before.then, after.then) and self._equal(before.otherwise, after.otherwise):
            return (_of_guards(before, after),)
        return ()

    def _of_branches(self, before: Conditional, after: Conditional, area: str) -> tuple[Part, ...]:
        """The differences of the branches, which only count where both sides take them."""
        found: list[Part] = []
        for first, second, guards in (
            (before.then, after.then, (before.guard, after.guard)),
            (before.otherwise, after.otherwise, (negate(before.guard), negate(after.guard))),
        ):
            if not self._equal(first, second):
                found += _along((guards,), self.parts(first, second, area))
        return _distinct(found)

    def _refusal(self, before: Term, after: Term, area: str) -> tuple[Part, ...]:
        """An error that one side alone has, and what the values differ in where it is not raised."""
        old, new = _refused(before), _refused(after)
        if old is not None and new is not None:
            return self._of_refusals(old, new, area)
        if old is None and new is None:
            return ()
        condition, value = new or old or (TRUE, after)
        is_new = new is not None
        pair = (before, value) if is_new else (value, after)
        step: Step = (None, negate(condition)) if is_new else (negate(condition), None)
        rest = [] if self._equal(*pair) else _along((step,), self.parts(*pair, area))
        return _distinct((_one_sided("error", "added" if is_new else "removed", condition, condition), *rest))

    def _of_refusals(self, old: Choice, new: Choice, area: str) -> tuple[Part, ...]:
        """What two values that stand beside an error differ in, the conditions of the errors included."""
        step = (negate(old[0]), negate(new[0]))
        values = [] if self._equal(old[1], new[1]) else _along((step,), self.parts(old[1], new[1], area))
        if self._equal(old[0], new[0]) or self._only_repeats(old[0], new[0], values):
            return _distinct(values)
        return _distinct((Part("error", "changed", old[0], new[0]), *values))

    def _all_apart(self, before: Conditional, after: Conditional, area: str) -> tuple[Part, ...]:
        """The branches' differences, and the guard's unless it only repeats them."""
        branches = self._of_branches(before, after, area)
        if self._only_repeats(before.guard, after.guard, branches):
            return branches
        return _distinct((_of_guards(before, after), *branches))

    def _only_repeats(self, before: Term, after: Term, told: Iterable[Part]) -> bool:
        """Whether two guards differ only in what is told already."""
        shown = {(part.before, part.after) for part in told}
        inside = {(part.before, part.after) for part in self._inside(before, after)}
        return bool(inside) and inside <= shown

    def _inside(self, before: Term, after: Term) -> tuple[Part, ...]:
        """The differences of what two guards ask about."""
        if not (isinstance(before, Apply) and isinstance(after, Apply) and before.op == after.op):
            return ()
        if len(before.args) != len(after.args):
            return ()
        pairs = list(zip(before.args, after.args, strict=True))
        if is_boolean(before.args[0]):
            return tuple(part for a, b in pairs if not self._equal(a, b) for part in self._inside(a, b))
        return self._of_pairs(pairs, "term")

    def _of_pairs(self, pairs: Iterable[tuple[Term, Term]], area: str) -> tuple[Part, ...]:
        return _distinct(part for a, b in pairs if not self._equal(a, b) for part in self.parts(a, b, area))

    def _new_guard(self, plain: Term, guarded: Conditional, action: str) -> tuple[Part, ...]:
        """`guarded` is `plain` but for one branch."""
        for kept, other in ((guarded.otherwise, guarded.then), (guarded.then, guarded.otherwise)):
            if not self._equal(plain, kept):
                continue
            condition = guarded.guard if kept is guarded.otherwise else negate(guarded.guard)
            if isinstance(other, Raise):
                return (_one_sided("error", action, condition, condition),)
            inner = self.parts(kept, other, "term") if action == "added" else self.parts(other, kept, "term")
            if len(inner) == 1 and inner[0].area == "clamp" and inner[0].action == action:
                return inner
            return (_one_sided("guard", action, guarded, condition),)
        return ()

    def _rounding(self, before: Term, after: Term, area: str) -> tuple[Part, ...]:
        first, second = _rounded(before), _rounded(after)
        if first and second and isinstance(before, Apply) and isinstance(after, Apply):
            if before.op == after.op:
                return self.parts(before.args[0], after.args[0], area)
            if self._equal(before.args[0], after.args[0]):
                return (Part("rounding", "changed", before, after),)
        if second and isinstance(after, Apply) and self._equal(before, after.args[0]):
            return (Part("rounding", "added", None, after),)
        if first and isinstance(before, Apply) and self._equal(before.args[0], after):
            return (Part("rounding", "removed", before, None),)
        for whole, plain, action in ((after, before, "added"), (before, after, "removed")):
            unit = _rounded_down_to(whole)
            if unit is not None and self._equal(unit[0], plain):
                return (_one_sided("rounding", action, whole),)
        return self._division(before, after)

    def _division(self, before: Term, after: Term) -> tuple[Part, ...]:
        if not (isinstance(before, Apply) and isinstance(after, Apply) and {before.op, after.op} == _DIVISIONS):
            return ()
        if all(map(self._equal, before.args, after.args)):
            return (Part("rounding", "changed", before, after),)
        return ()

    def _clamp(self, before: Term, after: Term) -> tuple[Part, ...]:
        for op in ("min", "max"):
            first, second = _operands(op, before), _operands(op, after)
            if len(first) < 2 and len(second) < 2:  # noqa: PLR2004 - no clamp on either side
                continue
            found = self._leftover(first, second)
            if found is not None:
                return self._of_leftover(*found, "clamp")
        return ()

    def _sum(self, before: Term, after: Term) -> tuple[Part, ...]:
        first, second = _summands(before), _summands(after)
        if len(first) < 2 and len(second) < 2:  # noqa: PLR2004 - no sum on either side
            return ()
        found = self._leftover(first, second)
        return () if found is None else self._of_leftover(*found, "term")

    def _product(self, before: Term, after: Term) -> tuple[Part, ...]:
        if _is_sum(before) or _is_sum(after):
            return ()
        first, second = _factors(before), _factors(after)
        if len(first) < 2 and len(second) < 2:  # noqa: PLR2004 - no product on either side
            return ()
        found = self._leftover(first, second)
        if found is None:
            return ()
        parts = self._of_leftover(*found, "factor")
        if len(parts) == 1 and parts[0].area == "factor" and _conversion(first, second):
            return (replace(parts[0], area="conversion"),)
        return parts

    def _leftover(self, first: list[Term], second: list[Term]) -> tuple[list[Term], list[Term]] | None:
        """What remains after pairing off equal operands; None when nothing pairs, or all does."""
        left, right = list(first), list(second)
        for match in (lambda a, b: a is b, self._equal):
            for item in list(left):
                partner = next((other for other in right if match(item, other)), None)
                if partner is not None:
                    left.remove(item)
                    right.remove(partner)
        nothing_paired = len(left) == len(first) and len(left) + len(right) > 2  # noqa: PLR2004 - one each still pairs
        return None if nothing_paired or not (left or right) else (left, right)

    def _of_leftover(self, left: list[Term], right: list[Term], area: str) -> tuple[Part, ...]:
        if not left:
            return (Part(area, "added", None, _joined(right, area)),)
        if not right:
            return (Part(area, "removed", _joined(left, area), None),)
        if len(left) == len(right) == 1:
            return self.parts(left[0], right[0], area)
        return (Part(area, "changed", _joined(left, area), _joined(right, area)),)

    def _same_operator(self, before: Term, after: Term, area: str) -> tuple[Part, ...]:
        if is_boolean(before) or is_boolean(after):
            return (Part("guard", "changed", before, after),)
        if not (isinstance(before, Apply) and isinstance(after, Apply)):
            return ()
        if before.op != after.op or len(before.args) != len(after.args):
            return ()
        inner = "factor" if before.op in ("*", "/", "//", "%") else area
        return self._of_pairs(zip(before.args, after.args, strict=True), inner)


def _distinct(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The first different ones, each with every way to it."""
    found: dict[Part, Part] = {}
    for part in parts:
        known = found.get(part)
        found[part] = part if known is None else replace(known, paths=(*known.paths, *part.paths))
    return tuple(found.values())[:_MAX_PARTS]


def _along(path: Path, parts: Iterable[Part]) -> list[Part]:
    """`parts` of a place that `path` leads to."""
    return [replace(part, paths=tuple((*path, *rest) for rest in part.paths)) for part in parts]


def _of_guards(before: Conditional, after: Conditional) -> Part:
    """That another condition decides; between an error and a value it is that of the error."""
    old, new = _refused(before), _refused(after)
    if old is not None and new is not None:
        return Part("error", "changed", old[0], new[0])
    return Part("guard", "changed", before.guard, after.guard)


def _refused(term: Term) -> Choice | None:
    """The condition under which `term` raises, and what it is else; None unless it is such a choice."""
    match term:
        case Conditional(guard, Raise(), value) if not isinstance(value, Raise):
            return guard, value
        case Conditional(guard, value, Raise()) if not isinstance(value, Raise):
            return negate(guard), value
        case _:
            return None


def _conditioned(part: Part) -> Part:
    """An error that stands where a value was, with the condition that leads to it instead of its name."""
    shown = part.after if part.before is None else part.before
    if part.area != "error" or not isinstance(shown, Raise) or part.action == "changed":
        return part
    own = 1 if part.before is None else 0
    ways = [conjunction(*(step[own] or TRUE for step in path)) for path in part.paths]
    condition = disjunction(*ways)
    return replace(_one_sided("error", part.action, condition, condition), paths=part.paths)


def _one_sided(area: str, action: str, shown: Term, condition: Term | None = None) -> Part:
    before, after = (None, shown) if action == "added" else (shown, None)
    return Part(area, action, before, after, condition)


def _action(before: Term, after: Term) -> str:
    if isinstance(before, Raise) and isinstance(after, Raise):
        return "changed"
    return "removed" if isinstance(before, Raise) else "added"


def _unless_value(before: Term, after: Term) -> tuple[Term | None, Term | None]:
    """An error that took the place of a value is shown alone."""
    if isinstance(before, Raise) and isinstance(after, Raise):
        return before, after
    return (before, None) if isinstance(before, Raise) else (None, after)


def _rounded(term: Term) -> bool:
    return isinstance(term, Apply) and term.op in _ROUNDINGS and len(term.args) == 1


def _rounded_down_to(term: Term) -> tuple[Term, Term] | None:
    """The x and the n of ``x // n * n``."""
    match term:
        case Apply("*", (Apply("//", (value, unit)), again)) if unit is again:
            return value, unit
        case Apply("*", (again, Apply("//", (value, unit)))) if unit is again:
            return value, unit
        case _:
            return None


def _operands(op: str, term: Term) -> list[Term]:
    return _taken_apart(term, op)


def _taken_apart(
    term: Term, op: str, opposite: str = "", turned: Callable[[Term], Term] = lambda part: part
) -> list[Term]:
    """The operands of a nest of `op`, those behind its `opposite` as `turned` has them.

    Shared parts count as often as they occur, so the nest is taken apart up to a bound only.
    """
    parts: list[Term] = []
    stack = [(term, False)]
    while stack:
        node, is_turned = stack.pop()
        if isinstance(node, Apply) and node.op in (op, opposite) and len(parts) + len(stack) < _MAX_OPERANDS:
            first, *others = node.args
            behind = is_turned != (node.op == opposite)
            stack += [*((other, behind) for other in reversed(others)), (first, is_turned)]
        else:
            parts.append(turned(node) if is_turned else node)
    return parts


def _is_sum(term: Term) -> bool:
    return isinstance(term, Apply) and term.op in ("+", "-")


def _summands(term: Term) -> list[Term]:
    return _taken_apart(term, "+", "-", _negative)


def _negative(term: Term) -> Term:
    return term.args[0] if isinstance(term, Apply) and term.op == "neg" else apply("neg", term)


def _factors(term: Term) -> list[Term]:
    return _taken_apart(term, "*", "/", lambda part: apply("/", constant(1), part))


def _joined(parts: list[Term], area: str) -> Term:
    if area == "clamp":
        return parts[0] if len(parts) == 1 else apply("tuple", *parts)
    whole = parts[0]
    for part in parts[1:]:
        whole = apply("*" if area == "factor" else "+", whole, part)
    return whole


def _conversion(first: list[Term], second: list[Term]) -> bool:
    """Whether the numbers among the factors differ by a power of 1024."""
    ratio = _number(second) / _number(first) if _number(first) and _number(second) else Fraction(1)
    ratio = ratio if ratio >= 1 else 1 / ratio if ratio > 0 else Fraction(1)
    if ratio == 1:
        return False
    while ratio % _KIB == 0:
        ratio /= _KIB
    return ratio == 1


def _number(factors: list[Term]) -> Fraction:
    product = Fraction(1)
    for factor in factors:
        match factor:
            case Constant(value) if isinstance(value, int | float) and value - value == 0:
                product *= Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
            case Apply("/", (Constant(), Constant(value))) if isinstance(value, int | float) and value:
                product /= Fraction(value)
            case _:
                pass
    return product


def _leaf(before: Term, after: Term, area: str) -> Part:
    """The difference of two terms that cannot be taken apart any further."""
    if area in ("term", "factor"):
        if isinstance(before, Constant) and isinstance(after, Symbol):
            return Part("input", "added", before, after)
        if isinstance(before, Symbol) and isinstance(after, Constant):
            return Part("input", "removed", before, after)
        if isinstance(before, Symbol) and isinstance(after, Symbol):
            return Part("input", "changed", before, after)
    if area == "term" and not isinstance(before, Apply | Constant) and not isinstance(after, Constant):
        area = "input"
    return Part(area, "changed", before, after)
