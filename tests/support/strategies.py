"""Random terms and points over the symbols of the small rule set."""

from __future__ import annotations

from hypothesis import strategies as st

from analyzer.domain.build import apply, conditional
from analyzer.domain.terms import Term, constant, raising, symbol

_NUMBERS = st.sampled_from(["a", "b", "n", "m", "x", "y", "z"]).map(symbol)
_CONSTANTS = st.sampled_from([0, 1, 2, 3, -1, 7, 0.5, 0.85, 1024]).map(constant)
_LEAVES = st.one_of(_NUMBERS, _NUMBERS, _CONSTANTS)


def _binary(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    operators = st.sampled_from(["+", "-", "*", "//", "/", "%", "min", "max", "+", "*"])
    return st.builds(apply, operators, children, children)


def _unary(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    operators = st.sampled_from(["int", "neg", "abs", "floor", "ceil", "float", "round"])
    return st.builds(apply, operators, children)


def _guards(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    comparisons = st.builds(
        apply,
        st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
        children,
        children,
    )
    simple = st.one_of(st.sampled_from(["p", "q"]).map(symbol), comparisons)
    pairs = st.builds(apply, st.sampled_from(["and", "or"]), simple, simple)
    return st.one_of(simple, pairs, simple.map(lambda guard: apply("not", guard)))


def _conditionals(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    branches = st.one_of(children, children, children, st.just(raising("ValueError")))
    return st.builds(conditional, _guards(children), children, branches)


def terms(max_leaves: int = 14) -> st.SearchStrategy[Term]:
    """Numbers made of the operators that formulas use."""
    return st.recursive(
        _LEAVES,
        lambda children: st.one_of(_binary(children), _binary(children), _unary(children), _conditionals(children)),
        max_leaves=max_leaves,
    )


def points() -> st.SearchStrategy[dict[str, object]]:
    """Values for every symbol, inside its declared domain."""
    whole, positive = st.integers(-50, 50), st.integers(1, 50)
    real = st.integers(-200, 200).map(lambda value: value / 4)
    return st.fixed_dictionaries(
        {
            "a": whole,
            "b": whole,
            "n": positive,
            "m": positive,
            "x": real,
            "y": real,
            "z": real.map(abs),
            "p": st.booleans(),
            "q": st.booleans(),
        }
    )
