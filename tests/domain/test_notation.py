"""Writing terms as text and LaTeX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.adapters.expressions import parse_expression
from analyzer.domain import build
from analyzer.domain.characters import printable
from analyzer.domain.notation import to_latex, to_text
from analyzer.domain.terms import (
    Term,
    atom,
    constant,
    opaque,
    raising,
    raw_apply,
    raw_conditional,
    symbol,
)

A, B, C = symbol("a"), symbol("b"), symbol("c")


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c",
        "(a + b) * c",
        "a - (b - c)",
        "a - b - c",
        "a // b // c",
        "a / (b / c)",
        "-a ** b",
        "(-a) ** b",
        "a ** -b",
        "a ** b ** c",
        "(a ** b) ** c",
        "(a < b) == c",
        "not (a and b) or c",
        "(a or b) and c",
        "not a",
        "-(a + b)",
        "a << 3 + b",
        "(a << 3) + b",
        "a if b else c",
        "a if b else b if c else 4",
        "(a if b else 1) + c",
        "min(a, b if c else 0)",
        "a is None",
        "a in b",
        "a.upper() == 'EAGLE'",
        "a[b][0]",
        "a * 2**30",
        "a / 1024.0",
        "a == torch.float16",
        "a != 'x'",
        "int(a) * rank_min(b)",
    ],
)
def test_text_reads_back_as_the_same_term(text: str) -> None:
    term = parse_expression(text)
    assert parse_expression(to_text(term)) is term
    assert to_text(term).replace(" ** ", "**") == text.replace(" ** ", "**")


def _terms() -> st.SearchStrategy[Term]:
    leaves: st.SearchStrategy[Term] = st.one_of(
        st.sampled_from([A, B, C, atom("torch.float16")]),
        st.integers(-5, 5).map(constant),
        st.sampled_from([1 << 30, 1 << 20, 0.5, -0.25, 1e-6, True, None, "x"]).map(constant),
    )

    def extend(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        binary = st.sampled_from(["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "=="])
        # Powers of inputs only: folding a tower of constants would take all memory there is.
        power = st.sampled_from(["**", "<<"])
        return st.one_of(
            st.builds(build.apply, binary, inner, inner),
            st.builds(lambda op, a, b: raw_apply(op, (build.apply("+", A, a), b)), power, inner, st.just(B)),
            st.builds(lambda a, b: build.apply("min", a, b), inner, inner),
            st.builds(lambda a: build.apply("neg", a), inner),
            st.builds(build.negate, inner),
            st.builds(build.conjunction, inner, inner),
            st.builds(build.disjunction, inner, inner),
            st.builds(build.conditional, inner, inner, inner),
        )

    return st.recursive(leaves, extend, max_leaves=12)


@given(_terms())
def test_any_term_reads_back_as_itself(term: Term) -> None:
    assert parse_expression(to_text(term)) is term


@given(_terms())
def test_latex_is_balanced(term: Term) -> None:
    latex = to_latex(term)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") - latex.count(r"\left\lfloor") == latex.count(r"\right") - latex.count(
        r"\right\rfloor"
    )


def test_raise_and_opaque() -> None:
    term = raw_conditional(symbol("ok"), opaque("probe()", (A,)), raising("RuntimeError"))
    assert to_text(term) == "probe(a) if ok else raises RuntimeError"
    assert to_text(opaque("envs.FLAG.get()")) == "envs.FLAG.get()"


def test_latex_forms() -> None:
    assert to_latex(parse_expression("(a_b + 1) // c")) == (
        r"\left\lfloor \frac{\mathrm{a\_b} + 1}{\mathrm{c}} \right\rfloor"
    )
    assert to_latex(parse_expression("max(a, 2**30)")) == r"\max\left(\mathrm{a}, 2^{30}\right)"
    assert to_latex(parse_expression("1 if a else 2 if b else 3")) == (
        r"\begin{cases}1 & \text{if } \mathrm{a} \\ 2 & \text{if } \mathrm{b} \\ 3 & \text{otherwise}\end{cases}"
    )


def _tower(height: int) -> Term:
    """A graph of `height` nodes whose tree has 2**height leaves."""
    term: Term = raw_apply("+", (A, B))
    for index in range(height):
        term = raw_apply("*", (term, raw_apply("+", (term, constant(index)))))
    return term


def test_shared_terms_are_named_past_the_limit() -> None:
    text = to_text(_tower(60))
    body, _, definitions = text.partition(" where ")
    assert "x60" not in body
    assert len(text) < 4_000
    assert definitions.startswith("x1 = ")
    assert to_latex(_tower(60)).startswith(r"\begin{aligned}")


def test_names_do_not_collide_with_inputs() -> None:
    term = raw_apply("+", (symbol("x1"), _tower(30)))
    assert "x1 = " not in to_text(term)


def test_long_chains_do_not_recurse() -> None:
    term: Term = A
    for index in range(20_000):
        term = raw_apply("+", (term, constant(index)))
    assert to_text(term).endswith("19999")
    assert to_latex(term).endswith("19999")


def test_hostile_names_are_escaped() -> None:
    assert to_text(symbol("a\x1b[31m\n")) == "a\\x1b[31m\\n"
    assert printable("x\u202ey") == "x\\u202ey"
    assert "\x1b" not in to_latex(opaque("\x1b{}", (constant("\x07"),)))
