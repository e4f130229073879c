"""Inferring units over terms, from the units of what they read.

Counts (layers, heads, elements, tokens) multiply and cancel freely, because a source names hardly any
of them; what is judged is memory, where a wrong step size is a factor of a thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from analyzer.domain.operators import COMPARISONS
from analyzer.domain.terms import Apply, Conditional, Constant, Opaque, Symbol, Term, post_order
from analyzer.domain.unit import ONE, Unit

# What may be a change of unit: by which power of two and of ten the number grows.
_FACTORS: Final = {
    **{1 << power: (power, 0) for power in (10, 20, 30, 40)},
    **{10**power: (0, power) for power in (3, 6, 9, 12)},
}
_SHIFTS: Final = frozenset({10, 20, 30, 40})
# A thousand of something counted in bytes may simply be a thousand of them.
_PLAIN_NUMBERS: Final = frozenset({1 << 10, 10**3})
_SAME_UNIT: Final = frozenset({"int", "float", "float32", "floor", "ceil", "round", "abs", "neg", "rank_min"})
_ALIKE: Final = frozenset({"+", "-", "min", "max", "%"})
_WORDS: Final = {"+": "added to", "-": "subtracted from", "min": "compared with", "max": "compared with"}
_COUNTS: Final = frozenset({"len", "bool", "not", "and", "or", "present"})


class Inference:
    """The units of terms; `conversions` and `problems` say at which nodes something was noticed.

    `declared` gives the unit of a symbol or of an uninterpreted function, None when nobody knows it.
    """

    def __init__(self, declared: Callable[[Symbol | Opaque], Unit | None]) -> None:
        self._declared = declared
        self._known: dict[Term, Unit | None] = {}
        self.conversions: dict[Term, tuple[Unit, Unit]] = {}
        self.problems: dict[Term, str] = {}

    def of(self, root: Term) -> Unit | None:
        """The unit of `root`, None when it cannot be told."""
        known = self._known
        if root not in known:
            for term in post_order(root):
                if term not in known:
                    known[term] = self._infer(term)
        return known[root]

    def _infer(self, term: Term) -> Unit | None:
        match term:
            case Opaque("item", (sequence, _)):
                return self._known[sequence]
            case Symbol() | Opaque():
                return self._declared(term)
            case Conditional(_, then, otherwise):
                return self._alike(term, (then, otherwise), "taken instead of")
            case Apply(op, args):
                return self._apply(term, op, args)
            case _:
                return None

    def _apply(self, term: Apply, op: str, args: tuple[Term, ...]) -> Unit | None:
        if op in _SAME_UNIT:
            return self._known[args[0]]
        if op in _ALIKE or op in COMPARISONS:
            common = self._alike(term, args, _WORDS.get(op, "compared with"))
            return ONE if op in COMPARISONS else common
        if op in _COUNTS:
            return ONE
        factor = _factor(op, args)
        if factor is not None:
            value, binary, decimal = factor
            return self._converted(term, value, binary, decimal)
        if op == "*":
            return self._product(args)
        return self._quotient(term, args) if op in ("/", "//") else None

    def _alike(self, term: Term, args: Sequence[Term], words: str) -> Unit | None:
        """The common unit of operands that must have one."""
        found: Unit | None = None
        for arg in args:
            unit = self._known[arg]
            if unit is None:
                continue
            if found is None:
                found = unit
            elif unit.bytes_power == found.bytes_power != 0 and not unit.same_step(found):
                self.problems[term] = f"{unit} {words} {found}"
                return None
        if found is not None and found.bytes_power:
            for arg in args:
                self._expect(arg, found)
        return found

    def _expect(self, term: Term, wanted: Unit) -> None:
        """An operand of unknown unit that is converted must have been converted to `wanted`."""
        while self._known[term] is None and isinstance(term, Apply):
            factor = _factor(term.op, term.args)
            if factor is not None:
                value, binary, decimal = factor
                before = wanted.scaled(binary, decimal)
                if before.is_named and not isinstance(value, Constant):
                    self.conversions.setdefault(term, (before, wanted))
                return
            if term.op not in _SAME_UNIT:
                return
            term = term.args[0]

    def _converted(self, term: Apply, value: Term, binary: int, decimal: int) -> Unit | None:
        """The unit after a multiplication by ``2**binary * 10**decimal``."""
        before = self._known[value]
        if before is None or before.bytes_power != 1:
            return before
        plain = any(isinstance(arg, Constant) and arg.value in _PLAIN_NUMBERS for arg in term.args)
        if plain and before.same_step(ONE) and term.op == "*":
            return before
        after = before.scaled(-binary, -decimal)
        if not after.is_named:
            self.problems[term] = f"{before} converted as if it were another unit"
            return None
        self.conversions[term] = (before, after)
        return after

    def _product(self, args: tuple[Term, ...]) -> Unit | None:
        units = [unit for unit in map(self._known.__getitem__, args) if unit is not None]
        if not units:
            return None
        found = units[0]
        for unit in units[1:]:
            found = found.times(unit)
        return found

    def _quotient(self, term: Apply, args: tuple[Term, ...]) -> Unit | None:
        above, below = (self._known[arg] for arg in args)
        if above is None or below is None:
            return above if isinstance(args[1], Constant) else None
        found = above.over(below)
        if found.bytes_power == 0 and not found.same_step(ONE):
            self.problems[term] = f"{above} divided by {below} without a conversion"
            return None
        return found


def _factor(op: str, args: tuple[Term, ...]) -> tuple[Term, int, int] | None:
    """The value that is multiplied by a change of unit, and the powers of two and ten; None for anything else."""
    match op, args:
        case "*", (Constant(factor), value) | (value, Constant(factor)) if factor in _FACTORS:
            binary, decimal = _FACTORS[int(factor)]
            return value, binary, decimal
        case (("/" | "//"), (value, Constant(factor))) if factor in _FACTORS:
            binary, decimal = _FACTORS[int(factor)]
            return value, -binary, -decimal
        case (("<<" | ">>"), (value, Constant(power))) if power in _SHIFTS:
            return value, int(power) if op == "<<" else -int(power), 0
        case _:
            return None
