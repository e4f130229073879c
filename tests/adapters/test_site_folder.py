"""Folders of generated pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.adapters.site_folder import stale_files, write_site
from analyzer.domain.errors import UsageError

_FILES = {"index.html": b"one", "sub/page.html": b"two"}


def test_what_was_written_is_not_stale(tmp_path: Path) -> None:
    write_site(tmp_path / "site", _FILES)
    assert stale_files(tmp_path / "site", _FILES) == ()


@pytest.mark.parametrize(
    ("files", "stale"),
    [
        ({**_FILES, "index.html": b"other"}, ("index.html",)),
        ({**_FILES, "new.html": b"three"}, ("new.html",)),
        ({"index.html": b"one"}, ("sub/page.html",)),
    ],
)
def test_what_differs_is_named(tmp_path: Path, files: dict[str, bytes], stale: tuple[str, ...]) -> None:
    write_site(tmp_path, _FILES)
    assert stale_files(tmp_path, files) == stale


def test_what_is_no_longer_made_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "own.html").write_bytes(b"mine")
    write_site(tmp_path, _FILES)
    write_site(tmp_path, {"index.html": b"one"})
    assert sorted(path.name for path in tmp_path.rglob("*.html")) == ["index.html", "own.html"]


def test_a_hostile_listing_deletes_nothing_outside(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_bytes(b"mine")
    folder = tmp_path / "site"
    write_site(folder, _FILES)
    (folder / "generated-files.txt").write_text(f"../precious.txt\n{precious}\nsub\n\x00\n")
    write_site(folder, _FILES)
    assert precious.read_bytes() == b"mine"
    assert (folder / "sub" / "page.html").read_bytes() == b"two"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        stale_files(tmp_path / "none", _FILES)
