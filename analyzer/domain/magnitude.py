"""How large a value may get: hostile code would otherwise have one computed that fills all memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

MAX_BITS: Final = 4096
MAX_ELEMENTS: Final = 10_000
_MOST_DIGITS: Final = 400
# What takes its operands element by element.
_PER_ELEMENT: Final = frozenset({"in", "not in", "concat", "sorted", "reversed", "unique", "sum", "min", "max"})
_WIDE_FIELD: Final = re.compile(r"\d{4}|\*")
# Results of these can be larger than their operands; of the last ones, before anything can be checked.
GROWING: Final = frozenset({"+", "-", "*", "/", "//", "%", "**", "<<", "lcm", "round"}) | _PER_ELEMENT

_EXPLODING: Final = frozenset({"*", "**", "<<", "%", "round"}) | _PER_ELEMENT
_BOUND: Final = 1 << MAX_BITS


class TooLargeError(Exception):
    """A value is beyond the bounds, or would be."""

    def __init__(self) -> None:
        super().__init__(f"a number of more than {MAX_BITS} bits, or more than {MAX_ELEMENTS} elements")


def compute(op: str, function: Any, values: Sequence[Any]) -> Any:
    """`function`, which is what the operator `op` computes, of `values`. Raises TooLargeError and what it raises."""
    if op not in GROWING:
        return function(*values)
    if op in _EXPLODING and _would_explode(op, values):
        raise TooLargeError
    result = function(*values)
    if type(result) is int:
        # Nearly every value there is.
        if -_BOUND < result < _BOUND:
            return result
        raise TooLargeError
    if is_too_large(result):
        raise TooLargeError
    return result


def is_too_large(value: object) -> bool:
    """Whether `value` is beyond the bounds."""
    match value:
        case float():
            return False
        case int() | Fraction():
            return bits(value) > MAX_BITS
        case str() | tuple():
            return len(value) > MAX_ELEMENTS
        case range():
            return _is_long(value)
        case _:
            return False


def bits(value: object) -> int:
    """How many bits a number takes; a float has as many as a machine word."""
    if isinstance(value, int):
        return value.bit_length()
    if isinstance(value, Fraction):
        return value.numerator.bit_length() + value.denominator.bit_length()
    return 64


def _would_explode(op: str, values: Sequence[Any]) -> bool:
    if op in _PER_ELEMENT:
        return any(isinstance(value, range) and _is_long(value) for value in values)
    if len(values) != 2:  # noqa: PLR2004 - what cannot explode at once
        return False
    left, right = values
    match op:
        case "*":
            return _repeats(left, right) or _repeats(right, left)
        case "**":
            return _is_whole(right) and not isinstance(left, float) and bits(left) * abs(right) > MAX_BITS
        case "<<":
            return isinstance(right, int) and right > MAX_BITS
        case "round":
            return isinstance(right, int) and abs(right) > _MOST_DIGITS
        case _:
            return isinstance(left, str) and _WIDE_FIELD.search(left) is not None


def _is_whole(value: object) -> bool:
    return isinstance(value, int | Fraction) and value.denominator == 1


def _repeats(sequence: Any, times: Any) -> bool:
    return isinstance(sequence, str | tuple) and isinstance(times, int) and len(sequence) * times > MAX_ELEMENTS


def _is_long(numbers: range) -> bool:
    # len() has no answer beyond a machine word.
    return numbers[MAX_ELEMENTS:].start != numbers.stop and bool(numbers[MAX_ELEMENTS:])
