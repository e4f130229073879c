"""The cache on disk: whole or absent, bounded, and never in the way."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from analyzer.adapters import store as module
from analyzer.adapters.store import (
    DiskBlobStore,
    NullStore,
    cache_report,
    cache_root,
    cache_size,
    clear_cache,
    prepare_cache,
)
from analyzer.domain.errors import UsageError


@pytest.fixture
def store(tmp_path: Path) -> DiskBlobStore:
    return DiskBlobStore(tmp_path / "cache")


def stored(store: DiskBlobStore) -> list[Path]:
    return sorted(path for path in store.root.glob("*/*/*") if path.is_file())


@pytest.mark.parametrize("value", [b"", b"value", bytes(range(256)) * 1000])
def test_what_is_put_can_be_got(store: DiskBlobStore, value: bytes) -> None:
    store.put("facts", "key", value)
    assert store.get("facts", "key") == value
    assert store.get("facts", "other") is None
    assert store.get("other", "key") is None


def test_keys_are_names_of_any_kind(store: DiskBlobStore) -> None:
    for key in ("", "../../etc", "a/b", "nul\0", "bad\udcff", "x" * 5000):
        store.put("facts", key, key.encode("utf-8", "replace"))
        assert store.get("facts", key) == key.encode("utf-8", "replace")
    assert all(len(path.name) == 64 for path in stored(store))


def test_later_value_wins(store: DiskBlobStore) -> None:
    store.put("facts", "key", b"old")
    store.put("facts", "key", b"new")
    assert store.get("facts", "key") == b"new"


def test_every_damage_reads_as_absent(store: DiskBlobStore) -> None:
    store.put("facts", "key", b"value")
    (path,) = stored(store)
    whole = path.read_bytes()
    for position in range(len(whole)):
        for damaged in (whole[:position], whole[:position] + b"\xff" + whole[position + 1 :]):
            path.write_bytes(damaged)
            assert store.get("facts", "key") is None
    path.write_bytes(whole + b"more")
    assert store.get("facts", "key") is None
    store.put("facts", "key", b"value")
    assert store.get("facts", "key") == b"value"


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = DiskBlobStore(tmp_path / "file" / "cache")
    store.put("facts", "key", b"value")
    assert store.get("facts", "key") is None


def test_full_disk(store: DiskBlobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    store.put("facts", "key", b"value")
    assert store.get("facts", "key") is None
    assert stored(store) == []


def test_nothing_is_left_beside_the_files(store: DiskBlobStore) -> None:
    store.put("facts", "key", b"value")
    assert [path.name for path in store.root.rglob(".new-*")] == []


def test_many_writers(store: DiskBlobStore) -> None:
    def work(number: int) -> bytes | None:
        store.put("facts", str(number % 5), b"v" * 10_000)
        return store.get("facts", str(number % 5))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(200))) == {b"v" * 10_000}


def test_sweep_deletes_the_oldest(tmp_path: Path) -> None:
    store = DiskBlobStore(tmp_path / "cache", limit=10_000)
    for number in range(20):
        store.put("facts", str(number), b"v" * 1000)
        for path in stored(store):
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 10))
    store.sweep()
    assert cache_size(store.root) <= 10_000
    assert store.get("facts", "0") is None
    assert store.get("facts", "19") is not None


def test_sweep_happens_by_itself(tmp_path: Path) -> None:
    store = DiskBlobStore(tmp_path / "cache", limit=10_000)
    for number in range(1500):
        store.put("facts", str(number), b"v" * 100)
    assert len(stored(store)) < 1000


def test_sweep_leaves_clones_and_wheels_alone(tmp_path: Path) -> None:
    store = DiskBlobStore(tmp_path / "cache", limit=1)
    store.put("facts", "key", b"value")
    clone = store.root / "clones/sglang.git/objects/ab/cdef"
    clone.parent.mkdir(parents=True)
    clone.write_bytes(b"x" * 100)
    store.sweep()
    assert clone.exists()
    assert store.get("facts", "key") is None


def test_clear(store: DiskBlobStore) -> None:
    store.put("facts", "key", b"value")
    (store.root / "clones").mkdir()
    (store.root / "clones/file").write_bytes(b"x" * 100)
    before = cache_size(store.root)
    assert clear_cache(store.root) == before - cache_size(store.root)
    assert [path.name for path in store.root.iterdir()] == ["CACHEDIR.TAG"]
    assert clear_cache(store.root) == 0


def test_clear_refuses_a_folder_that_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    DiskBlobStore(tmp_path).put("facts", "key", b"value")
    with pytest.raises(UsageError, match="is not a cache that analyzer made"):
        clear_cache(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_clear_does_not_follow_links(tmp_path: Path) -> None:
    prepare_cache(tmp_path / "cache")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_text("precious")
    (tmp_path / "cache/link").symlink_to(tmp_path / "elsewhere")
    clear_cache(tmp_path / "cache")
    assert (tmp_path / "elsewhere/file").exists()


def test_report_names_the_parts_largest_first(store: DiskBlobStore, tmp_path: Path) -> None:
    store.put("facts", "key", b"value")
    (store.root / "wheels").mkdir()
    (store.root / "wheels/a.whl").write_bytes(b"x" * 5000)
    (tmp_path / "elsewhere").write_bytes(b"x" * 9000)
    (store.root / "link").symlink_to(tmp_path)
    report = cache_report(store.root)
    assert [(part.name, part.files) for part in report.parts] == [("wheels", 1), ("facts", 1)]
    assert 5000 < report.size < 6000


def test_a_cache_that_is_a_file_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot read the cache"):
        cache_report(tmp_path / "file")


def test_absent_cache(tmp_path: Path) -> None:
    assert cache_size(tmp_path / "absent") == 0
    assert clear_cache(tmp_path / "absent") == 0


def test_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(module.CACHE_VARIABLE, str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.setenv(module.CACHE_VARIABLE, "")
    assert cache_root().name == "sglang-analyzer"


def test_null_store() -> None:
    store = NullStore()
    store.put("facts", "key", b"value")
    assert store.get("facts", "key") is None
