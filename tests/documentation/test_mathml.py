"""Terms as MathML."""

from __future__ import annotations

import re

import html5lib
import pytest

from analyzer.adapters.expressions import parse_expression
from analyzer.domain.terms import constant, opaque, raw_apply, symbol
from analyzer.render.site.mathml import math


def _shown(text: str) -> str:
    """The tags of the mathematics of `text`, without rows that only group."""
    return re.sub(
        r"</?mrow>|<math[^>]*>|</math>| stretchy=\"true\"| separator=\"true\"", "", str(math(parse_expression(text)))
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a // b", "<mo>⌊</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>⌋</mo>"),
        ("a * (b + 1)", "<mi>a</mi><mo>·</mo><mo>(</mo><mi>b</mi><mo>+</mo><mn>1</mn><mo>)</mo>"),
        (
            "a - (b - c)",
            "<mi>a</mi><mo>\N{MINUS SIGN}</mo><mo>(</mo><mi>b</mi><mo>\N{MINUS SIGN}</mo><mi>c</mi><mo>)</mo>",
        ),
        ("a * 2**30", "<mi>a</mi><mo>·</mo><msup><mn>2</mn><mn>30</mn></msup>"),
        ("min(a, 1)", "<mi>min</mi><mo>(</mo><mi>a</mi><mo>,</mo><mn>1</mn><mo>)</mo>"),
        ("1e-07", "<mn>1</mn><mo>·</mo><msup><mn>10</mn><mn>-7</mn></msup>"),
    ],
)
def test_operators_look_like_mathematics(text: str, shown: str) -> None:
    assert _shown(text) == shown


def test_cases_have_a_row_each() -> None:
    text = str(math(parse_expression("1 if a else 2 if b else 3")))
    assert text.count("<mtr>") == 3


def test_a_long_sum_has_a_row_for_each_summand() -> None:
    text = " - ".join(f"a_rather_long_name_{number}" for number in range(5))
    shown = str(math(parse_expression(text), defines="total"))
    assert shown.count("<mtr>") == 5
    assert shown.startswith('<math display="block"><mtable class="lines"><mtr><mtd><mi>total</mi><mo>=</mo>')


@pytest.mark.parametrize("name", ["<script>", 'a"b', "a&b", "</math><h1>", "\u202ex"])
def test_names_are_escaped(name: str) -> None:
    for term in (symbol(name), opaque(name, (symbol("x"),))):
        text = str(math(term, defines=name))
        html5lib.HTMLParser(strict=True).parseFragment(text)
        assert "<script" not in text
        assert "<h1" not in text
        assert "\u202e" not in text


def test_a_comprehension_reads_as_one() -> None:
    element = opaque("each#0")
    clause = opaque("for", [element, symbol("layers"), symbol("wanted")])
    loop = opaque("each", [constant("list"), clause, raw_apply("+", [element, constant(1)])])
    text = re.sub(r"<[^>]+>", "", str(math(opaque("len", [loop])))).replace("&nbsp;", " ")
    assert text == "len([element+1 for element in layers if wanted])"
