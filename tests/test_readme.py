"""What the README shows is what the program prints.

Every `console` block is run by a shell and every `pycon` block by Python, in order; blocks of another
kind are only read. ``UPDATE_README=1 pytest tests/test_readme.py`` writes what was printed.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.releases import cache_folder, wheel

pytestmark = pytest.mark.releases

_ROOT: Final = Path(__file__).resolve().parents[1]
_README: Final = _ROOT / "README.md"
_BLOCK: Final = re.compile(r"^```(?P<kind>console|pycon)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# A prompt and everything up to the next one: the lines of the command, then what it prints.
_ENTRY: Final = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*\n)(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_RELEASE: Final = re.compile(r"\bv(\d+\.\d+\.\d+(?:\.post\d+)?)\b")
_SECONDS: Final = 600


def _blocks(kind: str) -> list[str]:
    return [found["body"] for found in _BLOCK.finditer(_README.read_text()) if found["kind"] == kind]


def _entries() -> list[tuple[str, str]]:
    return [(entry["command"], entry["output"]) for body in _blocks("console") for entry in _ENTRY.finditer(body)]


@pytest.fixture(autouse=True)
def _settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of our own that has the wheels which the other tests have fetched, and no clone."""
    for version in sorted(set(_RELEASE.findall("".join([*_blocks("console"), *_blocks("pycon")])))):
        wheel(version)
    cache = tmp_path_factory.getbasetemp() / "readme-cache"
    cache.mkdir(exist_ok=True)
    if not (cache / "wheels").exists():
        (cache / "wheels").symlink_to(cache_folder())
    for name in [name for name in os.environ if name.startswith(("SGLANG_", "COLUMNS"))]:
        if name != "SGLANG_ANALYZER_TEST_CACHE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("SGLANG_ANALYZER_CACHE", str(cache))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def _run(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        # Python's own view: readline may have put the width of its terminal into the process's.
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    return done.stdout


@pytest.mark.parametrize(("command", "shown"), _entries(), ids=lambda text: text.split("\n")[0][:60])
def test_a_command_prints_what_the_readme_shows(command: str, shown: str, tmp_path: Path) -> None:
    printed = _run(command, tmp_path)
    if os.environ.get("UPDATE_README"):
        _README.write_text(_README.read_text().replace(f"$ {command}{shown}", f"$ {command}{printed}", 1))
        return
    assert printed == shown


@pytest.mark.parametrize("session", _blocks("pycon"))
def test_a_python_session_goes_as_the_readme_shows(
    session: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", str(_README), 0)
    lines: list[str] = []
    doctest.DocTestRunner().run(test, out=lines.append)
    assert not lines, "".join(lines)
