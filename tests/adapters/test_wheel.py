"""Wheels and sdists, read in memory, also when they are damaged or mean harm."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from analyzer.adapters import wheel
from analyzer.adapters.content import MAX_FILE_SIZE
from analyzer.adapters.wheel import ArchiveSource, ArchiveTree
from analyzer.domain.errors import RepositoryError

FILES = {"sglang/__init__.py": b"", "sglang/srt/a.py": b"hello\n", "sglang/srt/a.json": b"{}"}
HELLO = "ce013625030ba8dba906f756967f9e9ca394464a"


def make_wheel(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make_sdist(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def open_tree(path: Path) -> ArchiveTree:
    source = ArchiveSource(path)
    assert list(source.releases()) == []
    return source.tree(source.resolve(str(path)))


def check(tree: ArchiveTree, prefix: str) -> None:
    assert tree.paths() == ["sglang/__init__.py", "sglang/srt/a.py"]
    assert tree.display_path("sglang/srt/a.py") == f"{prefix}sglang/srt/a.py"
    assert tree.blob("sglang/srt/a.py") == HELLO
    file = tree.read("sglang/srt/a.py")
    assert file is not None
    assert (file.path, file.blob, file.content) == ("sglang/srt/a.py", HELLO, b"hello\n")
    assert tree.read("sglang/srt/a.json") is None
    assert tree.blob("sglang/srt/absent.py") is None


def test_wheel(tmp_path: Path) -> None:
    tree = open_tree(make_wheel(tmp_path / "sglang-0.4.0-py3-none-any.whl", FILES))
    check(tree, "")
    assert tree.revision.version == "0.4.0"
    assert tree.revision.commit == "sglang-0.4.0-py3-none-any.whl"
    assert [path.name for path in tmp_path.iterdir()] == ["sglang-0.4.0-py3-none-any.whl"]


@pytest.mark.parametrize("folder", ["sglang-0.4.0.post1/", "sglang-0.4.0.post1/python/", ""])
def test_sdist(tmp_path: Path, folder: str) -> None:
    files = {folder + name: content for name, content in FILES.items()}
    tree = open_tree(make_sdist(tmp_path / "sglang-0.4.0.post1.tar.gz", files))
    check(tree, folder)
    assert tree.revision.version == "0.4.0.post1"


def test_copies_elsewhere_in_the_sdist_do_not_matter(tmp_path: Path) -> None:
    files = {f"sglang-1.0/{name}": content for name, content in FILES.items()}
    tree = open_tree(make_sdist(tmp_path / "sglang-1.0.tar.gz", {"sglang/copy.py": b"x", **files}))
    check(tree, "sglang-1.0/")


@pytest.mark.parametrize("name", ["renamed.whl", "odd.tar.gz"])
def test_file_name_without_a_version(tmp_path: Path, name: str) -> None:
    assert ArchiveSource(tmp_path / name).resolve(name).version is None


def test_names_that_step_out_are_ignored(tmp_path: Path) -> None:
    evil = {"sglang/../../evil.py": b"x", "/sglang/b.py": b"x", "../sglang/c.py": b"x"}
    tree = open_tree(make_wheel(tmp_path / "sglang-1.0-py3-none-any.whl", FILES | evil))
    assert tree.paths() == ["sglang/__init__.py", "sglang/srt/a.py"]


def test_links_in_an_sdist_are_ignored(tmp_path: Path) -> None:
    path = make_sdist(tmp_path / "sglang-1.0.tar.gz", {f"sglang-1.0/{k}": v for k, v in FILES.items()})
    content = gzip.decompress(path.read_bytes())
    link = tarfile.TarInfo("sglang-1.0/sglang/srt/link.py")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    path.write_bytes(gzip.compress(link.tobuf() + content))
    assert open_tree(path).paths() == ["sglang/__init__.py", "sglang/srt/a.py"]


@pytest.mark.parametrize("make", [make_wheel, make_sdist])
def test_huge_member_is_refused(tmp_path: Path, make: type) -> None:
    suffix = "1.0-py3-none-any.whl" if make is make_wheel else "1.0.tar.gz"
    bomb = {"sglang/srt/huge.py": b"\0" * (MAX_FILE_SIZE + 1)}
    tree = open_tree(make(tmp_path / f"sglang-{suffix}", FILES | bomb))
    with pytest.raises(RepositoryError, match="larger than 8 MiB"):
        tree.read("sglang/srt/huge.py")
    assert tree.blob("sglang/srt/a.py") == HELLO


def test_sdist_that_unpacks_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel, "_MAX_UNPACKED_SIZE", 100_000)
    path = make_sdist(tmp_path / "sglang-1.0.tar.gz", {"data.bin": b"\0" * 1_000_000})
    with pytest.raises(RepositoryError, match="unpacks to more than"):
        open_tree(path)


def test_archive_of_another_package(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match=r"the archive holds no sglang/srt.*give a wheel"):
        open_tree(make_wheel(tmp_path / "flask-1.0-py3-none-any.whl", {"flask/app.py": b""}))


@pytest.mark.parametrize("name", ["sglang-1.0-py3-none-any.whl", "sglang-1.0.tar.gz"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(RepositoryError, match="cannot read the archive: No such file"):
        open_tree(tmp_path / name)


@pytest.mark.parametrize("make", [make_wheel, make_sdist])
def test_damage_is_one_line(tmp_path: Path, make: type) -> None:
    suffix = "1.0-py3-none-any.whl" if make is make_wheel else "1.0.tar.gz"
    path = make(tmp_path / f"sglang-{suffix}", FILES)
    whole = path.read_bytes()
    for position in range(0, len(whole), 3):
        for damaged in (whole[:position], whole[:position] + b"\xa5\x5a" + whole[position + 2 :]):
            path.write_bytes(damaged)
            try:
                tree = open_tree(path)
                for name in tree.paths():
                    tree.read(name)
            except RepositoryError as error:
                assert str(error).isprintable()  # noqa: PT017 - damage may also go unnoticed
