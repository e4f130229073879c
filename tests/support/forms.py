"""Evaluating normal forms, to hold them against the terms that they stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from analyzer.compare.forms import Branch, Factor, Failure, Form, Guard, Literal, Polynomial


class FormError(Exception):
    """The form fails at this point."""


def value_of(form: Form, point: Mapping[str, Any]) -> Any:
    """What `form` is worth at `point`; raises FormError where it fails."""
    match form:
        case Failure():
            raise FormError
        case Literal(_, value):
            return value
        case Branch(guard, then, otherwise):
            return value_of(then if _answer(guard, point) else otherwise, point)
        case Polynomial(terms):
            if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1 and terms[0][0][0][1] == 1:
                return _factor(terms[0][0][0][0], point)
            total = Fraction(0)
            for monomial, coefficient in terms:
                product = coefficient
                for factor, exponent in monomial:
                    product *= Fraction(_factor(factor, point)) ** exponent
                total += product
            return total


def _factor(factor: Factor, point: Mapping[str, Any]) -> Any:
    if factor.kind == "symbol":
        value = point[factor.name]
        return Fraction(repr(value)) if isinstance(value, float) else value
    if factor.kind == "choice":
        guard, then, otherwise = factor.args
        return value_of(then if value_of(guard, point) else otherwise, point)
    args = [value_of(arg, point) for arg in factor.args]
    match factor.kind:
        case "floor":
            return math.floor(args[0])
        case "round":
            return round(args[0])
        case "min":
            return min(args)
        case "inverse":
            if args[0] == 0:
                raise FormError
            return 1 / Fraction(args[0])
        case "group" | "case" | "float32":
            return args[0]
        case "product":
            return args[0] * args[1]
    raise AssertionError(factor.kind)


def _answer(guard: Guard, point: Mapping[str, Any]) -> bool:
    args = [value_of(arg, point) for arg in guard.args]
    match guard.kind:
        case "positive":
            return bool(args[0] > 0)
        case "nonnegative":
            return bool(args[0] >= 0)
        case "zero":
            return bool(args[0] == 0)
        case "truth":
            return bool(args[0])
        case "same":
            return bool(args[0] == args[1])
    raise AssertionError(guard.kind)
