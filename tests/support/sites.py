"""A generated site as a browser would read it: parsed strictly, its links followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import html5lib

from analyzer import api
from analyzer.adapters.snapshot_source import SnapshotSource, write_snapshot
from analyzer.domain.snapshot import Snapshot
from tests.support.samples import write_rules


def build_site(folder: Path, *snapshots: Snapshot, file_format: str = "html") -> dict[str, bytes]:
    """The files of the documentation of made-up releases, by address; `folder` is where it is made."""
    rules, stored = write_rules(folder / "rules"), folder / "snapshots"
    for snapshot in snapshots:
        write_snapshot(snapshot, stored)
    options = api.Options(source="snapshot", rules=rules, use_cache=False)
    with api.Workspace(options) as workspace:
        # The one place that knows the folder of snapshots is a cached property.
        workspace.__dict__["snapshots"] = SnapshotSource(stored)
        api.docs(folder / "site", file_format=file_format, options=workspace)
    return read_site(folder / "site")


def read_site(folder: Path) -> dict[str, bytes]:
    """The files below `folder`, by address."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def parse(page: bytes) -> Element:
    """A page as a tree. Raises html5lib's ParseError where it is not valid."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    root = parser.parse(page.decode())
    assert isinstance(root, Element)
    return root


def anchors(page: Element) -> set[str]:
    """Every id on a page."""
    return {element.get("id", "") for element in page.iter() if element.get("id")}


def links(page: Element) -> Iterator[str]:
    """Every address that a page mentions."""
    for element in page.iter():
        for name in ("href", "src"):
            address = element.get(name)
            if address is not None:
                yield address


def broken_links(files: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Links of HTML pages to files or places that are not there, each with its page."""
    pages = {name: parse(content) for name, content in files.items() if name.endswith(".html")}
    places = {name: anchors(page) for name, page in pages.items()}
    return [
        (name, link) for name, page in pages.items() for link in links(page) if not _leads(name, link, files, places)
    ]


def _leads(page: str, link: str, files: Mapping[str, bytes], places: Mapping[str, set[str]]) -> bool:
    parts = urlsplit(link)
    if parts.scheme in ("https", "data"):
        return True
    target = normpath(join(dirname(page), unquote(parts.path))) if parts.path else page
    if target not in files or parts.scheme:
        return False
    # The calculator reads its own fragments: a version, and a family after a slash.
    return not parts.fragment or target == "meaning.html" or unquote(parts.fragment) in places[target]
