"""What `diff` finds between two releases is explained by the commits that `log` names between them.

A release is a wheel, without its history: the step from one release to the next is made in a few commits, file by
file. What stands between two of them may well be broken, as commits can be.
"""

from __future__ import annotations

import zipfile
import zlib

import pytest

from analyzer import api
from analyzer.domain.report import Kind
from tests.history.conftest import Repository
from tests.support.releases import wheel

pytestmark = pytest.mark.releases

# Small releases of several years, most with a change of the formula.
_PAIRS = [
    ("0.1.12", "0.1.13"),
    ("0.1.16", "0.1.17"),
    ("0.1.21", "0.1.22"),
    ("0.1.22", "0.1.24"),
    ("0.1.24", "0.2.0"),
    ("0.2.6", "0.2.7"),
    ("0.2.7", "0.2.8"),
    ("0.2.14.post2", "0.2.15"),
    ("0.3.1.post1", "0.3.1.post2"),
    ("0.4.5.post1", "0.4.5.post2"),
]
_NEWER_PAIRS = [
    ("0.4.1.post5", "0.4.1.post6"),
    ("0.4.8", "0.4.8.post1"),
    ("0.5.4.post1", "0.5.4.post2"),
    ("0.5.5", "0.5.5.post1"),
]
_COMMITS = 4


def sources(version: str) -> dict[str, bytes]:
    """The Python files of a release by path."""
    with zipfile.ZipFile(wheel(version)) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if name.startswith("sglang/") and name.endswith(".py")
        }


def write(repository: Repository, before: dict[str, bytes], after: dict[str, bytes], part: int) -> None:
    """Write the files of one part of the step between two releases."""
    for name in before.keys() | after.keys():
        if before.get(name) == after.get(name) or zlib.crc32(name.encode()) % _COMMITS != part:
            continue
        path = repository.folder / "python" / name
        if name in after:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(after[name])
        else:
            path.unlink()


@pytest.mark.parametrize(
    ("base", "head"), [*_PAIRS, *(pytest.param(*pair, marks=pytest.mark.exhaustive) for pair in _NEWER_PAIRS)]
)
def test_what_diff_finds_is_explained_by_commits(repository: Repository, base: str, head: str) -> None:
    before, after = sources(base), sources(head)
    for part in range(_COMMITS):
        write(repository, {}, before, part)
    repository.record("Base", f"v{base}")
    for part in range(_COMMITS):
        write(repository, before, after, part)
        repository.record(f"Part {part}")
    repository.git("tag", f"v{head}")
    options = api.Options(repo=repository.folder)
    found = api.diff(f"v{base}", f"v{head}", options=options)
    blamed = api.blame(found, options=options)
    assert [change.summary for change in blamed.changes if change.kind >= Kind.UNIT and not change.commits] == []
    entries = api.log(f"v{base}", f"v{head}", options=options).entries
    if all(change.kind < Kind.UNIT for change in found.changes):
        assert all(entry.undoes or entry.undone_by for entry in entries)
    else:
        assert entries
