"""The generated site and its Markdown: valid, whole, the same every time, and no text of the source is markup."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from tests.support.hostile import hostile_snapshot
from tests.support.samples import formula, snapshot
from tests.support.sites import broken_links, build_site, links, parse

_OLD = Revision("v0.4.0", "v0.4.0", "a" * 40, "0.4.0")
_NEW = Revision("v0.5.0", "v0.5.0", "b" * 40, "0.5.0")


def _changed() -> Snapshot:
    found = snapshot(_NEW)
    cell = formula("num_layers * (656 if use_mla_backend else 4096) * 2", "byte/token")
    return replace(found, extraction=replace(found.extraction, definitions={"cell_size": cell}))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return build_site(tmp_path_factory.mktemp("site"), snapshot(_OLD), _changed())


@pytest.fixture(scope="module")
def markdown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("markdown")
    return build_site(folder, snapshot(_OLD), _changed(), file_format="markdown")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("hostile")
    return build_site(folder, hostile_snapshot("0.4.0"), hostile_snapshot("0.5.0", factor=2))


def _text(page: bytes) -> str:
    return " ".join("".join(parse(page).itertext()).split())


def test_every_page_is_valid_html(site: dict[str, bytes]) -> None:
    pages = [content for name, content in site.items() if name.endswith(".html")]
    assert len(pages) > 8
    for page in pages:
        parse(page)


def test_no_link_is_broken(site: dict[str, bytes]) -> None:
    assert broken_links(site) == []


def test_a_broken_link_is_noticed(site: dict[str, bytes]) -> None:
    broken = {**site, "rules.html": site["rules.html"].replace(b'href="glossary.html"', b'href="glossarz.html"')}
    assert broken_links(broken) == [("rules.html", "glossarz.html")]


def test_nothing_is_loaded_from_elsewhere(site: dict[str, bytes]) -> None:
    for name, content in site.items():
        if name.endswith(".html"):
            loaded = [e for e in parse(content).iter() if e.tag in ("script", "link", "img", "iframe")]
            for element in loaded:
                assert (
                    not re.match(r"\w+:", element.get("src") or element.get("href") or "x:")
                    or element.get("rel") == "icon"
                )


def test_the_first_page_is_about_the_newest_release(site: dict[str, bytes]) -> None:
    text = _text(site["index.html"])
    assert "How SGLang v0.5.0 sizes its KV cache" in text
    assert "<math" in site["index.html"].decode()
    assert "unit: byte → GiB" in text


def test_a_place_in_the_source_leads_to_its_lines_upstream(site: dict[str, bytes]) -> None:
    addresses = set(links(parse(site["versions/v0.4.0.html"])))
    place = f"/blob/{'a' * 40}/python/sglang/srt/model_executor/model_runner.py#L412-L418"
    assert any(address.endswith(place) for address in addresses)


def test_a_change_has_a_page_with_both_sides_and_a_witness(site: dict[str, bytes]) -> None:
    [page] = [content for name, content in site.items() if name.startswith("changes/")]
    text = _text(page)
    for part in ("before (v0.4.0)", "after (v0.5.0)", "656", "576", "Witness", "Why it matters"):
        assert part in text


def test_the_timeline_names_kind_and_scenarios_of_a_change(site: dict[str, bytes]) -> None:
    [change] = [item for item in parse(site["timeline.html"]).iter("li") if item.get("data-kind")]
    assert change.get("data-kind") == "semantic"
    assert change.get("data-scenarios") == "mla"


def test_made_again_it_is_the_same(site: dict[str, bytes], tmp_path: Path) -> None:
    """Another process with another order of sets."""
    script = (
        "import sys; from pathlib import Path; from tests.documentation import test_site as t;"
        "t.build_site(Path(sys.argv[1]), t.snapshot(t._OLD), t._changed())"
    )
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, cwd=root, env=environment)
    again = {
        str(p.relative_to(tmp_path / "site")): p.read_bytes() for p in (tmp_path / "site").rglob("*") if p.is_file()
    }
    assert again == site


def test_hostile_text_stays_text(hostile: dict[str, bytes]) -> None:
    for name, content in hostile.items():
        assert re.fullmatch(r"[\w.+/-]+", name, re.ASCII), name
        assert not re.search(rb"[\x00-\x08\x0b-\x1f]", content), name
        assert "\N{RIGHT-TO-LEFT OVERRIDE}".encode() not in content
        if name.endswith(".html"):
            page = parse(content)
            scripts = [element for element in page.iter("script") if element.text]
            assert not scripts
            assert all(not address.startswith("javascript:") for address in links(page))
            assert not [e for e in page.iter() for attribute in e.keys() if attribute.startswith("on")]  # noqa: SIM118 - elements iterate over children
            assert len(list(page.iter("h1"))) == 1


def test_hostile_text_shows(hostile: dict[str, bytes]) -> None:
    assert "<script>alert(1)</script>" in _text(hostile["index.html"])


def test_hostile_data_of_a_script_ends_no_script(hostile: dict[str, bytes]) -> None:
    assert b"<" not in hostile["assets/search-index.js"]
    assert b"<" not in hostile["data/programs.js"]


def test_no_link_of_hostile_pages_is_broken(hostile: dict[str, bytes]) -> None:
    assert broken_links(hostile) == []


def test_markdown_has_the_pages_and_its_links_lead_somewhere(markdown: dict[str, bytes]) -> None:
    assert {"README.md", "timeline.md", "meaning.md", "glossary.md", "rules.md"} <= markdown.keys()
    parser = MarkdownIt("gfm-like", {"linkify": False})
    for name, content in markdown.items():
        if not name.endswith(".md"):
            continue
        tokens = [child for token in parser.parse(content.decode()) for child in token.children or ()]
        for token in tokens:
            address = str(token.attrs.get("href") or token.attrs.get("src") or "https:")
            path = os.path.normpath(Path(name).parent / address.partition("#")[0])
            assert address.startswith("https:") or path in markdown, (name, address)


def test_markdown_mathematics_survives_a_reader_that_eats_backslashes(markdown: dict[str, bytes]) -> None:
    text = markdown["versions/v0.5.0.md"].decode()
    blocks = re.findall(r"^\$\$\n(.*?)\n\$\$$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4  # the made-up release has few steps, and one way to stop
    for block in blocks:
        assert not re.search(r"\\[^\w\s]", block)
        assert "\n" not in block
        assert not re.search(r"[<>$`*]", block)


def test_hostile_markdown_has_no_markup_of_its_own(tmp_path: Path) -> None:
    files = build_site(tmp_path, hostile_snapshot("0.4.0"), hostile_snapshot("0.5.0", factor=2), file_format="markdown")
    parser = MarkdownIt("gfm-like", {"linkify": False})
    for name, content in files.items():
        if not name.endswith(".md"):
            continue
        text = re.sub(r"^\$\$\n.*\n\$\$$", "", content.decode(), flags=re.MULTILINE)
        inner = [child for token in parser.parse(text) for child in token.children or ()]
        assert {token.type for token in inner}.isdisjoint({"html_inline"}), name
        images = [token for token in inner if token.type == "image"]
        assert all(str(token.attrs["src"]).endswith(".svg") for token in images)
        blocks = [token.content for token in parser.parse(text) if token.type == "html_block"]
        assert all(re.fullmatch(r"(<details>\n<summary>.*</summary>|</details>)\n?", block) for block in blocks), name
