"""Module variables that functions set while the program runs, and those that are only declared."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Extraction
from analyzer.domain.semantics import Value
from analyzer.domain.terms import Opaque, walk
from tests.support.project import MACHINE, TOKENS, extracted, outcome

GROUPS = """
from typing import Optional


class Group:
    def __init__(self, size):
        self.size = size

    def pairs(self):
        return self.size // 2


_WORLD: Optional[Group] = None
_TENSOR: Optional[Group] = None


def start(size):
    global _WORLD, _TENSOR
    _WORLD, _TENSOR = Group(size), Group(size // 2)


def world():
    assert _WORLD is not None, "not started"
    return _WORLD


def tensor():
    assert _TENSOR is not None
    return _TENSOR


def world_if_any():
    return _WORLD
"""

PLATFORMS = """
class Platform:
    kind = "any"

    def is_own(self):
        return self.kind == "own"

    def spare(self):
        return 5

    def reserve(self):
        return 1


class Fast(Platform):
    kind = "fast"

    def reserve(self):
        return 2


class Unrelated:
    def spare(self):
        return 7


current: Platform
"""


def counted(lines: str) -> Extraction:
    """A project whose count is larger by what `lines` make of `n`."""
    files = {"sglang/srt/groups.py": GROUPS, "sglang/srt/platforms.py": PLATFORMS}
    imports = "from sglang.srt.groups import tensor, world, world_if_any\nfrom sglang.srt.platforms import current"
    pool = f"{lines}\nself.max_total_num_tokens = self.profile_max_num_token(before) + n"
    return extracted(files, imports=imports, pool=pool)


def n(extraction: Extraction, **inputs: Value) -> Value:
    """What the lines made of `n`."""
    more, plain = outcome(extraction, **{**MACHINE, **inputs}), outcome(extracted(), **MACHINE)
    return more - plain if isinstance(more, int) and isinstance(plain, int) else more


def test_what_a_variable_is_declared_to_be_has_its_attributes_and_methods() -> None:
    extraction = counted("n = world().pairs()")
    assert n(extraction, **{"_WORLD.size": 8}) == 4
    # Whether the start gets past the assertion is not known.
    assert extraction.gaps
    assert not any(isinstance(node, Opaque) for node in walk(extraction.quantities[TOKENS].term))


def test_two_variables_of_one_class_are_two_values() -> None:
    extraction = counted("n = world().size * 100 + tensor().size")
    assert n(extraction, **{"_WORLD.size": 8, "_TENSOR.size": 3}) == 803


def test_whether_it_is_set_at_all_is_a_gap() -> None:
    (gap,) = counted("n = 1 if world_if_any() is None else 2").gaps
    assert (gap.construct, gap.reason) == ("groups._WORLD", "a module variable that functions set at run time")


@pytest.mark.parametrize(("lines", "inputs", "value"), [
    ("n = current.spare()", {}, 5),
    ("n = 1 if current.is_own() else 2", {}, 2),
    ("n = 1 if current.is_own() else 2", {"current.kind": "own"}, 1),
    ("n = 1 if current.kind == 'fast' else 2", {"current.kind": "fast"}, 1),
])  # fmt: skip  # a table
def test_a_subclass_may_be_there_whose_fields_are_its_own(lines: str, inputs: dict[str, str], value: int) -> None:
    extraction = counted(lines)
    assert n(extraction, **inputs) == value
    assert extraction.gaps == ()


def test_a_method_that_a_subclass_writes_anew_is_a_gap() -> None:
    (gap,) = counted("n = current.reserve()").gaps
    assert gap.construct == "current.reserve"
    assert "subclasses write anew" in gap.reason


def test_a_variable_that_only_an_unknown_reads_is_met_while_the_gaps_are_written() -> None:
    pool = """
        tokens = self.profile_max_num_token(before)
        for row in external.rows():
            pair = external.pair((row, self.limit()))
            tokens = tokens - row
        self.max_total_num_tokens = tokens
    """
    limit = "def limit(self):\n    return LIMIT"
    found = extracted(pool=pool, methods=limit, imports="import external", module="LIMIT = external.limit(3)")
    assert [gap.construct for gap in found.gaps] == ["loop:tokens"]
