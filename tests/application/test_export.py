"""A formula as a Python function computes what `eval` computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from analyzer.application.evaluate import evaluate_cases
from analyzer.application.export import export_function
from analyzer.application.show import show
from analyzer.domain.build import apply, compare, conditional
from analyzer.domain.evaluation import Case, Value
from analyzer.domain.extraction import Extraction
from analyzer.domain.iteration import EACH, FOR, loop_variable
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from analyzer.domain.terms import NONE, Term, constant, opaque, raising, symbol
from analyzer.render.page import Page
from analyzer.render.python import render_show
from tests.support.hostile import HOSTILE
from tests.support.project import MACHINES, extracted, shipped_rules

COUNT = "max_total_num_tokens"
READ = "n = self.profile_max_num_token(before)\n"
POOLS = {
    "plain": "self.max_total_num_tokens = self.profile_max_num_token(before)",
    "paged": f"{READ}self.max_total_num_tokens = n // self.page_size * self.page_size",
    "capped": f"""{READ}
cap = self.server_args.max_total_tokens
if cap is not None:
    n = min(n, cap)
self.max_total_num_tokens = n
""",
    "refused": f"""{READ}
if n <= 0:
    raise RuntimeError("Not enough memory")
self.max_total_num_tokens = n
""",
    "branched": f"""{READ}
if self.page_size > 1 and self.server_args.max_running_requests:
    n = n - self.server_args.max_running_requests * 2
self.max_total_num_tokens = max(n, 0) ** 1 - (-n) % 7
""",
}


def source(extraction: Extraction, quantity: str = COUNT, title: str = "a" * 40) -> str:
    """The function as text."""
    function = export_function(extraction, shipped_rules(), quantity, "mha")
    snapshot = Snapshot(Revision("v1", title, title), extraction, "0", "0")
    report = show(snapshot, shipped_rules(), ("mha",), (quantity,))
    return render_show(replace(report, functions=(function,)), Page())


def compiled(extraction: Extraction, quantity: str = COUNT) -> Callable[..., Value]:
    """The function itself."""
    names: dict[str, Any] = {}
    exec(source(extraction, quantity), names)  # noqa: S102 - the program's own output is under test
    function: Callable[..., Value] = names[quantity]
    return function


def called(function: Callable[..., Value], machine: Mapping[str, Value]) -> Value:
    """What the function returns or raises."""
    known = inspect.signature(function).parameters
    try:
        return function(**{name: value for name, value in machine.items() if name in known})
    except (RuntimeError, ArithmeticError) as error:
        return f"raises {type(error).__name__}"


def evaluated(extraction: Extraction, machine: Mapping[str, Value], quantity: str = COUNT) -> Value:
    """What `eval` gives."""
    [result] = evaluate_cases(extraction, shipped_rules(), [Case(dict(machine))], (quantity,))
    return f"raises {result.error}" if result.error is not None else result.quantities[quantity].value


@pytest.mark.parametrize("pool", POOLS)
def test_the_function_computes_what_eval_computes(pool: str) -> None:
    extraction = extracted(pool=POOLS[pool])
    function = compiled(extraction)
    for machine in MACHINES:
        assert called(function, machine) == evaluated(extraction, machine)


def test_other_quantities_can_be_asked_for() -> None:
    function = compiled(extracted(), "rest_memory")
    assert called(function, MACHINES[0]) == evaluated(extracted(), MACHINES[0], "rest_memory")


def test_a_default_of_another_input_is_put_in() -> None:
    function = compiled(extracted())
    machine = {name: value for name, value in MACHINES[0].items() if name not in ("num_kv_heads", "num_hidden_layers")}
    assert called(function, machine) == evaluated(extracted(), machine)


def test_the_source_says_where_it_comes_from() -> None:
    text = source(extracted())
    assert "# [GiB] sglang/srt/model_executor/model_runner.py:" in text.replace("python/", "")
    assert "free memory before loading" in text
    assert "import" not in text


@pytest.mark.parametrize("evil", HOSTILE[:-2])
def test_nothing_breaks_out_of_comments_and_strings(evil: str) -> None:
    text = source(extracted(), title=f"{evil}\"\"\"\n'''\nraise SystemExit\n")
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - that it only defines a function is what is tested
    assert COUNT in names
    assert "\x1b" not in text


def _guarded(guard: Term) -> Extraction:
    """The made-up release, whose count is preceded by a raise where `guard` holds."""
    found = extracted()
    error = conditional(guard, raising("RuntimeError"), NONE)
    count = replace(found.quantities[COUNT], error=error)
    return replace(found, quantities={**found.quantities, COUNT: count})


def test_a_refusal_behind_a_comprehension_is_one_of_the_function() -> None:
    row = opaque(FOR, (loop_variable(0), opaque("range", (symbol("tp_size"),))))
    ranks = opaque("any", (opaque(EACH, (constant("generator"), row, compare(">", loop_variable(0), constant(2)))),))
    function = compiled(_guarded(ranks))
    for tp_size in (1, 8):
        machine = {**MACHINES[0], "tp_size": tp_size}
        assert called(function, machine) == evaluated(_guarded(ranks), machine)


def test_a_comprehension_over_what_is_known_is_not_in_the_function() -> None:
    row = opaque(FOR, (loop_variable(0), apply("tuple")))
    nothing = opaque("any", (opaque(EACH, (constant("generator"), row, loop_variable(0))),))
    assert "each" not in source(_guarded(nothing))


def test_a_refusal_that_cannot_be_written_is_said() -> None:
    largest = apply("+", opaque("torch.iinfo", (symbol("tp_size"),)), symbol("tp_size"))
    text = source(_guarded(compare(">", largest, constant(1))))
    assert "# not checked here: RuntimeError, which depends on torch.iinfo" in text
    assert "raise RuntimeError" not in text


def test_a_call_that_was_not_followed_is_a_parameter() -> None:
    pool = READ + 'self.max_total_num_tokens = n - self.model.reserve("x", 3) * 2'
    found = extracted(pool=pool)
    function, text = compiled(found), source(found)
    (name,) = (name for name in inspect.signature(function).parameters if name.endswith("_value"))
    assert "None" not in text.split("max_total_num_tokens = ")[-1]
    parameters = inspect.signature(function).parameters.items()
    given = {key: 64 for key, one in parameters if one.default in (one.empty, None) and key != name}
    without, reserved = (function(**given, **{name: value}) for value in (0, 3))
    assert isinstance(without, int)
    assert reserved == without - 6
