"""What a target worker hands to its draft worker: sizes in an object, or in options that it writes."""

from __future__ import annotations

import pytest

from tests.support.project import MACHINE, RUNNER, TOKENS, extracted, minimal_project, outcome

SIZES = """
from dataclasses import dataclass
from typing import Optional


@dataclass
class Sizes:
    max_total_num_tokens: int
    max_running_requests: Optional[int] = None
"""
HANDED_OVER = """
if self.is_draft_worker:
    assert self.memory_pool_config is not None
else:
    n = self.profile_max_num_token(before)
    if n <= 0:
        raise RuntimeError("Not enough memory")
    self.memory_pool_config = Sizes(max_total_num_tokens=n // 2, max_running_requests=n // 1000)
self.max_total_num_tokens = self.memory_pool_config.max_total_num_tokens
"""
LEFT_IN_OPTIONS = """
n = self.profile_max_num_token(before)
if n <= 0:
    raise RuntimeError("Not enough memory")
if self.is_draft_worker:
    n = self.server_args.draft_runner_cache_size
else:
    self.server_args.draft_runner_cache_size = n + 100
self.max_total_num_tokens = n
"""


def project(pool: str) -> dict[str, str]:
    """A project whose runner knows whether it is a draft worker's, and takes sizes from a target."""
    files = {"sglang/srt/sizes.py": SIZES}
    drawn = minimal_project(files, pool=pool, imports="from typing import Optional\nfrom sglang.srt.sizes import Sizes")
    head = "gpu_id: int, server_args: ServerArgs):\n"
    more = "gpu_id: int, server_args: ServerArgs, is_draft_worker: bool = False,\n"
    more += "            memory_pool_config: Optional[Sizes] = None):\n"
    more += "        self.is_draft_worker = is_draft_worker\n        self.memory_pool_config = memory_pool_config\n"
    return {**drawn, RUNNER: drawn[RUNNER].replace(head, more)}


@pytest.mark.parametrize(("pool", "change"), [(HANDED_OVER, lambda n: n // 2), (LEFT_IN_OPTIONS, lambda n: n + 100)])
def test_a_draft_worker_has_what_its_target_hands_on(pool: str, change: object) -> None:
    assert callable(change)
    extraction = extracted(project(pool))
    plain = outcome(extracted(), **MACHINE)
    assert outcome(extraction, **MACHINE, is_draft_worker=True) == change(plain)
    assert outcome(extraction, **MACHINE, is_draft_worker=True, target_max_total_num_tokens=77) == 77
    assert extraction.gaps == ()


def test_the_slots_are_handed_on_too() -> None:
    extraction = extracted(project(HANDED_OVER))
    slots = outcome(extraction, "max_num_reqs", **MACHINE, is_draft_worker=True)
    assert slots == outcome(extraction, "max_num_reqs", **MACHINE, is_draft_worker=False) != 0


@pytest.mark.parametrize("pool", [HANDED_OVER, LEFT_IN_OPTIONS])
def test_where_the_target_does_not_start_the_draft_worker_does_not_either(pool: str) -> None:
    extraction = extracted(project(pool))
    for drafts in (True, False):
        poor = {**MACHINE, "available_gpu_memory": 4.0, "is_draft_worker": drafts}
        assert outcome(extraction, TOKENS, **poor) == "raises RuntimeError"
