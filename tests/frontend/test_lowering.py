"""Lowering: each construct of the language, and where it stands."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Any

import pytest

from analyzer.domain import syntax as ir
from analyzer.domain.errors import SourceSyntaxError
from analyzer.frontend.lower import lower_expression, lower_function, lower_statements

A, B, C = ir.Name("a"), ir.Name("b"), ir.Name("c")


def lower(text: str) -> tuple[ir.Stmt, ...]:
    """The statements of a snippet."""
    return lower_statements(dedent(text).strip() + "\n")


def refusal(text: str) -> str:
    """The error that a snippet is refused with, "" when it is lowered."""
    try:
        lower_statements(text)
    except SourceSyntaxError as error:
        return str(error)
    return ""


def one(text: str) -> Any:
    """The only statement of a snippet."""
    (statement,) = lower(text)
    return statement


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("a", A),
        ("1 << 30", ir.Binary("<<", ir.Literal(1), ir.Literal(30))),
        ("1_000.5", ir.Literal(1000.5)),
        ("0x10", ir.Literal(16)),
        ("None", ir.Literal(None)),
        ("'a' \"b\"", ir.Literal("ab")),
        ("a.b", ir.Attribute(A, "b")),
        ("a[0]", ir.Subscript(A, ir.Literal(0))),
        ("a[1:b]", ir.Subscript(A, ir.Slice(ir.Literal(1), B, None))),
        ("a[b, c]", ir.Subscript(A, ir.Sequence("tuple", (B, C)))),
        ("a * b // c", ir.Binary("//", ir.Binary("*", A, B), C)),
        ("a ** b ** c", ir.Binary("**", A, ir.Binary("**", B, C))),
        ("-a ** b", ir.Unary("-", ir.Binary("**", A, B))),
        ("a - (b - c)", ir.Binary("-", A, ir.Binary("-", B, C))),
        ("not a == b", ir.Unary("not", ir.Comparison(A, (("==", B),)))),
        ("a < b <= c", ir.Comparison(A, (("<", B), ("<=", C)))),
        ("a not in b", ir.Comparison(A, (("not in", B),))),
        ("a is not None", ir.Comparison(A, (("is not", ir.Literal(None)),))),
        ("a and b or c", ir.Boolean("or", ir.Boolean("and", A, B), C)),
        ("a if b else c", ir.IfExpression(B, A, C)),
        ("(x := a)", ir.Walrus("x", A)),
        ("(a, b)", ir.Sequence("tuple", (A, B))),
        ("[a, *b]", ir.Sequence("list", (A, ir.Starred(B)))),
        ("{a, b}", ir.Sequence("set", (A, B))),
        ("{a: b, **c}", ir.Mapping(((A, B), (None, C)))),
        ("{}", ir.Mapping(())),
        ("()", ir.Sequence("tuple", ())),
        ("f'{a} of {{' 'x'", ir.FormattedString((A, ir.Literal(" of {"), ir.Literal("x")), is_plain=True)),
        ("f'{b!r:>5}'", ir.FormattedString((B, ir.Literal("!r:>5")), is_plain=False)),
        ("(yield a)", ir.Yield(A, delegates=False)),
        ("(yield from a)", ir.Yield(A, delegates=True)),
        ("a @ b", None),
        ("~a", ir.Unary("~", A)),
    ],
)
def test_expressions(text: str, node: ir.Expr | None) -> None:
    found = lower_expression(text)
    assert found == node if node is not None else isinstance(found, ir.Unsupported)


def test_calls() -> None:
    assert lower_expression("a(b, *c, k=1, **b)") == ir.Call(
        A, (ir.Argument(B), ir.Argument(C, star="*"), ir.Argument(ir.Literal(1), "k"), ir.Argument(B, star="**"))
    )


def test_comprehensions() -> None:
    found = lower_expression("[a + x for x in b if x > 1 if c for y in x]")
    assert isinstance(found, ir.Comprehension)
    assert [(len(clause.conditions), clause.target) for clause in found.clauses] == [
        (2, ir.Name("x")),
        (0, ir.Name("y")),
    ]
    kinds = {"{x for x in a}": "set", "{x: 1 for x in a}": "dict", "(x for x in a)": "generator"}
    assert [lower_expression(text).kind for text in kinds] == list(kinds.values())  # type: ignore[union-attr]  # comprehensions


def test_lambdas_keep_their_parameters() -> None:
    found = lower_expression("lambda x, *rest, y=1, **more: x")
    assert isinstance(found, ir.Lambda)
    assert [(p.name, p.kind) for p in found.parameters] == [
        ("x", "positional"),
        ("rest", "*"),
        ("y", "keyword"),
        ("more", "**"),
    ]


@pytest.mark.parametrize("text", ["await a", "b'bytes'", "...", "1j"])
def test_an_unknown_expression_is_kept_as_text(text: str) -> None:
    found = one(f"x = {text}").value
    assert isinstance(found, ir.Unsupported)
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a = b = c", ir.Assign),
        ("a: int = 1", ir.Assign),
        ("a.b //= 2", ir.Augment),
        ("return", ir.Return),
        ("raise ValueError('x') from a", ir.RaiseStatement),
        ("assert a, 'why'", ir.Assert),
        ("import a.b as c", ir.ImportStatement),
        ("from . import a", ir.ImportStatement),
        ("global a, b", ir.GlobalStatement),
        ("a()", ir.Evaluate),
        ("pass", ir.Jump),
        ("del a", ir.Delete),
        ("class A: pass", ir.UnsupportedStatement),
        ("while a: b()", ir.While),
        ("for a, b in c: pass", ir.For),
        ("with a as b, c: pass", ir.With),
        ("def f(): pass", ir.FunctionStatement),
        ("async def f(): await a", ir.FunctionStatement),
    ],
)
def test_statements(text: str, kind: type) -> None:
    assert isinstance(one(text), kind)


@pytest.mark.parametrize(
    "pattern",
    ["{'k': 1}", "[1, *c]", "(1, c)", "b.C(1)", "int(c, d)", "(1 as c) | (2 as c)", "int(c) if [c for d in b]"],
)
def test_a_match_without_a_condition_is_unsupported_and_keeps_its_text(pattern: str) -> None:
    found = one(f"match a:\n    case {pattern}:\n        b = 1\n    case _:\n        b = 2")
    assert isinstance(found, ir.UnsupportedStatement)
    assert found.reason == "Match"
    assert f"case {pattern}:" in found.text


@pytest.mark.parametrize(("match", "same"), [
    ("match a:\n  case 1: b()\n  case _: c()", "if a == 1: b()\nelse: c()"),
    ("match a:\n  case None | 'x': b()", "if a is None or a == 'x': b()"),
    ("match a:\n  case b.C: b()\n  case c: c()", "if a == b.C: b()\nelse:\n  c = a\n  c()"),
    ("match a:\n  case C(x=1, y=None): b()", "if isinstance(a, C) and a.x == 1 and a.y is None: b()"),
    ("match a:\n  case int(c): b()", "if isinstance(a, int):\n  c = a\n  b()"),
    ("match a:\n  case 1 if b: b()\n  case 2: c()", "if a == 1 and b: b()\nelif a == 2: c()"),
    ("match a:\n  case c if c > 1: b()\n  case _: c()", "c = a\nif c > 1: b()\nelse: c()"),
    ("match a:\n  case int(c) if c > 1: b()", "if isinstance(a, int) and a > 1:\n  c = a\n  b()"),
    ("match a:\n  case 1 as c: b()", "if a == 1:\n  c = a\n  b()"),
])  # fmt: skip  # a table
def test_a_match_is_the_ifs_that_it_spells_out(match: str, same: str) -> None:
    assert lower_statements(match) == lower_statements(same)


def test_what_is_matched_is_evaluated_once() -> None:
    assigned, chosen = lower_statements("match f(a):\n  case 1: b()\n  case 2: c()")
    assert isinstance(assigned, ir.Assign)
    assert isinstance(assigned.value, ir.Call)
    assert repr(chosen).count("match subject") == 2
    assert "Name(id='f'" not in repr(chosen)


def test_assignments() -> None:
    assert one("a = b = c").targets == (A, B)
    assert one("a.x, b = c").targets == (ir.Sequence("tuple", (ir.Attribute(A, "x"), B)),)
    assert one("a: 'Optional[int]' = 1").annotation == "'Optional[int]'"
    assert [one(f"a {op}= b").op for op in ("+", "//", "**", "<<", "%")] == ["+", "//", "**", "<<", "%"]


def test_an_elif_is_an_if_in_the_else() -> None:
    found = one("if a:\n    pass\nelif b:\n    c()\nelse:\n    a()")
    assert isinstance(found.orelse[0], ir.If)
    assert found.orelse[0].orelse == (ir.Evaluate(ir.Call(A, ())),)


def test_try_keeps_every_part() -> None:
    found = one("try:\n    a()\nexcept (X, Y) as e:\n    b()\nexcept:\n    c()\nelse:\n    a()\nfinally:\n    b()")
    assert [(h.exception is None, h.name) for h in found.handlers] == [(False, "e"), (True, None)]
    assert (len(found.body), len(found.orelse), len(found.finalbody)) == (1, 1, 1)


def test_loops_keep_their_else() -> None:
    assert one("for a in b:\n    break\nelse:\n    c()").orelse == (ir.Evaluate(ir.Call(C, ())),)
    assert one("while a:\n    continue\nelse:\n    c()").orelse == (ir.Evaluate(ir.Call(C, ())),)


def test_nested_functions_keep_parameters_and_decorators() -> None:
    found = one("@cached\ndef f(a, /, b: int = 2, *, c=None) -> int:\n    return a")
    assert found.decorators == (ir.Name("cached"),)
    assert [(p.name, p.kind, p.annotation) for p in found.parameters] == [
        ("a", "positional", None),
        ("b", "positional", "int"),
        ("c", "keyword", None),
    ]


PLACED = """
def f(
    a,
    b=1,
):
    '''Text.

    More text.
    '''

    x = (
        a  # a comment
        + b
    )
    if x: y = 1; z = 2
    # comments do not count
    with open(a) as g, \\
            open(b):
        return (
            x
        )
    try:
        del x
    except E:
        raise
    else:
        pass
    finally:
        x = \\
            2

    def inner():

        return 1
    for i in a:
        continue
    else:
        assert a
    while a: break
"""


def _walk(body: tuple[Any, ...]) -> list[Any]:
    """Every statement below `body`, in source order."""
    found = []
    for node in body:
        found.append(node)
        for part in ("body", "handlers", "orelse", "finalbody"):
            for child in getattr(node, part, ()):
                found += _walk(child.body if isinstance(child, ir.Handler) else (child,))
    return found


def test_positions_are_those_of_the_parser() -> None:
    text = PLACED.lstrip()
    tree = ast.parse(text)
    wanted = sorted(
        (node.lineno - 1, (node.end_lineno or 0) - 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node is not tree.body[0]
    )
    found = sorted((node.line, node.end_line) for node in _walk(lower_function(text).body))
    assert found == wanted


def test_expressions_stand_on_the_line_of_their_statement() -> None:
    body = lower_function("def f():\n    x = (a +\n         b)\n").body
    assert body[0].value.line == 1  # type: ignore[union-attr]  # an assignment


def test_text_at_another_place_is_the_same_syntax() -> None:
    assert lower("a = b\nif a:\n    c()") == lower("\n# moved\na = b  # here\n\nif (a):\n\n    c()")
    assert lower("a = b + 1") != lower("a = b + 2")
    assert lower("a = 1") == lower("a = 1")
    assert lower_expression("1.0") == lower_expression("1.")


@pytest.mark.parametrize("text", ["1", "True", "1.0"])
def test_literals_of_different_types_are_different_syntax(text: str) -> None:
    others = {"1", "True", "1.0"} - {text}
    assert all(
        type(lower_expression(other).value) is not type(lower_expression(text).value)  # type: ignore[union-attr]  # literals
        for other in others
    )


def test_one_snippet_is_lowered_once() -> None:
    assert lower_statements("a = 1\n") is lower_statements("a = 1\n")


@pytest.mark.parametrize("text", ["x = (", "def f(:\n  pass\n", "  x = 1\n y = 2\n"])
def test_text_that_does_not_parse_is_one_clear_line(text: str) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        lower_statements(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["(" * 500 + "1" + ")" * 500, "[" * 180 + "]" * 180, "+".join(["1"] * 1200), "-" * 1200 + "1", "a" + ".b" * 1200],
    ids=["parentheses", "lists", "sum", "signs", "attributes"],
)
def test_deep_expressions_are_lowered_or_refused(text: str) -> None:
    assert "\n" not in refusal(f"x = {text}\n")


def test_deep_blocks_are_lowered_or_refused() -> None:
    text = "".join(f"{' ' * depth}if a:\n" for depth in range(300)) + " " * 300 + "b = 1\n"
    assert "\n" not in refusal(text)
