"""What is likely to matter saves passes, and never decides what is found."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from analyzer.adapters.relevance_file import read_relevance, write_relevance
from analyzer.adapters.snapshot_source import SnapshotSource
from analyzer.adapters.wheel import ArchiveTree
from analyzer.application.extract import explore, extract
from analyzer.domain.errors import AnchorNotFoundError
from analyzer.domain.extraction import Extraction
from analyzer.domain.relevance import Relevance
from analyzer.domain.rules import RUNNER
from analyzer.domain.source import Revision
from tests.support.project import draw, minimal_project, shipped_rules
from tests.support.releases import wheel

_SHARED: Final = """
    after = get_available_gpu_memory(self.device, self.gpu_id)
    return int((after - before) * (1 << 30) // self.bytes_per_token() * self.share)
"""
_PREPARE: Final = """
    def prepare(self):
        self.share = {share}
"""
_START: Final = """
    self.prepare()
    before = self.init_torch_distributed()
    self.load_model()
    self.init_memory_pool(before)
"""
_PLAIN: Final = minimal_project()
_HALF: Final = minimal_project(profile=_SHARED, methods=_PREPARE.format(share=0.5), init=_START)
_QUARTER: Final = minimal_project(profile=_SHARED, methods=_PREPARE.format(share=0.25), init=_START)


@cache
def _shipped() -> Relevance:
    found = read_relevance(SnapshotSource().folder, RUNNER)
    assert found is not None
    return found


def _matters(files: Mapping[str, str]) -> Relevance:
    (found,) = explore(draw(files), shipped_rules(), RUNNER).settled
    return found


def _found(extraction: Extraction) -> tuple[object, ...]:
    return extraction.quantities, extraction.definitions, extraction.inputs, extraction.gaps, extraction.hops


@pytest.mark.parametrize("files", [_PLAIN, _HALF, _QUARTER], ids=["plain", "half", "quarter"])
@pytest.mark.parametrize("other", [_PLAIN, _HALF], ids=["after plain", "after half"])
def test_a_tree_says_the_same_whatever_mattered_in_another(files: Mapping[str, str], other: Mapping[str, str]) -> None:
    alone = extract(draw(files), shipped_rules(), RUNNER)
    for likely in (_matters(other), _shipped()):
        assert _found(extract(draw(files), shipped_rules(), RUNNER, likely)) == _found(alone)


def test_a_tree_without_a_measurement_is_lost_whatever_mattered_in_another() -> None:
    unmeasured = minimal_project(profile="    return 7\n")
    with pytest.raises(AnchorNotFoundError):
        extract(draw(unmeasured), shipped_rules(), RUNNER, _matters(_HALF))


@pytest.mark.releases
@pytest.mark.parametrize("version", ["0.3.6", "0.4.6", "0.5.9"])
def test_a_release_says_the_same_with_what_matters_in_the_newest_one(version: str) -> None:
    def tree() -> ArchiveTree:
        return ArchiveTree(Revision(version, version, version), wheel(version))

    alone = extract(tree(), shipped_rules(), RUNNER)
    assert _found(extract(tree(), shipped_rules(), RUNNER, _shipped())) == _found(alone)


def test_what_ships_is_from_the_newest_release() -> None:
    source = SnapshotSource()
    newest = source.releases()[-1]
    assert f'"release":"{newest}"' in (source.folder / "relevance" / "runner.json").read_text()
    written = {name for name, classes in _shipped().relevant.items() if "ModelRunner" in classes}
    assert written >= {"mem_fraction_static", "max_total_num_tokens"}


def test_what_was_written_is_read_and_what_is_damaged_is_not_missed(tmp_path: Path) -> None:
    found = _matters(_HALF)
    write_relevance(tmp_path, RUNNER, "v1", found)
    read = read_relevance(tmp_path, RUNNER)
    assert read is not None
    assert (read.relevant, read.reached, read.sizing) == (found.relevant, found.reached, found.sizing)
    (file,) = (tmp_path / "relevance").iterdir()
    for content in (b"", b"{}", b"\xff", b'{"release": 3}'):
        file.write_bytes(content)
        assert read_relevance(tmp_path, RUNNER) is None
    assert read_relevance(tmp_path / "nowhere", RUNNER) is None
