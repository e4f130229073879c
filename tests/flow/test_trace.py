"""The value path: what carries the value, who calls whom, and nothing else."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Hop
from tests.support.project import RUNNER, TOKENS, extract_project, extracted, minimal_project


def path(**parts: str) -> list[Hop]:
    """The hops of a varied project."""
    return list(extracted(**parts).hops)


def targets(hops: list[Hop], kind: str) -> list[str]:
    """What the hops of one kind lead to."""
    return [hop.target for hop in hops if hop.kind == kind]


def test_the_path_of_the_plain_project() -> None:
    hops = path()
    assert targets(hops, "sink") == [TOKENS]
    assert len([hop for hop in hops if hop.kind == "measure"]) == 2
    assert {"before", "fraction"} <= set(targets(hops, "argument"))
    assert "mem_fraction_static" in targets(hops, "attribute")


def test_a_hop_stands_where_it_is_written() -> None:
    lines = minimal_project()[RUNNER].splitlines()
    (sink,) = [hop for hop in path() if hop.kind == "sink"]
    assert sink.path == f"python/{RUNNER}"
    assert "self.max_total_num_tokens = " in lines[sink.line - 1]
    assert (sink.caller, sink.target) == ("ModelRunner.init_memory_pool", TOKENS)


@pytest.mark.parametrize(
    ("parts", "hop"),
    [
        (
            {
                "init": "free = self.init_torch_distributed()\nself.go(free)",
                "methods": "def go(self, lowest):\n    self.init_memory_pool(lowest)",
            },
            ("argument", "lowest"),
        ),
        (
            {"init": "self.reading = self.init_torch_distributed()\nself.init_memory_pool(self.reading)"},
            ("attribute", "reading"),
        ),
        (
            {"pool": "n = self.profile_max_num_token(before)\nn = min(n, 4096)\nself.max_total_num_tokens = n"},
            ("clamp", "n"),
        ),
        (
            {
                "module": "from dataclasses import dataclass\n@dataclass\nclass R:\n    free: float",
                "init": "r = R(free=self.init_torch_distributed())\nself.init_memory_pool(r.free)",
            },
            ("field", "R.free"),
        ),
        (
            {
                "after": "self.model_runner.init_memory_pool(self.model_runner.reading)",
                "init": "self.reading = self.init_torch_distributed()",
            },
            ("sink", TOKENS),
        ),
    ],
    ids=["argument", "attribute", "clamp", "field", "another class"],
)
def test_kinds_of_hops(parts: dict[str, str], hop: tuple[str, str]) -> None:
    assert hop in [(found.kind, found.target) for found in path(**parts)]


def test_calls_that_only_lead_to_the_value_are_control() -> None:
    methods = (
        "def start(self):\n    self.inner()\ndef inner(self):\n    self.init_memory_pool(self.init_torch_distributed())"
    )
    calls = [hop.callee for hop in path(init="self.start()", methods=methods) if hop.kind == "call"]
    assert {"ModelRunner.start", "ModelRunner.inner"} <= set(calls)


@pytest.mark.parametrize(
    "decoy",
    [
        "logger.info(get_available_gpu_memory(0, 0))",
        "x = get_available_gpu_memory(0, 0)",
        "self.x = get_available_gpu_memory(0, 0)",
    ],
)
def test_a_decoy_is_not_on_the_path(decoy: str) -> None:
    line = f"{decoy}\nbefore = self.init_torch_distributed()\nself.init_memory_pool(before)"
    assert [(h.kind, h.caller, h.target) for h in path(init=line)] == [(h.kind, h.caller, h.target) for h in path()]


def test_the_path_does_not_depend_on_the_order_of_files() -> None:
    assert extract_project(dict(reversed(minimal_project().items()))).hops == tuple(path())
