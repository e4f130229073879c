"""SGLang as files on disk: a folder, a work tree, the installed package."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.adapters.content import MAX_FILE_SIZE
from analyzer.adapters.folder import FolderSource, FolderTree, is_sglang_folder
from analyzer.adapters.installed import installed_source
from analyzer.domain.errors import RepositoryError, UnknownRefError

Write = Callable[[Path, dict[str, str]], None]


def open_tree(folder: Path) -> FolderTree:
    source = FolderSource(folder)
    assert list(source.releases()) == []
    return source.tree(source.resolve("somewhere"))


@pytest.mark.parametrize("layout", ["", "python/"])
def test_both_layouts(tmp_path: Path, write: Write, layout: str) -> None:
    write(tmp_path, {f"{layout}sglang/srt/a.py": "hello\n", f"{layout}sglang/srt/a.txt": "", f"{layout}b.py": ""})
    assert is_sglang_folder(tmp_path)
    tree = open_tree(tmp_path)
    assert tree.paths() == ["sglang/srt/a.py"]
    assert tree.display_path("sglang/srt/a.py") == f"{layout}sglang/srt/a.py"
    file = tree.read("sglang/srt/a.py")
    assert file is not None
    assert file.content == b"hello\n"
    # What `git hash-object` says of this content.
    assert tree.blob("sglang/srt/a.py") == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert tree.read("sglang/srt/absent.py") is None
    assert tree.blob("../b.py") is None


def test_revision_of_a_folder(tmp_path: Path) -> None:
    revision = FolderSource(tmp_path).resolve("./sglang")
    assert (revision.spec, revision.commit, revision.version) == ("./sglang", "FOLDER", None)


def test_links_are_not_followed_out_of_the_package(tmp_path: Path, write: Write) -> None:
    package = tmp_path / "inside/sglang/srt"
    write(tmp_path, {"inside/sglang/srt/a.py": "a\n", "inside/other.py": "b\n", "outside/c.py": "c\n"})
    (package / "good.py").symlink_to("a.py")
    (package / "bad.py").symlink_to("../../other.py")
    (package / "folder").symlink_to(tmp_path / "outside")
    (package / "dangling.py").symlink_to("nowhere.py")
    (package / "loop.py").symlink_to("loop.py")
    os.mkfifo(package / "pipe.py")
    assert open_tree(tmp_path / "inside").paths() == ["sglang/srt/a.py", "sglang/srt/good.py"]


def test_package_that_is_itself_a_link(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"real/srt/a.py": "a\n"})
    (tmp_path / "view").mkdir()
    (tmp_path / "view/sglang").symlink_to(tmp_path / "real")
    with pytest.raises(RepositoryError, match="holds neither"):
        open_tree(tmp_path / "view")


def test_huge_file_is_refused(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"sglang/srt/huge.py": "#" * (MAX_FILE_SIZE + 1)})
    with pytest.raises(RepositoryError, match="larger than 8 MiB"):
        open_tree(tmp_path).read("sglang/srt/huge.py")


def test_file_that_vanishes_is_one_line(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"sglang/srt/a.py": "a\n"})
    tree = open_tree(tmp_path)
    tree.paths()
    (tmp_path / "sglang/srt/a.py").unlink()
    with pytest.raises(RepositoryError, match="cannot read a source file: No such file"):
        tree.read("sglang/srt/a.py")


def test_name_that_is_not_utf8(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {os.fsdecode(b"sglang/srt/caf\xe9.py"): "odd\n"})
    tree = open_tree(tmp_path)
    assert tree.paths() == ["sglang/srt/caf\\xe9.py"]
    assert tree.read(tree.paths()[0]) is not None


def test_folder_without_sglang(tmp_path: Path) -> None:
    assert not is_sglang_folder(tmp_path)
    with pytest.raises(RepositoryError, match="holds neither python/sglang/srt nor sglang/srt"):
        open_tree(tmp_path)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that packages can be imported from."""
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    importlib.invalidate_caches()
    return tmp_path / "site"


METADATA = "Metadata-Version: 2.1\nName: sglang\nVersion: 0.4.1\n"


def test_installed_package_is_not_imported(environment: Path, write: Write) -> None:
    write(environment, {"sglang/__init__.py": "raise SystemExit\n", "sglang/srt/a.py": "a\n"})
    write(environment, {"sglang-0.4.1.dist-info/METADATA": METADATA})
    source = installed_source()
    revision = source.resolve("INSTALLED")
    assert (revision.commit, revision.version) == ("INSTALLED", "0.4.1")
    assert source.tree(revision).paths() == ["sglang/__init__.py", "sglang/srt/a.py"]
    assert "sglang" not in sys.modules


@pytest.mark.parametrize(("root", "url"), [("clone", "clone/python"), ("my clone", "my%20clone/python")])
def test_editable_install(environment: Path, tmp_path: Path, write: Write, root: str, url: str) -> None:
    write(tmp_path, {f"{root}/python/sglang/srt/a.py": "a\n"})
    origin = {"url": f"{tmp_path.as_uri()}/{url}", "dir_info": {"editable": True}}
    write(environment, {"sglang-0.4.1.dist-info/METADATA": METADATA})
    write(environment, {"sglang-0.4.1.dist-info/direct_url.json": json.dumps(origin)})
    source = installed_source()
    assert source.folder == tmp_path / root / "python"
    assert source.tree(source.resolve("INSTALLED")).paths() == ["sglang/srt/a.py"]


@pytest.mark.parametrize("origin", ["{", "[]", '{"url": "https://x/y.whl", "archive_info": {}}', '{"dir_info": {}}'])
def test_other_origins(environment: Path, write: Write, origin: str) -> None:
    write(environment, {"sglang-0.4.1.dist-info/METADATA": METADATA})
    write(environment, {"sglang-0.4.1.dist-info/direct_url.json": origin})
    assert installed_source().folder == environment


@pytest.mark.usefixtures("environment")
def test_nothing_installed() -> None:
    with pytest.raises(UnknownRefError, match="sglang is not installed in this environment"):
        installed_source()
