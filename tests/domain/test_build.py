"""The folding constructors: what an operation comes down to without knowing its operands."""

from __future__ import annotations

import pytest

from analyzer.domain.build import apply
from analyzer.domain.terms import TRUE, Term, constant, raw_apply, symbol

X, Y = symbol("x"), symbol("y")


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        ("max", (X, X), X),
        ("min", (X, X, X), X),
        ("max", (X, Y), raw_apply("max", (X, Y))),
        ("max", (X,), raw_apply("max", (X,))),
        ("int", (raw_apply("int", (X,)),), raw_apply("int", (X,))),
        ("present", (constant(8),), TRUE),
        ("present", (X,), raw_apply("present", (X,))),
    ],
)
def test_what_is_the_same_whatever_the_operands_are_is_not_written(
    op: str, args: tuple[Term, ...], expected: Term
) -> None:
    assert apply(op, *args) is expected
