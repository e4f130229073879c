"""A formula that begins with what mattered in the commit before is the one that is found afresh."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.api.workspace import Options, Workspace
from analyzer.application.history.fingerprint import Sources
from analyzer.domain.rules import ROOTS, RUNNER
from analyzer.symbolic.interpreter import Run, interpret
from tests.history.conftest import Repository

_SIZED = """
    after = get_available_gpu_memory(self.device, self.gpu_id)
    return int((after - before) * (1 << 30) // self.bytes_per_token() * self.share)
"""
_TAKE = """
    def take(self, measured):
        self.max_total_num_tokens = self.profile_max_num_token(measured)
"""
_NINE = """
    def __post_init__(self):
        if self.mem_fraction_static is None:
            self.mem_fraction_static = 0.9
        self.page_size = 2 * self.page_size
"""
_EIGHT = """
    def __post_init__(self):
        self.adjust()

    def adjust(self):
        self.mem_fraction_static = 0.8
        self.page_size = 16
"""
_PREPARE = """
    def prepare(self):
        self.share = 0.5
"""
_START = """
    before = self.init_torch_distributed()
    self.load_model()
    self.init_memory_pool(before)
"""
_STEPS: tuple[dict[str, str], ...] = (
    {},
    # More is read, and somebody who was left alone writes it.
    {"profile": _SIZED, "methods": _PREPARE, "init": f"    self.prepare(){_START}"},
    {"profile": _SIZED, "methods": _PREPARE.replace("0.5", "0.25"), "init": f"    self.prepare(){_START}"},
    # It is written elsewhere, and the method that wrote it is gone.
    {"profile": _SIZED, "init": f"    self.share = 0.75{_START}"},
    # Nothing of that is read any more.
    {"init": f"    self.share = 0.75{_START}"},
    # The count is set in another method.
    {"pool": "self.take(before)", "methods": _TAKE},
    # It does not parse, and then it does.
    {"methods": "def broken(self:"},
    {"config_methods": _NINE},
    {"config_methods": _EIGHT},
)


def test_what_mattered_before_changes_nothing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = [repository.commit(f"Step {number}", **parts) for number, parts in enumerate(_STEPS)]
    passes: list[str] = []

    def counted(*arguments: Any) -> Run:
        passes.append("")
        return interpret(*arguments)

    monkeypatch.setattr("analyzer.application.discovery.interpret", counted)
    with Workspace(Options(repo=repository.folder, use_cache=False)) as workspace:
        following, alone = (workspace.commit_extractions(Sources(workspace.clone.source).index) for _ in range(2))
        for root in ROOTS:
            passes.clear()
            found = [following.extract(root, commit, afresh=False) for commit in commits]
            fewer = len(passes)
            expected = [alone.extract(root, commit, afresh=True) for commit in commits]
            assert fewer < len(passes) - fewer or root != RUNNER
            assert [one.identity for one in found] == [one.identity for one in expected]
            assert len({one.identity for one in found}) > len(commits) / 4
