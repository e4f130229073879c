"""The solver: what it proves, what it finds an example against, and that it never proves what does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.compare import solver
from analyzer.compare.ladder import Judge
from analyzer.compare.solver import solve
from analyzer.domain.report import Kind
from analyzer.domain.semantics import Evaluator, MissingInputError, RaisedError
from analyzer.domain.terms import Opaque, Symbol, Term
from tests.support.strategies import points, terms
from tests.support.terms import parse, rule_set

_SYMBOLS: Final = rule_set().symbols
_BUDGET = "int(available_gpu_memory * (1 << 30) // cell_size)"

_EQUAL = [
    ("n // m if p else n", "n // m if p and m != 1 else n"),
    ("n // m * m + n % m", "n"),
    ("max(0, int(x / 3))", "max(0, x // 3)"),
    ("n * (n + 1) % 2", "0"),
    ("(a + b) // 2 * 2", "a + b - (a + b) % 2"),
    (
        f"{_BUDGET} // page_size * page_size",
        "int(available_gpu_memory * 2 ** 30 // (cell_size * page_size)) * page_size",
    ),
    (
        "n if max_total_tokens is None or max_total_tokens > n else max_total_tokens",
        "min(n, max_total_tokens) if max_total_tokens is not None else n",
    ),
    ("n // a", "raises('E') if a == 0 else n // a"),
    ("raises('A') if n <= 0 else n", "n"),
    ("a if unknown not in ('x', 'y') else b", "b if unknown == 'x' or unknown == 'y' else a"),
    ("f(n) + a", "a + f(n)"),
]

_DIFFERENT = [
    ("int(x / 3)", "x // 3"),
    ("(n + m) // 7", "n // 7 + m // 7"),
    ("n // a", "n // a if a != 0 else 0"),
    ("n if p or q else m", "n if p and q else m"),
    ("n if max_total_tokens is None else max_total_tokens", "n if not max_total_tokens else n"),
    ("a % n", "a - n * int(a / n)"),
    ("a if device == 'cuda' or device == 'hip' else b", "a if device == 'cuda' else b"),
]

_OPEN = [
    ("f(n)", "g(n)"),
    ("n if unknown else m", "n if other else m"),
    ("n if unknown == 1 else m", "n if unknown is True else m"),
]


def _worth(term: Term, point: Mapping[str, Any]) -> Any:
    def lookup(leaf: Symbol | Opaque) -> Any:
        return point.get(leaf.name)

    try:
        return Evaluator(exact=True).value(term, lookup)
    except RaisedError:
        return RaisedError
    except (MissingInputError, OverflowError):
        return MissingInputError


@pytest.mark.parametrize(("old", "new"), _EQUAL)
def test_what_is_equal_for_all_inputs_is_proven(old: str, new: str) -> None:
    answer = solve(parse(old), parse(new), _SYMBOLS)
    assert answer is not None
    assert answer.equal


@pytest.mark.parametrize(("old", "new"), _DIFFERENT)
def test_an_example_is_one(old: str, new: str) -> None:
    before, after = parse(old), parse(new)
    answer = solve(before, after, _SYMBOLS)
    assert answer is not None
    assert not answer.equal
    assert _worth(before, answer.inputs) != _worth(after, answer.inputs)


@pytest.mark.parametrize(("old", "new"), _OPEN)
def test_what_hangs_on_unknowns_is_not_proven(old: str, new: str) -> None:
    answer = solve(parse(old), parse(new), _SYMBOLS)
    assert answer is None or not answer.equal


@settings(max_examples=120, deadline=None)
@given(terms(6), terms(6), st.lists(points(), min_size=30, max_size=30))
def test_what_is_proven_holds_everywhere(before: Term, after: Term, tried: list[dict[str, object]]) -> None:
    answer = solve(before, after, _SYMBOLS)
    if answer is not None and answer.equal:
        assert [_worth(before, point) for point in tried] == [_worth(after, point) for point in tried]


@pytest.mark.parametrize(
    "text", [" + ".join(f"v{number}" for number in range(600)), "*".join(["n"] * 40)], ids=["size", "degree"]
)
def test_a_formula_that_is_too_large_stays_open(text: str) -> None:
    assert solve(parse(text), parse("n"), _SYMBOLS) is None


def test_the_ladder_does_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = parse("n // tp_size if p else n"), parse("n // tp_size if p and tp_size != 1 else n")
    assert Judge(_SYMBOLS).judge(before, after, "1", {}).kind is Kind.REFACTOR
    monkeypatch.setattr(solver, "is_installed", lambda: False)
    assert Judge(_SYMBOLS).judge(before, after, "1", {}).kind is Kind.UNDECIDED
