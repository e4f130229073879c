"""Pairs of formulas and how they relate: one row per rung of the ladder and per trap beside it."""

from __future__ import annotations

import pytest

from tests.support.comparing import compare_extractions
from tests.support.terms import extraction, rule_set

_RULES = rule_set()
_REST = "(available_gpu_memory - pre_model_load_memory * (1 - mem_fraction_static))"
_TOKENS = f"int({_REST} * (1 << 30) // cell_size)"
_PAGES = "n // page_size * page_size"
_CELL = "num_kv_heads * head_dim * num_layers * 2 * kv_element_size"


def _kind(old: str, new: str) -> str:
    base, head = (extraction({"max_total_num_tokens": text}) for text in (old, new))
    found = compare_extractions(base, head, _RULES, scenarios=("mha",), quantities=("max_total_num_tokens",))
    return found.verdict.label


# How releases 0.5.9 and 0.5.11 count tokens: pages, the user's limit and all ranks, in two orders.
_COUNTED = "n if max_total_tokens is None else min(n, max_total_tokens)"
_AGREED = f"(rank_min(({_COUNTED}) // page_size * page_size) if tp_size > 1 else ({_COUNTED}) // page_size * page_size)"
_LIMITED = f"({_PAGES} if max_total_tokens is None else min({_PAGES}, max_total_tokens))"
_SIZED_AGAIN = f"(rank_min({_LIMITED}) if tp_size > 1 else {_LIMITED})"
_RESIZED = f"{_SIZED_AGAIN} // page_size * page_size"
_RAISES_ONCE = f"raises('E') if {_AGREED} <= 0 else {_AGREED}"
_RAISES_TWICE = (
    f"raises('E') if {_PAGES} <= 0 else ({_PAGES} if {_SIZED_AGAIN} == {_PAGES} "
    f"else (raises('E') if {_RESIZED} <= 0 else {_RESIZED}))"
)

_EQUAL = [
    ("a + b", "b + a"),
    ("(a + b) * n", "a * n + n * b"),
    ("a * 0.85", "a * 17 / 20"),
    ("a - (b - n)", "a - b + n"),
    ("n / m / 2", "n / (m * 2)"),
    ("(n + m) * 3 / (n + m)", "3 * (m / m)"),
    ("n * 1024 * 1024", "n << 20"),
    (_TOKENS, f"int({_REST} * 1024 ** 3 // cell_size)"),
    (_REST, "available_gpu_memory - pre_model_load_memory + pre_model_load_memory * mem_fraction_static"),
    (f"raises('E') if {_TOKENS} <= 0 else {_TOKENS}", f"{_TOKENS} if not 0 >= {_TOKENS} else raises('E')"),
    # int() goes towards zero and // down, which differ below zero only: both raise there.
    (
        f"raises('A') if {_TOKENS} <= 0 else {_TOKENS}",
        f"raises('B') if int({_REST} * (1 << 30)) // cell_size < 1 else int({_REST} * (1 << 30)) // cell_size",
    ),
    ("n // m // 3", "n // (m * 3)"),
    ("(n // m + 1) // 2", "(n + m) // m // 2"),
    ("n - n % m", "n // m * m"),
    ("min(a, min(b, n))", "min(n, a, b, a)"),
    ("max(a, b)", "-min(-a, -b)"),
    ("max(a, b)", "a if a > b else b"),
    ("b if a > b else a", "min(a, b)"),
    ("2 * min(a, b) + n", "min(2 * a + n, 2 * b + n)"),
    ("min(n, m) / m", "min(n / m, 1)"),
    (f"{_PAGES} if {_PAGES} <= m else min({_PAGES}, m) // page_size * page_size", "min(n, m) // page_size * page_size"),
    (f"{_PAGES} if min(m, {_PAGES}) == {_PAGES} else m // page_size * page_size", "min(n, m) // page_size * page_size"),
    ("min(max(n, 5), 100)", "max(min(n, 100), 5)"),
    ("max(1, n // m)", "n // m if n // m > 0 else 1"),
    ("a if p else b", "b if not p else a"),
    ("(a if p else b) * n", "a * n if p else b * n"),
    ("a if p and q else b", "(a if q else b) if p else b"),
    ("(a if q else b) if p else (a if q else b)", "a if q else b"),
    ("(a if q else b) if p else (n if q else m)", "(a if p else n) if q else (b if p else m)"),
    ("a if n > 5 else b", "b if n <= 5 else a"),
    ("a if n > 5 else b", "a if n >= 6 else b"),
    ("a if 2 * n > 5 else b", "a if n >= 3 else b"),
    ("a if n > 8 else (b if n > 4 else m)", "m if n <= 4 else (a if n > 8 else b)"),
    ("(a if n > 4 else m) if n > 8 else b", "a if n > 8 else b"),
    (
        "a if device == 'hip' else (b if device == 'cpu' else n)",
        "b if device == 'cpu' else (a if device == 'hip' else n)",
    ),
    ("a if 'Llama' in name else b if name == 'Gemma' else n", "b if name == 'Gemma' else a if 'Llama' in name else n"),
    (
        "a if name == 'Llama4' else b if 'Llama' in name else n",
        "b if 'Llama' in name and name != 'Llama4' else a if 'Llama' in name else n",
    ),
    ("n if gpu_mem is None else gpu_mem", "gpu_mem if gpu_mem is not None else n"),
    ("n if gpu_mem is None else m", "m if gpu_mem else n"),
    (
        f"{_TOKENS} if max_total_tokens is None else min({_TOKENS}, max_total_tokens)",
        f"max_total_tokens if max_total_tokens is not None and max_total_tokens < {_TOKENS} else {_TOKENS}",
    ),
    ("f(n * 2) + 1", "1 + f(n + n)"),
    ("a if f(n) else b", "b if not f(n) else a"),
    ("float(n) * 2", "2 * n"),
    ("abs(n)", "n"),
    ("raises('A') if p else a", "raises('B') if p else a"),
    ("n if m + a == n + b else m + a - b", "m + a - b"),
    ("b if f(n) == b else f(n)", "f(n)"),
    ("rank_min(n // page_size * page_size)", "rank_min(n) // page_size * page_size"),
    ("rank_min(min(n, max_total_tokens))", "min(rank_min(n), max_total_tokens)"),
    ("rank_min(n if page_size > 1 else m)", "rank_min(n) if page_size > 1 else rank_min(m)"),
    ("min(n * 2, rank_min(n * 2))", "rank_min(n) * 2"),
    ("rank_min(max(a, page_size))", "max(rank_min(a), page_size)"),
    ("rank_min(page_size * 2)", "page_size + page_size"),
    (_RAISES_ONCE, _RAISES_TWICE),
]

_DIFFERENT = [
    (_TOKENS, _TOKENS.replace("1 - mem", "1 + mem")),
    (_TOKENS, _TOKENS.replace("available_gpu_memory -", "available_gpu_memory +")),
    (_TOKENS, _TOKENS.replace("1 << 30", "1 << 20")),
    (_TOKENS, f"min({_TOKENS}, max_total_tokens) if max_total_tokens is not None else {_TOKENS}"),
    (_CELL, _CELL.replace("* 2", "* 3")),
    (_CELL, "num_kv_heads * (head_dim + v_head_dim) * num_layers * kv_element_size"),
    ("max(1, n // m)", "n // m"),
    ("n // m", "m // n"),
    ("min(n, 4096)", "min(n, 4)"),
    ("a if n > 5 else b", "a if n >= 5 else b"),
    ("a if p else b", "b if p else a"),
    (
        "a if 'Llama' in name else b if name == 'Llama4' else n",
        "b if name == 'Llama4' else a if 'Llama' in name else n",
    ),
    ("a", "b if 'Gemma' in item(names, 0) else a"),
    ("a if p and q else b", "a if p or q else b"),
    ("n if gpu_mem is None else m", "m if gpu_mem is None else n"),
    (f"raises('E') if {_TOKENS} <= 0 else {_TOKENS}", f"raises('E') if {_TOKENS} < 0 else {_TOKENS}"),
    (f"raises('E') if {_TOKENS} <= 0 else {_TOKENS}", _TOKENS),
    ("a if 35 * 1024 < n * 1024 else b", "a if 35 * 1024 <= n * 1024 else b"),
    ("int(context_len / 3) + 1 if context_len > 8192 else 0", "int(context_len / 3) + 1 if context_len > 8191 else 0"),
    ("f(n) + 1", "f(n) + 2"),
    ("f(n) * 0 + 1 if p else a", "a"),
    ("a if a == b else n", "n"),
    ("a + 1 if a == b else b", "b"),
    ("5000 if context_len % 9973 == 1234 else n", "n"),
    # Another rank may have less.
    ("rank_min(n) if tp_size > 1 else n", "n"),
    ("rank_min(n // m) if tp_size > 1 else n // m", "rank_min(n // m) if tp_size > 2 else n // m"),
    ("max(n, rank_min(n))", "rank_min(n)"),
    (_RAISES_ONCE, _RAISES_TWICE.replace(f"{_RESIZED} <= 0", f"{_RESIZED} <= page_size")),
    (_RAISES_ONCE, _RAISES_TWICE.replace(f"{_PAGES} <= 0", f"{_PAGES} <= 64")),
]

_ROUNDED = [
    ("n // m", "n / m"),
    (_TOKENS, f"{_TOKENS} // page_size * page_size"),
    (_TOKENS, _TOKENS.replace("//", "/")),
    (f"int({_REST} * (1 << 30)) // cell_size", f"int({_REST} * (1 << 30) // cell_size)"),
    (f"int({_REST} * (1 << 30) / cell_size)", f"{_REST} * (1 << 30) / cell_size"),
    ("float32(available_gpu_memory * 1.1)", "available_gpu_memory * 1.1"),
]

_UNDECIDED = [
    ("n * f(m)", "n * g(m)"),
    ("n * f(m)", "n * f(m + 1)"),
    ("rank_min(available_gpu_memory)", "available_gpu_memory"),
    # Equal but for rounding where it has a value, which is nowhere.
    ("raises('E') if n * (n + 1) % 2 == 0 else n / m", "raises('E') if n * (n + 1) % 2 == 0 else n // m"),
    # What the ranks do not share may be least on another one.
    ("rank_min(n // m)", "rank_min(n) // m"),
    ("rank_min(n + m)", "rank_min(n) + rank_min(m)"),
    ("rank_min(-n)", "-rank_min(n)"),
    ("rank_min(n)", "min(n, rank_min(n))"),
    ("rank_min(n)", "max(rank_min(n), 1)"),
    ("rank_min(max(n, m))", "max(rank_min(n), rank_min(m))"),
    ("rank_min(page_size - n)", "page_size - rank_min(n)"),
    ("rank_min(n if m > 3 else a)", "rank_min(n) + 0 if m > 3 else rank_min(a)"),
]


@pytest.mark.parametrize(("old", "new"), _EQUAL)
def test_another_text_of_the_same_formula_is_a_refactor(old: str, new: str) -> None:
    # Some of these are folded to one term before they are compared.
    assert {_kind(old, new), _kind(new, old)} <= {"identical", "refactor"}


@pytest.mark.parametrize(("old", "new"), _DIFFERENT)
def test_another_result_for_some_input_is_semantic(old: str, new: str) -> None:
    assert (_kind(old, new), _kind(new, old)) == ("semantic", "semantic")


@pytest.mark.parametrize(("old", "new"), _ROUNDED)
def test_a_result_that_only_rounds_differently_is_rounding(old: str, new: str) -> None:
    assert (_kind(old, new), _kind(new, old)) == ("rounding", "rounding")


@pytest.mark.parametrize(("old", "new"), _UNDECIDED)
def test_what_hangs_on_unknown_functions_is_undecided(old: str, new: str) -> None:
    assert (_kind(old, new), _kind(new, old)) == ("undecided", "undecided")


@pytest.mark.parametrize("text", [_TOKENS, _CELL, "a if p else raises('E')", "n * f(m)"])
def test_a_formula_is_identical_to_itself(text: str) -> None:
    assert _kind(text, text) == "identical"
