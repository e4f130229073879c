"""Imports that may fail: whether a module is there decides what its ``try`` sets."""

from __future__ import annotations

import pytest

from analyzer.domain.semantics import Value
from analyzer.domain.terms import TRUE
from tests.support.executed import Sizing
from tests.support.project import MACHINE, TOKENS, expected, outcome

CONSTANT = "try:\n    {}\n    F = 2\nexcept ImportError:\n    F = 1"
INSTALLED = "installed.some_kernels"


def tokens(sizing: Sizing, **inputs: Value) -> Value:
    """The tokens that a sizing gives on one machine."""
    return outcome(sizing.extraction(), TOKENS, **MACHINE, **inputs)


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("from sglang.srt.utils import get_available_gpu_memory as g", 2),
        ("from sglang.srt.utils import no_such_name", 1),
        ("from sglang.srt.nowhere import g", 1),
        ("from ..nowhere import g", 1),
        ("import tomllib", 2),
    ],
)
def test_the_tree_decides_about_its_own_modules(statement: str, wanted: int) -> None:
    assert tokens(Sizing("n -= F", CONSTANT.format(statement))) == expected(f"tokens - {wanted}", MACHINE)


GUARDED = {
    "a constant": Sizing("n -= 2 * F", CONSTANT.format("import some_kernels")),
    "a member": Sizing("n -= 2 * F", CONSTANT.format("from some_kernels import fast")),
    "in a function": Sizing(f"{CONSTANT.format('import some_kernels')}\nn -= 2 * F"),
    "a flag": Sizing(
        "n -= 4 if HAS else 2",
        "HAS = False\ntry:\n    import some_kernels\n    HAS = True\nexcept ImportError:\n    pass",
    ),
    "an else": Sizing(
        "n -= 4 if HAS else 2",
        "try:\n    import some_kernels\nexcept ImportError:\n    HAS = False\nelse:\n    HAS = True",
    ),
}


@pytest.mark.parametrize("name", GUARDED)
def test_another_package_is_an_open_guard(name: str) -> None:
    sizing = GUARDED[name]
    assert tokens(sizing, **{INSTALLED: True}) == expected("tokens - 4", MACHINE)
    assert tokens(sizing, **{INSTALLED: False}) == expected("tokens - 2", MACHINE)
    assert sizing.extraction().inputs[INSTALLED].default is TRUE
