"""The statement and expression language that source files are lowered to.

Lines are relative to the first line of the definition (0-based) and never compared, so the
same text at another place is the same syntax. What cannot be lowered is `Unsupported`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from analyzer.domain.terms import Scalar


def _line() -> int:
    return field(default=0, compare=False)


# Methods that change which elements their container holds, or their order.
CONTAINER_CHANGES = frozenset({
    "append", "add", "extend", "update", "insert", "remove", "pop", "popitem", "clear", "discard", "setdefault",
    "sort", "reverse",
})  # fmt: skip  # one name a line would hide the list
# Of these, those that are called for what they return as well.
TAKING = frozenset({"pop", "popitem", "setdefault"})
# Methods and functions that change what they are given.
CHANGES = CONTAINER_CHANGES | {"setattr", "__setattr__", "delattr", "__delattr__", "all_reduce"}


@dataclass(frozen=True, slots=True)
class Literal:
    """A scalar literal; implicit string concatenation is already joined."""

    value: Scalar
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Name:
    id: str
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Attribute:
    value: Expr
    attr: str
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Subscript:
    value: Expr
    index: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Slice:
    lower: Expr | None
    upper: Expr | None
    step: Expr | None
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call; `star` is ``""``, ``"*"`` or ``"**"``."""

    value: Expr
    keyword: str | None = None
    star: str = ""
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Call:
    func: Expr
    args: tuple[Argument, ...]
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: Expr
    right: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is ``not``, ``-``, ``+`` or ``~``."""

    op: str
    operand: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Boolean:
    """`op` is ``and`` or ``or``."""

    op: str
    left: Expr
    right: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Expr
    rest: tuple[tuple[str, Expr], ...]
    line: int = _line()


@dataclass(frozen=True, slots=True)
class IfExpression:
    test: Expr
    then: Expr
    otherwise: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Lambda:
    parameters: tuple[Parameter, ...]
    body: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list, tuple or set display; `kind` names which."""

    kind: str
    items: tuple[Expr, ...]
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Starred:
    value: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict display; a None key marks a ``**`` entry."""

    items: tuple[tuple[Expr | None, Expr], ...]
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Clause:
    """One ``for target in iterable if ...`` of a comprehension."""

    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`kind` is ``list``, ``set``, ``generator`` or ``dict``; `value` only for dict."""

    kind: str
    element: Expr
    value: Expr | None
    clauses: tuple[Clause, ...]
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Walrus:
    target: str
    value: Expr
    line: int = _line()


@dataclass(frozen=True, slots=True)
class FormattedString:
    """An f-string: literal text and interpolated expressions in order, and whether none has a format of its own."""

    parts: tuple[Expr, ...]
    is_plain: bool
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Yield:
    """What a generator hands out; with `delegates`, each element of the value (``yield from``)."""

    value: Expr | None
    delegates: bool
    line: int = _line()


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What the lowering does not know, with why and the source text."""

    reason: str
    text: str
    line: int = _line()


Expr = Union[
    Literal,
    Name,
    Attribute,
    Subscript,
    Slice,
    Call,
    Binary,
    Unary,
    Boolean,
    Comparison,
    IfExpression,
    Lambda,
    Sequence,
    Starred,
    Mapping,
    Comprehension,
    Walrus,
    FormattedString,
    Yield,
    Unsupported,
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter; `kind` is ``positional``, ``keyword``, ``*`` or ``**``."""

    name: str
    kind: str
    annotation: str | None
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Assign:
    targets: tuple[Expr, ...]
    value: Expr
    annotation: str | None = None
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Augment:
    target: Expr
    op: str
    value: Expr
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Delete:
    targets: tuple[Expr, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class If:
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class RaiseStatement:
    exception: Expr | None
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Assert:
    test: Expr
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class For:
    target: Expr
    iterable: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class While:
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Handler:
    """An except clause; `exception` is None for a bare one."""

    exception: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Try:
    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Stmt, ...]
    finalbody: tuple[Stmt, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class With:
    items: tuple[tuple[Expr, Expr | None], ...]
    body: tuple[Stmt, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression statement."""

    value: Expr
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class ImportStatement:
    """An import inside a function."""

    bindings: tuple[ImportBinding, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class FunctionStatement:
    """A nested function."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class GlobalStatement:
    names: tuple[str, ...]
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class Jump:
    """`kind` is ``pass``, ``break`` or ``continue``."""

    kind: str
    line: int = _line()
    end_line: int = _line()


@dataclass(frozen=True, slots=True)
class UnsupportedStatement:
    """A statement that is not lowered; `binds` are the names it assigns, `leaves` whether it may return."""

    reason: str
    text: str
    binds: tuple[str, ...] = ()
    leaves: bool = False
    line: int = _line()
    end_line: int = _line()


Stmt = Union[
    Assign,
    Augment,
    Delete,
    If,
    Return,
    RaiseStatement,
    Assert,
    For,
    While,
    Try,
    With,
    Evaluate,
    ImportStatement,
    FunctionStatement,
    GlobalStatement,
    Jump,
    UnsupportedStatement,
]


@dataclass(frozen=True, slots=True)
class ImportBinding:
    """`name` is bound to module `module`, or to its member `member` when that is not None."""

    name: str
    module: str
    member: str | None


@dataclass(frozen=True, slots=True)
class FunctionSyntax:
    """A lowered function or method; the same text anywhere gives an equal value."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]
