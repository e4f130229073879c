"""Terms as MathML: typeset by the browser itself, every name escaped."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup, escape

from analyzer.domain.characters import printable
from analyzer.domain.iteration import EACH, FOR, is_clause
from analyzer.domain.notation import CLOSED, OPEN, SCALES, Piece, operand, operands, shared_names, text_leaf, write
from analyzer.domain.operators import OPERATORS
from analyzer.domain.terms import (
    Apply,
    Conditional,
    Constant,
    Opaque,
    Scalar,
    Symbol,
    Term,
)

# Past this length, what occurs more than once gets a name and a line of its own.
_LINE: Final = 170
# A sum longer than this is written one summand a line.
_WIDE: Final = 60
# The signs of mathematics, not the letters that look like them.
# ruff: noqa: RUF001

_PARENTHESES: Final = ('<mrow><mo stretchy="true">(</mo>', '<mo stretchy="true">)</mo></mrow>')
_LOOP_BRACKETS: Final[dict[Scalar, tuple[str, str]]] = {
    "list": ("<mo>[</mo>", "<mo>]</mo>"),
    "set": ("<mo>{</mo>", "<mo>}</mo>"),
    "dict": ("<mo>{</mo>", "<mo>}</mo>"),
}
_AROUND: Final = {
    "floor": ("<mo>⌊</mo>", "<mo>⌋</mo>"),
    "ceil": ("<mo>⌈</mo>", "<mo>⌉</mo>"),
    "abs": ("<mo>|</mo>", "<mo>|</mo>"),
    "tuple": ("<mo>(</mo>", "<mo>)</mo>"),
}
_INFIX: Final = {
    "or": "∨",
    "and": "∧",
    "in": "∈",
    "not in": "∉",
    "<=": "≤",
    ">=": "≥",
    "==": "=",
    "!=": "≠",
    "-": "−",
    "^": "⊕",
    "*": "·",
    "%": "mod",
}


def math(term: Term, *, defines: str = "") -> Markup:
    """`term` as a displayed formula; `defines` is the name on its left, "" for none."""
    names = shared_names(term, _LINE)
    pieces = {key: Piece(_name(name)) for key, name in names.items()}
    left = f"{_name(defines)}<mo>=</mo>" if defines else ""
    body, definitions = write(term, _piece, pieces)
    rows = [f"{left}{row}" if not number else row for number, row in enumerate(_rows(term, body, pieces))]
    rows += [f"{name}<mo>=</mo>{text}" for name, text in definitions]
    if len(rows) == 1:
        return _element(f"<mrow>{rows[0]}</mrow>")
    return _element(f'<mtable class="lines">{"".join(f"<mtr><mtd>{row}</mtd></mtr>" for row in rows)}</mtable>')


def inline(term: Term) -> Markup:
    """`term` as a part of a sentence."""
    body, _ = write(term, _piece, {})
    return Markup(f"<math><mrow>{body}</mrow></math>")  # noqa: S704 - every leaf is escaped where it is written


def _element(content: str) -> Markup:
    return Markup(f'<math display="block">{content}</math>')  # noqa: S704 - as above


def _rows(term: Term, body: str, named: dict[int, Piece]) -> list[str]:
    """`body` as it is, or one line for each summand of a long sum."""
    summands = _summands(term)
    if id(term) in named or len(summands) == 1 or _length(term) <= _WIDE:
        return [f"<mrow>{body}</mrow>"]
    rows = []
    for sign, part in summands:
        text = write(part, _piece, named)[0] if id(part) not in named else named[id(part)].text
        inner = text if not sign or not _is_sum(part) else f"{_PARENTHESES[0]}{text}{_PARENTHESES[1]}"
        rows.append(f"<mrow>{f'<mo>{sign}</mo>' if sign else ''}{inner}</mrow>")
    return rows


def _is_sum(term: Term) -> bool:
    return isinstance(term, Conditional) or (isinstance(term, Apply) and term.op in ("+", "-"))


def _summands(term: Term) -> list[tuple[str, Term]]:
    """What a sum adds and takes away, with the sign of each but the first."""
    if not isinstance(term, Apply) or term.op not in ("+", "-") or len(term.args) != len(("left", "right")):
        return [("", term)]
    first, second = term.args
    return [*_summands(first), ("−" if term.op == "-" else "+", second)]


def _length(term: Term) -> int:
    """How many characters `term` has as text, about."""
    from analyzer.domain.notation import to_text  # noqa: PLC0415 - only for long formulas

    return len(to_text(term))


def _name(name: str) -> str:
    return f"<mi>{_text(name)}</mi>"


def _text(text: str) -> str:
    return str(escape(printable(text)))


def _piece(term: Term, parts: tuple[Piece, ...]) -> Piece:
    match term:
        case Apply(op, _):
            return _apply(op, parts)
        case Conditional():
            return _cases(*parts)
        case Opaque(name, args) if name in (EACH, FOR) and len(parts) > 1:
            return _loop(name, args, parts)
        case Opaque(name, _) if parts:
            return _call(name.removesuffix("()"), parts)
        case Constant(value):
            return _constant(value)
        case Symbol(name):
            return Piece(_name(name))
        case Opaque():
            return Piece(_name(text_leaf(term).text))
        case _:
            return Piece(f"<mtext>{_text(text_leaf(term).text)}</mtext>")


def _cases(guard: Piece, then: Piece, otherwise: Piece) -> Piece:
    rows = f"<mtr><mtd>{then.text}</mtd><mtd><mtext>if&nbsp;</mtext>{guard.guard.text}</mtd></mtr>"
    rows += otherwise.rows or f"<mtr><mtd>{otherwise.text}</mtd><mtd><mtext>otherwise</mtext></mtd></mtr>"
    return Piece(f'<mtable class="cases">{rows}</mtable>', OPEN, rows)


def _call(name: str, parts: tuple[Piece, ...]) -> Piece:
    return Piece(f"<mrow>{_name(name)}<mo>(</mo>{_listed(parts)}<mo>)</mo></mrow>")


def _loop(name: str, args: tuple[Term, ...], parts: tuple[Piece, ...]) -> Piece:
    """A comprehension or one of its clauses; a generator is written as what it is the argument of."""
    if name == FOR:
        conditions = "".join(f"{_word('if')}{part.guard.within(1, _PARENTHESES)}" for part in parts[2:])
        return Piece(f"<mrow>{_word('for')}{parts[0].text}{_word('in')}{parts[1].text}{conditions}</mrow>")
    clauses = "".join(part.text for part, arg in zip(parts, args, strict=True) if is_clause(arg))
    elements = "<mo>:</mo>".join(part.text for part, arg in zip(parts[1:], args[1:], strict=True) if not is_clause(arg))
    left, right = _LOOP_BRACKETS.get(args[0].value, ("", "")) if isinstance(args[0], Constant) else ("", "")
    return Piece(f"<mrow>{left}{elements}{clauses}{right}</mrow>")


def _word(text: str) -> str:
    return f"<mtext>&nbsp;{text}&nbsp;</mtext>"


def _listed(parts: tuple[Piece, ...]) -> str:
    return '<mo separator="true">,</mo>'.join(f"<mrow>{part.text}</mrow>" for part in parts)


def _constant(value: Scalar) -> Piece:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Piece(f"<mtext>{_text(repr(value))}</mtext>")
    if value in SCALES:
        return Piece(f"<msup><mn>2</mn><mn>{SCALES[int(value)]}</mn></msup>", OPERATORS["**"].precedence)
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
        return Piece(f"<mrow><mn>{mantissa}</mn><mo>·</mo>{power}</mrow>", OPERATORS["*"].precedence)
    if text.startswith("-"):
        return Piece(f"<mrow><mo>−</mo><mn>{text[1:]}</mn></mrow>", OPERATORS["neg"].precedence)
    return Piece(f"<mn>{text}</mn>")


def _apply(op: str, parts: tuple[Piece, ...]) -> Piece:
    precedence = OPERATORS[op].precedence
    match op:
        case "/":
            return Piece(_fraction(parts))
        case "//":
            return Piece(f'<mrow><mo stretchy="true">⌊</mo>{_fraction(parts)}<mo stretchy="true">⌋</mo></mrow>')
        case "**":
            base = parts[0].within(precedence + 1, _PARENTHESES)
            return Piece(f"<msup><mrow>{base}</mrow><mrow>{parts[1].text}</mrow></msup>", precedence)
        case "item":
            return Piece(f"<mrow>{parts[0].within(CLOSED, _PARENTHESES)}<mo>[</mo>{parts[1].text}<mo>]</mo></mrow>")
        case _ if op in _AROUND:
            left, right = _AROUND[op]
            return Piece(f"<mrow>{left}{_listed(parts)}{right}</mrow>")
        case "bool":
            called = _call(op, parts)
            return Piece(called.text, called.precedence, tested=parts[0])
    if not precedence:
        return _call(op, parts)
    if len(parts) == 1:
        sign = "<mo>−</mo>" if op == "neg" else "<mo>¬</mo>"
        return Piece(f"<mrow>{sign}{operand(op, parts[0]).within(precedence, _PARENTHESES)}</mrow>", precedence)
    infix = f"<mo>{escape(_INFIX.get(op, op))}</mo>"
    return Piece(f"<mrow>{infix.join(operands(op, precedence, parts, _PARENTHESES))}</mrow>", precedence)


def _fraction(parts: tuple[Piece, ...]) -> str:
    return f"<mfrac><mrow>{parts[0].text}</mrow><mrow>{parts[1].text}</mrow></mfrac>"
