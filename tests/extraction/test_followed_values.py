"""Searches, products, questions about sets and tensors whose operands only the inputs decide."""

from __future__ import annotations

import pytest

from analyzer.domain.notation import to_text
from tests.support.executed import disagreements
from tests.support.following import EVERY
from tests.support.project import COUNT, MACHINE, extracted, outcome


@pytest.mark.parametrize("name", EVERY)
def test_what_the_inputs_decide_is_what_python_makes_of_it(name: str) -> None:
    assert disagreements(EVERY[name]) == []


def _tokens(pool: str, **parts: str) -> tuple[object, tuple[str, ...], str]:
    extraction = extracted(pool=COUNT + pool + "\nself.max_total_num_tokens = n", **parts)
    text = to_text(extraction.quantities["max_total_num_tokens"].term)
    return outcome(extraction, **MACHINE), extraction.coverage.opaque_calls, text


def _plain() -> int:
    found = outcome(extracted(), **MACHINE)
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize(
    ("lines", "cost"),
    [
        ("t = torch.empty((3, 5), dtype=torch.float16)\nn -= t.numel() * t.element_size()", 30),
        ("t = torch.zeros(4, 6, dtype=torch.float32)\nn -= t.size(1) * t.shape[0] + t.element_size()", 28),
        ("t = torch.ones(size=(2, 7), dtype=torch.int8)\nn -= t.numel() * t.dtype.itemsize", 14),
        ("t = torch.zeros(4, 6, dtype=torch.float32).to(dtype=torch.float16)\nn -= t.element_size() * t.numel()", 48),
    ],
)
def test_a_new_tensor_has_the_size_that_it_is_made_with(lines: str, cost: int) -> None:
    assert _tokens(lines, imports="import torch")[:2] == (_plain() - cost, ())


def test_a_tensor_that_may_have_another_dtype_has_no_known_size_of_elements() -> None:
    _, unknown, _ = _tokens(
        "t = torch.zeros(4, dtype=torch.float32).to(torch.float16)\nn -= t.element_size()", imports="import torch"
    )
    assert unknown == ("tensor.element_size",)


def test_a_loop_that_needs_the_turn_before_is_a_gap() -> None:
    pool = "t = last = 0\nfor k in self.model_config.hf_config.kinds:\n    t += last\n    last = k\nn -= t"
    extraction = extracted(pool=COUNT + pool + "\nself.max_total_num_tokens = n")
    assert [gap.reason for gap in extraction.gaps] == ["a loop over a sequence of unknown length"]


def test_whether_an_input_is_of_a_class_of_a_library_is_a_question_about_the_input() -> None:
    value, unknown, text = _tokens(
        "n = n - 5 if isinstance(self.server_args.shape, torch.Size) else n",
        imports="import torch",
        fields="    shape: object = None",
    )
    assert unknown == ()
    assert "isinstance(shape, " in text
    assert value != _plain() - 5


def test_a_file_of_the_kernel_tells_of_the_machine() -> None:
    kernel, other = (
        _tokens(f"n -= int(open('{path}').read())", imports="import os")[1] for path in ("/proc/x", "/etc/x")
    )
    assert kernel == ()
    assert other == ("open",)
