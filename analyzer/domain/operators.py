"""Every operator of the formula language: what it computes and how it is written."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator.

    `function` is Python's own (None where a term must not be folded or evaluated directly);
    `precedence` follows the Python grammar, higher binds tighter; 0 means call syntax.
    """

    function: Callable[..., Any] | None
    precedence: int = 0
    symbol: str = ""
    # The fewest and the most operands; None where there is no end to them.
    operands: tuple[int, int | None] = (1, 1)

    def takes(self, count: int) -> bool:
        """Whether it has a meaning for so many operands."""
        fewest, most = self.operands
        return fewest <= count and (most is None or count <= most)


def _contains(item: object, container: Any) -> bool:
    return item in container


def _identical(left: object, right: object) -> bool:
    return left is right or (left is not None and right is not None and type(left) is type(right) and left == right)


# The types that a value of a formula can have, by name. It is nothing else: no dict, and no object of a class.
TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


def type_names(texts: Sequence[str]) -> str:
    """The types of an ``isinstance`` as Python writes them, from the names as literals."""
    names = [text.strip("'") for text in texts]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _is_instance(value: object, *names: str) -> bool:
    return isinstance(value, tuple(TYPES[name] for name in names if name in TYPES))


_TWO: Final = (2, 2)
_ONE_OR_TWO: Final = (1, 2)
_MANY: Final = (1, None)

OPERATORS: dict[str, Operator] = {
    "or": Operator(None, 1, "or", operands=_MANY),
    "and": Operator(None, 2, "and", operands=_MANY),
    "not": Operator(operator.not_, 3, "not "),
    "in": Operator(_contains, 4, "in", operands=_TWO),
    "not in": Operator(lambda a, b: a not in b, 4, "not in", operands=_TWO),
    "is": Operator(_identical, 4, "is", operands=_TWO),
    "is not": Operator(lambda a, b: not _identical(a, b), 4, "is not", operands=_TWO),
    "<": Operator(operator.lt, 4, "<", operands=_TWO),
    "<=": Operator(operator.le, 4, "<=", operands=_TWO),
    ">": Operator(operator.gt, 4, ">", operands=_TWO),
    ">=": Operator(operator.ge, 4, ">=", operands=_TWO),
    "==": Operator(operator.eq, 4, "==", operands=_TWO),
    "!=": Operator(operator.ne, 4, "!=", operands=_TWO),
    "|": Operator(operator.or_, 5, "|", operands=_TWO),
    "^": Operator(operator.xor, 6, "^", operands=_TWO),
    "&": Operator(operator.and_, 7, "&", operands=_TWO),
    "<<": Operator(operator.lshift, 8, "<<", operands=_TWO),
    ">>": Operator(operator.rshift, 8, ">>", operands=_TWO),
    "+": Operator(operator.add, 9, "+", operands=_TWO),
    "-": Operator(operator.sub, 9, "-", operands=_TWO),
    "*": Operator(operator.mul, 10, "*", operands=_TWO),
    "/": Operator(operator.truediv, 10, "/", operands=_TWO),
    "//": Operator(operator.floordiv, 10, "//", operands=_TWO),
    "%": Operator(operator.mod, 10, "%", operands=_TWO),
    "neg": Operator(operator.neg, 11, "-"),
    "**": Operator(operator.pow, 12, "**", operands=_TWO),
    "int": Operator(int, operands=_ONE_OR_TWO),
    "float": Operator(float),
    "bool": Operator(bool),
    "str": Operator(str),
    "min": Operator(min, operands=_MANY),
    "max": Operator(max, operands=_MANY),
    "round": Operator(round, operands=_ONE_OR_TWO),
    "abs": Operator(abs),
    "ceil": Operator(math.ceil),
    "floor": Operator(math.floor),
    "gcd": Operator(math.gcd, operands=_MANY),
    "lcm": Operator(math.lcm, operands=_MANY),
    "bit_length": Operator(int.bit_length),
    "len": Operator(len),
    "sum": Operator(sum, operands=_ONE_OR_TWO),
    # Sequences: what they hold is computed, whether a list, a set or a tuple holds it.
    "concat": Operator(lambda *parts: tuple(chain(*parts)), operands=(0, None)),
    "sorted": Operator(lambda items: tuple(sorted(items))),
    "reversed": Operator(lambda items: tuple(reversed(items))),
    "unique": Operator(lambda items: tuple(dict.fromkeys(items))),
    "slice": Operator(lambda items, first, last, step: tuple(items[first:last:step]), operands=(4, 4)),
    # An element that is there under a guard only.
    "maybe": Operator(None, operands=_TWO),
    "upper": Operator(str.upper),
    "lower": Operator(str.lower),
    "strip": Operator(str.strip, operands=_ONE_OR_TWO),
    "split": Operator(lambda *args: tuple(str.split(*args)), operands=_ONE_OR_TWO),
    "startswith": Operator(str.startswith, operands=_TWO),
    "endswith": Operator(str.endswith, operands=_TWO),
    # The types are given by name.
    "isinstance": Operator(_is_instance, operands=(2, None)),
    "tuple": Operator(lambda *items: items, operands=(0, None)),
    "item": Operator(operator.getitem, operands=_TWO),
    # Whether an input was given at all (a model configuration that has the attribute).
    "present": Operator(None),
    # The minimum over ranks of a value that every rank holds: one rank's view of it is the value.
    "rank_min": Operator(lambda value: value),
    # A round trip through a float32 tensor.
    "float32": Operator(float),
}

COMPARISONS = frozenset({"in", "not in", "is", "is not", "<", "<=", ">", ">=", "==", "!="})
BOOLEAN_RESULT = COMPARISONS | {"not", "and", "or", "bool", "startswith", "endswith", "isinstance", "present"}
SEQUENCES = frozenset({"tuple", "concat", "sorted", "reversed", "unique", "split", "slice"})
