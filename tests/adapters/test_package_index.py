"""Releases through the user's own pip, here from a folder of wheels."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from analyzer.adapters.package_index import PackageIndexSource
from analyzer.adapters.store import clear_cache
from analyzer.domain.errors import RepositoryError, UnknownRefError


def make_wheel(folder: Path, version: str, tag: str = "py3-none-any") -> None:
    info = f"sglang-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\nRequires-Dist: torch\n"
    with zipfile.ZipFile(folder / f"sglang-{version}-{tag}.whl", "w") as archive:
        archive.writestr("sglang/srt/a.py", f"version = '{version}'\n")
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the user's pip is configured to take packages from."""
    folder = tmp_path / "index"
    folder.mkdir()
    for version in ("0.3.0", "0.4.0", "0.5.0rc1"):
        make_wheel(folder, version)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def packages(index: Path, tmp_path: Path, notes: Any) -> PackageIndexSource:
    assert index.is_dir()
    return PackageIndexSource(tmp_path / "cache/wheels", notes)


@pytest.mark.parametrize(
    ("spec", "note"), [("v0.4.0", None), ("0.4", "0.4 resolved to release v0.4.0"), ("v0.5.0rc1", None)]
)
def test_release_is_downloaded(packages: PackageIndexSource, spec: str, note: str | None) -> None:
    revision = packages.resolve(spec)
    assert (revision.resolved, revision.note) == (f"v{revision.version}", note)
    file = packages.tree(revision).read("sglang/srt/a.py")
    assert file is not None
    assert file.content == f"version = '{revision.version}'\n".encode()


def test_download_happens_once(packages: PackageIndexSource, index: Path, notes: Any, tmp_path: Path) -> None:
    first = packages.resolve("v0.4.0")
    for wheel in index.iterdir():
        wheel.unlink()
    assert packages.resolve("v0.4.0") == first
    assert notes.lines == ["downloading the wheel of sglang 0.4.0"]
    assert [path.name for path in (tmp_path / "cache/wheels").iterdir()] == [first.commit]
    assert clear_cache(tmp_path / "cache") > 0


def test_wheel_for_another_platform_will_do(packages: PackageIndexSource, index: Path) -> None:
    make_wheel(index, "0.6.0", "cp310-cp310-manylinux2014_x86_64")
    assert packages.resolve("v0.6").version == "0.6.0"


def test_releases(packages: PackageIndexSource) -> None:
    assert list(packages.releases()) == ["v0.3.0", "v0.4.0", "v0.5.0rc1"]


def test_unknown_release(packages: PackageIndexSource) -> None:
    with pytest.raises(UnknownRefError, match=r"no wheel of sglang 0\.4\.1.*did you mean 0\.4\.0"):
        packages.resolve("v0.4.1")


def test_an_index_that_cannot_be_reached(packages: PackageIndexSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    # Nothing listens on the discard port.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(RepositoryError, match=r"its package index has none, or cannot be reached; check the network"):
        packages.resolve("v0.4.0")


def test_a_local_index_works_through_the_settings_of_pip(
    index: Path, tmp_path: Path, notes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(f"[global]\nno-index = true\nfind-links = {index}\n")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    assert PackageIndexSource(tmp_path / "cache/wheels", notes).resolve("0.4").version == "0.4.0"


@pytest.mark.parametrize("spec", ["main", "HEAD~1", "-r", ""])
def test_what_is_no_version(packages: PackageIndexSource, spec: str, notes: Any) -> None:
    with pytest.raises(UnknownRefError, match="is not a version"):
        packages.resolve(spec)
    assert notes.lines == []


def test_sdist_is_never_built(packages: PackageIndexSource, index: Path) -> None:
    (index / "sglang-0.7.0.tar.gz").write_bytes(b"would run setup.py")
    with pytest.raises(UnknownRefError, match=r"no wheel of sglang 0\.7\.0"):
        packages.resolve("v0.7.0")


def test_pip_in_the_current_folder_is_not_run(
    packages: PackageIndexSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pip.py").write_text("open('marker', 'w')\n")
    packages.resolve("v0.4.0")
    assert not (tmp_path / "marker").exists()


def test_environment_without_pip(packages: PackageIndexSource, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/__init__.py").write_text("raise ImportError('no pip here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RepositoryError, match=r"pip cannot download sglang 0\.4\.0: .*no pip here"):
        packages.resolve("v0.4.0")
    with pytest.raises(RepositoryError, match="pip cannot list the releases"):
        packages.releases()
