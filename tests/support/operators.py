"""What Python itself computes for operators of the formula language, on operands that sit on edges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, Final

from analyzer.domain.operators import OPERATORS
from analyzer.domain.semantics import to_float32

_VALUES: Final = (
    *(0, 1, -1, 7, -7, 64, 2**30, 2**53, 2**53 + 1, -(2**63), 10**25, True, False, None),
    *(0.0, -0.0, 0.1, 0.5, 1.5, 2.5, -2.5, 0.125, 2.675, 1e-7, 1e16, 1e300, 78.52, 94.04, 0.88, 2.0**53),
)
_BINARY: Final = ("+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "min", "max", "is", "is not")
_UNARY: Final = ("neg", "int", "float", "bool", "abs", "ceil", "floor", "round", "not", "str", "float32")
_WHOLE: Final = ("gcd", "lcm", "&", "|", "^")


def python_calls() -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """An operator, its operands, and its value as text, or the exception that it raises."""
    random = Random(20)  # noqa: S311 - the same numbers every time
    some = [
        *_VALUES,
        *(random.uniform(-100, 100) for _ in range(6)),
        *(random.randrange(-(10**20), 10**20) for _ in range(4)),
    ]
    for op, left, right in product(_BINARY, some, some):
        yield op, (left, right), _outcome(op, left, right)
    for op, value in product(_UNARY, some):
        yield op, (value,), _outcome(op, value)
    for op, left, right in product(_WHOLE, (0, 1, 12, -18, 2**70), (0, 5, 8, -(2**65))):
        yield op, (left, right), _outcome(op, left, right)
    for value in (0, 1, -1, 7, 8, 2**64, -(10**25), True, 1.5, None):
        yield "bit_length", (value,), _outcome("bit_length", value)
    for value, digits in product(
        (0.8875, 0.125, 2.675, -0.0005, 1234.5, 0.0, 5e-324, 1e22, 7), (0, 1, 2, 3, -1, -2, None)
    ):
        yield "round", (value, digits), _outcome("round", value, digits)


def _outcome(op: str, *values: Any) -> str:
    function = to_float32 if op == "float32" else OPERATORS[op].function
    assert function is not None
    try:
        return str(function(*values))
    except (ArithmeticError, TypeError, ValueError) as error:
        return type(error).__name__
