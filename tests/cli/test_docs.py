"""``analyzer docs``: written, checked, refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_documentation_is_written_and_up_to_date(analyzer: Run, tmp_path: Path) -> None:
    folder = str(tmp_path / "site")
    written = analyzer("docs", "-o", folder)
    assert (written.code, written.err) == (0, "")
    assert (tmp_path / "site" / "index.html").is_file()
    checked = analyzer("docs", "--check", folder)
    assert checked.code == 0
    assert "is up to date" in checked.out


@pytest.mark.parametrize("file_format", ["html", "markdown"])
def test_stale_documentation_fails_and_is_left_alone(analyzer: Run, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "site"
    assert analyzer("docs", "-o", str(folder), "--format", file_format).code == 0
    page = next(path for path in folder.iterdir() if path.name.startswith(("timeline", "README")))
    page.write_text("edited")
    checked = analyzer("docs", "--check", str(folder), "--format", file_format)
    assert checked.code == 1
    assert "1 of " in checked.out
    assert page.name in checked.out
    assert page.read_text() == "edited"


def test_a_new_release_makes_documentation_stale(analyzer: Run, tmp_path: Path) -> None:
    folder = str(tmp_path / "site")
    assert analyzer("docs", "-o", folder, "--to", "v0.4.0").code == 0
    assert analyzer("docs", "--check", folder, "--to", "v0.4.0").code == 0
    assert "versions/v0.5.0.html" in analyzer("docs", "--check", folder).out


def test_scenarios_restrict_the_pages(analyzer: Run, tmp_path: Path) -> None:
    assert analyzer("docs", "-o", str(tmp_path / "site"), "--scenario", "mla").code == 0
    page = (tmp_path / "site" / "index.html").read_text()
    assert "latent attention" in page
    assert "plain attention" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "needs one folder"),
        (("-o", "a", "--check", "b"), "needs one folder"),
        (("-o", "a", "--from", "v0.4.1"), "v0.4.0"),
        (("-o", "a", "--from", "v0.5.0", "--to", "v0.4.0"), "comes after"),
        (("-o", "a", "--scenario", "mlx"), "did you mean"),
        (("--check", "nowhere"), "there is no such folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(analyzer: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = analyzer("docs", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
