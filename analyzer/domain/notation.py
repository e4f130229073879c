"""Writing a term down for people: Python-like text and LaTeX, and what any other notation needs for it.

A formula is a graph with heavy sharing; written out as a tree it can be megabytes. Past a
limit, sub-terms that occur more than once get a name and are written once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from analyzer.domain.characters import printable
from analyzer.domain.iteration import EACH, FOR, is_clause, is_loop_variable
from analyzer.domain.operators import COMPARISONS, OPERATORS, type_names
from analyzer.domain.terms import (
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Scalar,
    Symbol,
    Term,
    children,
    post_order,
    raw_apply,
    symbol,
    symbols_of,
)

TEXT_LIMIT: Final = 4_000
# A shared sub-term shorter than this is easier to read in place than behind a name.
_WORTH_A_NAME: Final = 24
OPEN: Final = 0
CLOSED: Final = 20
_METHODS: Final = frozenset({"upper", "lower", "strip", "split", "startswith", "endswith", "bit_length"})
SCALES: Final = {1 << 30: 30, 1 << 20: 20}


@dataclass(frozen=True, slots=True)
class Piece:
    """Written text and how tightly its outermost operator binds.

    `rows` holds the lines of a LaTeX cases environment that a surrounding one can absorb;
    `tested` is what stands inside a ``bool(...)`` that a guard need not spell out.
    """

    text: str
    precedence: int = CLOSED
    rows: str = ""
    tested: Piece | None = None

    @property
    def guard(self) -> Piece:
        """The piece to write where only its truth counts."""
        return self.tested or self

    def within(self, precedence: int, brackets: tuple[str, str] = ("(", ")")) -> str:
        """The text as an operand of an operator of `precedence`."""
        return self.text if self.precedence >= precedence else f"{brackets[0]}{self.text}{brackets[1]}"


Writer = Callable[[Term, "tuple[Piece, ...]"], Piece]


def to_text(term: Term, *, limit: int = TEXT_LIMIT) -> str:
    """`term` as a Python-like expression; ``body where x1 = ..., x2 = ...`` past `limit`."""
    names = shared_names(term, limit)
    body, definitions = write(term, _text_piece, {key: Piece(name) for key, name in names.items()})
    if not definitions:
        return body
    return f"{body} where " + ", ".join(f"{name} = {text}" for name, text in definitions)


def abridged(term: Term, *, limit: int = 100) -> str:
    """The text of an operation within about `limit` characters: operands too long for it are left out."""
    text = to_text(term)
    if len(text) <= limit or not isinstance(term, Apply):
        return text if len(text) <= limit else f"{text[:limit]}..."
    short = [arg if len(to_text(arg)) <= limit // len(term.args) else symbol("...") for arg in term.args]
    return to_text(raw_apply(term.op, short))


def to_latex(term: Term, *, limit: int = TEXT_LIMIT) -> str:
    """`term` as LaTeX mathematics; named sub-terms follow on lines of their own past `limit`."""
    names = shared_names(term, limit)
    pieces = {key: Piece(f"x_{{{name[1:]}}}") for key, name in names.items()}
    body, definitions = write(term, _latex_piece, pieces)
    if not definitions:
        return body
    lines = [f"& {body}", *(f"& {name} = {text}" for name, text in definitions)]
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


def shared_names(root: Term, limit: int) -> dict[int, str]:
    """Names for the shared sub-terms of `root`, by id and in writing order; none below `limit`."""
    order = post_order(root)
    sizes: dict[int, int] = {}
    for term in order:
        sizes[id(term)] = len(_head(term)) + sum(sizes[id(child)] + 2 for child in children(term))
    if sizes[id(root)] <= limit:
        return {}
    uses = Counter(id(child) for term in order for child in children(term))
    shared = [t for t in order if uses[id(t)] > 1 and children(t) and sizes[id(t)] >= _WORTH_A_NAME]
    taken = symbols_of(root)
    free = (f"x{index}" for index in range(1, len(shared) + len(taken) + 1) if f"x{index}" not in taken)
    return {id(term): name for term, name in zip(shared, free, strict=False)}


def _head(term: Term) -> str:
    """What a node itself adds to the text."""
    match term:
        case Apply(op, _):
            return op
        case Conditional():
            return "if else"
        case _:
            return text_leaf(term).text


def write(root: Term, writer: Writer, named: Mapping[int, Piece]) -> tuple[str, list[tuple[str, str]]]:
    """The text of `root` and of the named sub-terms, each written once, operands first."""
    order = post_order(root)
    waiting = Counter(id(child) for term in order for child in children(term))
    pieces: dict[int, Piece] = {}
    definitions: list[tuple[str, str]] = []
    for term in order:
        piece = writer(term, tuple(pieces[id(child)] for child in children(term)))
        for child in children(term):
            waiting[id(child)] -= 1
            if not waiting[id(child)]:
                # A long chain would otherwise hold the text of every prefix of itself.
                del pieces[id(child)]
        if id(term) in named:
            definitions.append((named[id(term)].text, piece.text))
            piece = named[id(term)]
        pieces[id(term)] = piece
    return pieces[id(root)].text, definitions


_LOOP_BRACKETS: Final = {"list": ("[", "]"), "set": ("{", "}"), "dict": ("{", "}")}

# --- text -------------------------------------------------------------------------------


def _text_piece(term: Term, parts: tuple[Piece, ...]) -> Piece:
    match term:
        case Apply(op, _):
            return _text_apply(op, parts)
        case Conditional():
            guard, then, otherwise = parts
            return Piece(f"{then.within(1)} if {guard.guard.within(1)} else {otherwise.text}", OPEN)
        case Opaque(name, args) if name in (EACH, FOR) and len(parts) > 1:
            return _text_loop(name, args, parts)
        case Opaque(name, _) if parts:
            return Piece(f"{printable(name).removesuffix('()')}({_listed(parts)})")
        case _:
            return text_leaf(term)


def _text_loop(name: str, args: tuple[Term, ...], parts: tuple[Piece, ...]) -> Piece:
    """A comprehension or one of its clauses; a generator is written as what it is the argument of."""
    if name == FOR:
        conditions = "".join(f" if {part.guard.within(1)}" for part in parts[2:])
        return Piece(f"for {parts[0].text} in {parts[1].text}{conditions}")
    clauses = [part for part, arg in zip(parts, args, strict=True) if is_clause(arg)]
    elements = parts[len(clauses) + 1 :]
    text = f"{': '.join(part.text for part in elements)} {' '.join(part.text for part in clauses)}"
    left, right = _LOOP_BRACKETS.get(parts[0].text.strip("'"), ("", ""))
    return Piece(f"{left}{text}{right}")


def text_leaf(term: Term) -> Piece:
    """A term without sub-terms."""
    match term:
        case Constant(value):
            return _text_constant(value)
        case Opaque(name, _) if is_loop_variable(term):
            depth = name.removeprefix(f"{EACH}#")
            return Piece(f"element{depth if depth != '0' else ''}")
        case Atom(name) | Symbol(name) | Opaque(name, _):
            return Piece(printable(name))
        case Raise(exception):
            return Piece(f"raises {printable(exception)}")
        case Handle(kind, key):
            return Piece(printable(f"<{kind} {key}>"))
        case Apply() | Conditional():
            raise AssertionError(term)


def _text_constant(value: Scalar) -> Piece:
    if isinstance(value, int) and value in SCALES:
        return Piece(f"2**{SCALES[value]}", OPERATORS["**"].precedence)
    negative = isinstance(value, int | float) and repr(value).startswith("-")
    return Piece(repr(value), OPERATORS["neg"].precedence if negative else CLOSED)


def _text_apply(op: str, parts: tuple[Piece, ...]) -> Piece:
    precedence = OPERATORS[op].precedence
    word = OPERATORS[op].symbol
    if op == "maybe":
        return Piece(f"*([{parts[1].text}] if {parts[0].guard.text} else [])")
    if op == "tuple":
        return Piece(f"({_listed(parts)}{',' if len(parts) == 1 else ''})")
    if op == "item":
        return Piece(f"{parts[0].within(CLOSED)}[{parts[1].text}]")
    if op == "slice":
        bounds = ["" if part.text == "None" else part.text for part in parts[1:]]
        return Piece(f"{parts[0].within(CLOSED)}[{':'.join(bounds).removesuffix(':')}]")
    if op in _METHODS:
        return Piece(f"{parts[0].within(CLOSED)}.{op}({_listed(parts[1:])})")
    if op == "isinstance":
        return Piece(f"isinstance({parts[0].text}, {type_names([part.text for part in parts[1:]])})")
    if not precedence:
        return Piece(f"{op}({_listed(parts)})", tested=parts[0] if op == "bool" else None)
    if len(parts) == 1:
        return Piece(word + operand(op, parts[0]).within(precedence), precedence)
    return Piece(f" {word} ".join(operands(op, precedence, parts, ("(", ")"))), precedence)


def _listed(parts: tuple[Piece, ...]) -> str:
    return ", ".join(part.text for part in parts)


def operand(op: str, part: Piece) -> Piece:
    """What a unary operator is written before."""
    return part.guard if op == "not" else part


def operands(op: str, precedence: int, parts: tuple[Piece, ...], brackets: tuple[str, str]) -> list[str]:
    """The operands of an infix operator, bracketed where Python would group them otherwise."""
    if op in ("and", "or"):
        return [part.guard.within(precedence + 1, brackets) for part in parts]
    if op == "**":
        return [parts[0].within(precedence + 1, brackets), parts[1].within(precedence - 1, brackets)]
    # Comparisons chain in Python: (a < b) < c is not a < b < c.
    first = precedence + 1 if op in COMPARISONS else precedence
    return [parts[0].within(first, brackets), *(part.within(precedence + 1, brackets) for part in parts[1:])]


# --- LaTeX ------------------------------------------------------------------------------

_BRACKETS: Final = (r"\left(", r"\right)")
_LATEX_ESCAPES: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        **{char: "\\" + char for char in "{}#$%&_"},
    }
)
_LATEX_INFIX: Final = {
    "or": r"\lor",
    "and": r"\land",
    "in": r"\in",
    "not in": r"\notin",
    "is": r"\mathrel{\mathrm{is}}",
    "is not": r"\mathrel{\mathrm{is\ not}}",
    "<=": r"\le",
    ">=": r"\ge",
    "==": "=",
    "!=": r"\ne",
    "|": r"\mathbin{|}",
    "^": r"\oplus",
    "&": r"\mathbin{\&}",
    "<<": r"\mathbin{<\!<}",
    ">>": r"\mathbin{>\!>}",
    "*": r"\cdot",
    "%": r"\bmod",
}
_LATEX_AROUND: Final = {
    "floor": (r"\left\lfloor ", r" \right\rfloor"),
    "ceil": (r"\left\lceil ", r" \right\rceil"),
    "abs": (r"\left| ", r" \right|"),
    "tuple": _BRACKETS,
    "min": (r"\min\left(", r"\right)"),
    "max": (r"\max\left(", r"\right)"),
    "gcd": (r"\gcd\left(", r"\right)"),
}


def _latex_words(text: str) -> str:
    return printable(text).translate(_LATEX_ESCAPES)


def _latex_piece(term: Term, parts: tuple[Piece, ...]) -> Piece:
    match term:
        case Apply(op, _):
            return _latex_apply(op, parts)
        case Conditional():
            return _latex_cases(*parts)
        case Opaque(name, _) if parts:
            return _latex_call(name.removesuffix("()"), parts)
        case Constant(value):
            return _latex_constant(value)
        case Symbol(name) | Opaque(name, _):
            return Piece(rf"\mathrm{{{_latex_words(name)}}}")
        case _:
            return Piece(rf"\text{{{_latex_words(text_leaf(term).text)}}}")


def _latex_cases(guard: Piece, then: Piece, otherwise: Piece) -> Piece:
    rows = rf"{then.text} & \text{{if }} {guard.guard.text} \\ "
    rows += otherwise.rows or rf"{otherwise.text} & \text{{otherwise}}"
    return Piece(rf"\begin{{cases}}{rows}\end{{cases}}", OPEN, rows)


def _latex_call(name: str, parts: tuple[Piece, ...]) -> Piece:
    return Piece(rf"\operatorname{{{_latex_words(name)}}}\left({_listed(parts)}\right)")


def _latex_constant(value: Scalar) -> Piece:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Piece(rf"\text{{{_latex_words(repr(value))}}}")
    if value in SCALES:
        return Piece(f"2^{{{SCALES[int(value)]}}}", OPERATORS["**"].precedence)
    mantissa, _, exponent = repr(value).partition("e")
    if exponent:
        return Piece(rf"{mantissa} \cdot 10^{{{int(exponent)}}}", OPERATORS["*"].precedence)
    return Piece(mantissa, OPERATORS["neg"].precedence if mantissa.startswith("-") else CLOSED)


def _latex_apply(op: str, parts: tuple[Piece, ...]) -> Piece:
    precedence = OPERATORS[op].precedence
    if op == "/":
        return Piece(rf"\frac{{{parts[0].text}}}{{{parts[1].text}}}")
    if op == "//":
        return Piece(rf"\left\lfloor \frac{{{parts[0].text}}}{{{parts[1].text}}} \right\rfloor")
    if op == "**":
        return Piece(f"{{{parts[0].within(precedence + 1, _BRACKETS)}}}^{{{parts[1].text}}}", precedence)
    if op == "item":
        return Piece(rf"{parts[0].within(CLOSED, _BRACKETS)}\left[{parts[1].text}\right]")
    if op in _LATEX_AROUND:
        left, right = _LATEX_AROUND[op]
        return Piece(f"{left}{_listed(parts)}{right}")
    if op == "bool":
        return replace(_latex_call(op, parts), tested=parts[0])
    if not precedence:
        return _latex_call(op, parts)
    if len(parts) == 1:
        sign = "-" if op == "neg" else r"\lnot "
        return Piece(sign + operand(op, parts[0]).within(precedence, _BRACKETS), precedence)
    infix = f" {_LATEX_INFIX.get(op, op)} "
    return Piece(infix.join(operands(op, precedence, parts, _BRACKETS)), precedence)
