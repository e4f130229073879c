"""What only a whole process shows: start-up, broken pipes, crashes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import analyzer
from analyzer.cli import run


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program and wait for it."""
    command = [sys.executable, "-m", "analyzer", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def modules_after(statement: str) -> set[str]:
    """The modules that are loaded after `statement` has run in a fresh interpreter."""
    code = f"import sys\n{statement}\nprint(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_help_lists_the_commands_and_loads_nothing_heavy() -> None:
    found = start("--help")
    assert found.returncode == 0
    assert all(name in found.stdout for name in ("diff", "show", "trace", "eval", "snapshot", "Exit codes"))
    loaded = modules_after("from analyzer.cli import run; run(['--help'])")
    assert not loaded & {"rich", "git", "libcst", "networkx", "msgspec", "sympy", "packaging", "importlib.metadata"}


@pytest.mark.parametrize("command", ["diff", "show", "trace", "graph", "eval", "check", "snapshot", "rules"])
def test_every_command_has_help_and_version(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert "--repo" in capsys.readouterr().out
    assert run([command, "--version"]) == 0
    assert capsys.readouterr().out == f"analyzer {analyzer.__version__}\n"


def test_rich_is_loaded_for_terminals_only() -> None:
    render = "from analyzer.render.formats import render; from analyzer.render.page import Page"
    sample = "from tests.support.samples import report"
    assert "rich" not in modules_after(f"{render}; {sample}; render('diff', 'text', report(), Page())")
    assert "rich" in modules_after(f"{render}; {sample}; render('diff', 'text', report(), Page(colour=True))")


def test_a_reader_that_leaves_is_no_error() -> None:
    command = [sys.executable, "-m", "analyzer", "diff", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_a_crash_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def crash(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("x\n\x1b[31m")

    monkeypatch.setattr("analyzer.api.trace", crash)
    assert run(["trace", "v0.4.0"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("analyzer: error: internal error: ZeroDivisionError: x")
    assert "Traceback" not in error
    assert "\x1b" not in error
    assert run(["trace", "v0.4.0", "-v"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_current_folder_that_is_gone_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code = run(["show", "v0.5.9", "--source", "snapshot"])
    monkeypatch.chdir(tmp_path)
    assert code == 2
    assert "the current folder no longer exists; change to another folder" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("analyzer.api.trace", interrupt)
    assert run(["trace", "v0.4.0"]) == 130
