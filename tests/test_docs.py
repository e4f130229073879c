"""The generated pages are what the program writes now."""

from __future__ import annotations

from pathlib import Path

from analyzer.cli import run

_ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_rules_is_current(tmp_path: Path) -> None:
    written = tmp_path / "rules.md"
    assert run(["rules", "--format", "markdown", "-o", str(written)]) == 0
    shown = (_ROOT / "docs" / "rules.md").read_text()
    assert written.read_text() == shown, "renew it with: analyzer rules --format markdown -o docs/rules.md"
