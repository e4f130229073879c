"""Terms as Python expressions that compute what the terms are worth, and a function made of them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analyzer.domain.iteration import BISECTIONS, EACH, FOR, ITERATIONS, is_clause, is_loop_variable
from analyzer.domain.operators import COMPARISONS, OPERATORS, TYPES, type_names
from analyzer.domain.source import Span
from analyzer.domain.terms import (
    NONE,
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    children,
    constant,
    post_order,
)

_CALL: Final = 20
_TERNARY: Final = 0
_METHODS: Final = frozenset({"upper", "lower", "strip", "startswith", "endswith", "bit_length"})
_FROM_MATH: Final = frozenset({"ceil", "floor", "gcd", "lcm"})
# One rank's view of a value that every rank holds is the value; so is a float32 of it, to all who compare.
_SAME: Final = frozenset({"rank_min"})
_LOOPS: Final = ITERATIONS | {FOR}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A keyword of the function; `default` is an expression, None when the caller must give it.

    A `computed` default reads other parameters: it is put in where the caller gives none.
    """

    name: str
    unit: str
    description: str
    default: str | None
    computed: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """``name = expression``; a `lazy` one is a function, computed where it is called."""

    name: str
    expression: str
    lazy: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """One quantity of one scenario as a function of its own.

    `errors` are conditions with the exception that SGLang raises under them; `unwritten` are exceptions whose
    conditions cannot be written down, with what stands in the way.
    """

    name: str
    title: str
    unit: str
    scenario: str
    parameters: tuple[Parameter, ...]
    statements: tuple[Statement, ...]
    errors: tuple[tuple[str, str], ...]
    result: str
    locations: tuple[Span, ...]
    unwritten: tuple[str, ...] = ()


def identifier(name: str) -> str:
    """A name of the formula language as one of Python."""
    cleaned = "".join(char if char.isascii() and (char.isalnum() or char == "_") else "_" for char in name)
    return cleaned if cleaned.isidentifier() else f"_{cleaned}"


def expression(root: Term, named: Mapping[Term, str]) -> str:
    """`root` as an expression; what `named` holds is written as the name it has there."""
    pieces: dict[Term, tuple[str, int]] = {}
    for term in post_order(root):
        if term in named and term is not root:
            pieces[term] = named[term], _CALL
        else:
            pieces[term] = _piece(term, [pieces[child] for child in children(term)])
    return pieces[root][0]


def _piece(term: Term, parts: list[tuple[str, int]]) -> tuple[str, int]:
    match term:
        case Constant(value):
            return _constant(value)
        case Symbol(name):
            return identifier(name), _CALL
        case Atom(name):
            return repr(name), _CALL
        case Conditional():
            guard, then, otherwise = parts
            return f"{_within(then, 1)} if {_within(guard, 1)} else {otherwise[0]}", _TERNARY
        case Apply(op, args):
            return _apply(op, args, parts)
        case Opaque(name, args) if is_loop_variable(term) or name in _LOOPS:
            return _loop(name, args, [text for text, _ in parts]), _CALL
        case Opaque() | Handle() | Raise():
            # What nobody set is false and no number.
            return "None", _CALL


def _loop(name: str, args: tuple[Term, ...], texts: list[str]) -> str:
    """A comprehension, one of its clauses, or what is computed over one."""
    if name == FOR:
        conditions = "".join(f" if ({text})" for text in texts[2:])
        return f"for {texts[0]} in {texts[1]}{conditions}"
    if name == EACH:
        clauses = [text for text, arg in zip(texts, args, strict=True) if is_clause(arg)]
        row = f"[({texts[-1]}) {' '.join(clauses)}]"
        return f"list(dict.fromkeys({row}))" if args[0] is constant("set") else row
    if name == "item":
        return f"{texts[0]}[{texts[1]}]"
    if name in BISECTIONS:
        return f"bisect.{name}({texts[0]}, {texts[1]})"
    if name == "product of":
        return f"math.prod({texts[0]})"
    return f"{name.removesuffix(' of')}({', '.join(texts)})" if args else identifier(name)


def _constant(value: object) -> tuple[str, int]:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"float({str(value)!r})", _CALL
    text = "2**30" if value == 1 << 30 and isinstance(value, int) else repr(value)
    return text, OPERATORS["**"].precedence if text == "2**30" else _CALL if not text.startswith("-") else 11


def _apply(op: str, args: tuple[Term, ...], parts: list[tuple[str, int]]) -> tuple[str, int]:
    texts = [text for text, _ in parts]
    if op in _SAME:
        return parts[0]
    special = _special(op, parts, texts)
    if special is not None:
        return special
    if op in ("is", "is not") and NONE not in args:
        op = "==" if op == "is" else "!="
    precedence, word = OPERATORS[op].precedence, OPERATORS[op].symbol
    if not precedence:
        return f"{'math.' if op in _FROM_MATH else ''}{op}({', '.join(texts)})", _CALL
    if len(parts) == 1:
        return f"{word}{_within(parts[0], precedence)}", precedence
    first = precedence + 1 if op in COMPARISONS or op == "**" else precedence
    return f" {word} ".join(
        [_within(parts[0], first), *(_within(part, precedence + 1) for part in parts[1:])]
    ), precedence


def _special(op: str, parts: list[tuple[str, int]], texts: list[str]) -> tuple[str, int] | None:
    """What Python writes neither as an operator nor as a call of the operation's own name."""
    match op:
        case "present":
            return f"{_within(parts[0], 5)} is not None", 4
        case "float32":
            return f"float({texts[0]})", _CALL
        case "tuple":
            return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})", _CALL
        case "item":
            return f"{_within(parts[0], _CALL)}[{texts[1]}]", _CALL
        case "slice":
            return f"{_within(parts[0], _CALL)}[{':'.join(texts[1:])}]", _CALL
        case "isinstance":
            names = [text for text in texts[1:] if text.strip("'") in TYPES]
            return (f"isinstance({texts[0]}, {type_names(names)})" if names else "False"), _CALL
        case _ if op in _METHODS:
            return f"{_within(parts[0], _CALL)}.{op}({', '.join(texts[1:])})", _CALL
        case _:
            return None


def _within(part: tuple[str, int], precedence: int) -> str:
    return part[0] if part[1] >= precedence else f"({part[0]})"


def exception_name(name: str) -> str:
    """An exception that a function without imports can raise."""
    found = getattr(builtins, name, None)
    return name if isinstance(found, type) and issubclass(found, Exception) else "RuntimeError"
