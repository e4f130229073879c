"""The generated pages are what the program writes now; ``UPDATE_DOCS=1 pytest tests/test_docs.py`` renews them."""

from __future__ import annotations

import os
from pathlib import Path

from analyzer import api
from analyzer.cli import run
from tests.support.api_page import api_page

_FOLDER = Path(__file__).resolve().parents[1] / "docs"


def _is_current(name: str, text: str) -> bool:
    """Whether the page `name` is `text`, made so first when that is asked for."""
    page = _FOLDER / name
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(text)
    return page.read_text() == text


def test_the_page_of_rules_is_current(tmp_path: Path) -> None:
    written = tmp_path / "rules.md"
    assert run(["rules", "--format", "markdown", "-o", str(written)]) == 0
    assert _is_current("rules.md", written.read_text()), "renew it with: UPDATE_DOCS=1 pytest tests/test_docs.py"


def test_the_page_of_the_api_is_current() -> None:
    assert _is_current("api.md", api_page()), "renew it with: UPDATE_DOCS=1 pytest tests/test_docs.py"


def test_everything_public_is_documented() -> None:
    page = (_FOLDER / "api.md").read_text()
    for name in api.__all__:
        _, _, section = page.partition(f"### `{name}`\n")
        assert section.split("### ")[0].strip(), name
