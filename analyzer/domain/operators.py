"""Every operator of the formula language: what it computes and how it is written."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator.

    `function` is Python's own (None where a term must not be folded or evaluated directly);
    `precedence` follows the Python grammar, higher binds tighter; 0 means call syntax.
    """

    function: Callable[..., Any] | None
    precedence: int = 0
    symbol: str = ""


def _contains(item: object, container: Any) -> bool:
    return item in container


def _identical(left: object, right: object) -> bool:
    return left is right or (left is not None and right is not None and type(left) is type(right) and left == right)


# The types that a value of a formula can have, by name.
TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


def type_names(texts: Sequence[str]) -> str:
    """The types of an ``isinstance`` as Python writes them, from the names as literals."""
    names = [text.strip("'") for text in texts]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _is_instance(value: object, *names: str) -> bool:
    return isinstance(value, tuple(TYPES[name] for name in names))


OPERATORS: dict[str, Operator] = {
    "or": Operator(None, 1, "or"),
    "and": Operator(None, 2, "and"),
    "not": Operator(operator.not_, 3, "not "),
    "in": Operator(_contains, 4, "in"),
    "not in": Operator(lambda a, b: a not in b, 4, "not in"),
    "is": Operator(_identical, 4, "is"),
    "is not": Operator(lambda a, b: not _identical(a, b), 4, "is not"),
    "<": Operator(operator.lt, 4, "<"),
    "<=": Operator(operator.le, 4, "<="),
    ">": Operator(operator.gt, 4, ">"),
    ">=": Operator(operator.ge, 4, ">="),
    "==": Operator(operator.eq, 4, "=="),
    "!=": Operator(operator.ne, 4, "!="),
    "|": Operator(operator.or_, 5, "|"),
    "^": Operator(operator.xor, 6, "^"),
    "&": Operator(operator.and_, 7, "&"),
    "<<": Operator(operator.lshift, 8, "<<"),
    ">>": Operator(operator.rshift, 8, ">>"),
    "+": Operator(operator.add, 9, "+"),
    "-": Operator(operator.sub, 9, "-"),
    "*": Operator(operator.mul, 10, "*"),
    "/": Operator(operator.truediv, 10, "/"),
    "//": Operator(operator.floordiv, 10, "//"),
    "%": Operator(operator.mod, 10, "%"),
    "neg": Operator(operator.neg, 11, "-"),
    "**": Operator(operator.pow, 12, "**"),
    "int": Operator(int),
    "float": Operator(float),
    "bool": Operator(bool),
    "str": Operator(str),
    "min": Operator(min),
    "max": Operator(max),
    "round": Operator(round),
    "abs": Operator(abs),
    "ceil": Operator(math.ceil),
    "floor": Operator(math.floor),
    "gcd": Operator(math.gcd),
    "lcm": Operator(math.lcm),
    "len": Operator(len),
    "sum": Operator(sum),
    # Sequences: what they hold is computed, whether a list, a set or a tuple holds it.
    "concat": Operator(lambda *parts: tuple(chain(*parts))),
    "sorted": Operator(lambda items: tuple(sorted(items))),
    "reversed": Operator(lambda items: tuple(reversed(items))),
    "unique": Operator(lambda items: tuple(dict.fromkeys(items))),
    # An element that is there under a guard only.
    "maybe": Operator(None),
    "upper": Operator(str.upper),
    "lower": Operator(str.lower),
    "strip": Operator(str.strip),
    "split": Operator(lambda *args: tuple(str.split(*args))),
    "startswith": Operator(str.startswith),
    "endswith": Operator(str.endswith),
    # The types are given by name.
    "isinstance": Operator(_is_instance),
    "tuple": Operator(lambda *items: items),
    "item": Operator(operator.getitem),
    # Whether an input was given at all (a model configuration that has the attribute).
    "present": Operator(None),
    # The minimum over ranks of a value that every rank holds: one rank's view of it is the value.
    "rank_min": Operator(lambda value: value),
    # A round trip through a float32 tensor.
    "float32": Operator(float),
}

COMPARISONS = frozenset({"in", "not in", "is", "is not", "<", "<=", ">", ">=", "==", "!="})
BOOLEAN_RESULT = COMPARISONS | {"not", "and", "or", "bool", "startswith", "endswith", "isinstance", "present"}
SEQUENCES = frozenset({"tuple", "concat", "sorted", "reversed", "unique", "split"})
