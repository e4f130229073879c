"""Files that are devices, pipes, too large, or hold what no writer of this program would: one clear line each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.adapters import files
from analyzer.adapters.rules import load_rules
from analyzer.cli import run
from analyzer.domain.characters import shortened
from tests.cli.conftest import Run

DEVICE = "/dev/zero"
VALUES = ("--set", "available_gpu_memory=21.71", "--set", "pre_model_load_memory=94.04")
MARK = "\ufeff"


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "v0.4.0", "--inputs", DEVICE),
        ("eval", "v0.4.0", "--model", DEVICE),
        ("diff", "v0.4.0", "v0.5.0", "--baseline", DEVICE),
        ("diff", "--pins", DEVICE, "new.txt"),
        ("explain", DEVICE),
    ],
    ids=["cases", "model", "baseline", "pins", "log"],
)
def test_a_device_is_no_input(analyzer: Run, arguments: tuple[str, ...]) -> None:
    found = analyzer(*arguments)
    assert (found.code, found.out) == (2, "")
    assert "no regular file" in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("make", [lambda path: path.symlink_to(DEVICE), os.mkfifo], ids=["device", "pipe"])
@pytest.mark.parametrize("name", ["analyzer.toml", "rules/scenarios/own.toml", "accepted/v0.4.0.json"])
def test_what_is_found_by_its_name_must_be_a_file(
    analyzer: Run, tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    make(tmp_path / name)
    found = analyzer("check", "v0.4.0", "--against", "accepted")
    assert (found.code, found.out) == (2, "")
    assert "no regular file" in found.err


def test_a_pipe_that_is_named_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('[1]')"]):
        assert files.read_input(str(pipe)) == b"[1]"


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 11)
    assert files.read_file(tmp_path / "f", limit=11) == b"x" * 11
    with pytest.raises(OSError, match="larger than"):
        files.read_file(tmp_path / "f", limit=10)


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = " + "[" * 5000, "not TOML"), ("fail_on = " + "1" * 10_000, "not TOML"), ("x = 0x" + "f" * 99, "64 bits")],
    ids=["nesting", "digits", "hexadecimal"],
)
@pytest.mark.parametrize("name", ["analyzer.toml", "rules/scenarios/own.toml"])
def test_toml_without_end_is_one_clear_error(analyzer: Run, tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    found = analyzer("check", "v0.4.0")
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert "internal error" not in found.err
    assert len(found.err) < 1000


def test_a_byte_order_mark_is_no_content(analyzer: Run, tmp_path: Path) -> None:
    analyzer("check", "v0.4.0", "--against", "accepted", "--update")
    report = analyzer("diff", "v0.4.0", "v0.5.0", "--format", "json")
    written = {
        "analyzer.toml": 'fail_on = "lost"\n',
        "cases.json": "[]",
        "baseline.json": report.out,
        "old.txt": "sglang==0.4.0\r\n",
        "new.txt": "sglang==0.5.0\r\n",
        "accepted/v0.4.0.json": (tmp_path / "accepted" / "v0.4.0.json").read_text(),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(MARK + text, encoding="utf-8")
    assert analyzer("diff", "--pins", "old.txt", "new.txt").code == 0
    assert analyzer("diff", "v0.4.0", "v0.5.0", "--baseline", "baseline.json", "--fail-on", "semantic").code == 0
    assert analyzer("check", "v0.4.0", "--against", "accepted").code == 0
    assert analyzer("eval", "v0.4.0", "--inputs", "cases.json").code == 0


def test_a_baseline_of_another_format_says_how_to_renew_it(analyzer: Run, tmp_path: Path) -> None:
    report = json.loads(analyzer("diff", "v0.4.0", "v0.5.0", "--format", "json").out)
    (tmp_path / "baseline.json").write_text(json.dumps({**report, "schema_version": 999}))
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--baseline", "baseline.json")
    assert (found.code, found.out) == (2, "")
    assert "format 999" in found.err
    assert "analyzer diff BASE HEAD --format json" in found.err


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored: stored["quantities"]["rest_memory"].update(term=-1),
        lambda stored: stored["quantities"].update(other=stored["quantities"]["rest_memory"]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], ["+", 1.5, 0]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], ["*", "tp_size"]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], ["$in", 5]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], ["$", {}]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], ["$raise", None]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], ["$call", 7]),
        lambda stored: stored["nodes"].__setitem__(stored["quantities"]["rest_memory"]["term"], []),
    ],
    ids=["negative", "quantity", "float", "operands", "input", "literal", "exception", "call", "empty"],
)
def test_a_snapshot_that_was_tampered_with_is_damaged(
    analyzer: Run, tmp_path: Path, damage: Callable[[dict[str, object]], None]
) -> None:
    analyzer("check", "v0.4.0", "--against", "accepted", "--update")
    file = tmp_path / "accepted" / "v0.4.0.json"
    stored = json.loads(file.read_text())
    stored["rules_digest"] = load_rules(tmp_path / "rules").digest
    damage(stored)
    file.write_text(json.dumps(stored))
    found = analyzer("check", "v0.4.0", "--against", "accepted")
    assert (found.code, found.out) == (2, "")
    assert "damaged" in found.err


def test_what_is_too_long_is_said_in_short(analyzer: Run) -> None:
    for arguments in (
        ("eval", "v0.4.0", "--set", "available_gpu_memory=" + "9" * 5000),
        ("eval", "v0.4.0", "--set", "x" * 5000),
        ("eval", "v" * 5000),
        ("eval", "v0.4.0", "--start", "9" * 5000),
    ):
        found = analyzer(*arguments)
        assert found.code == 2
        assert len(found.err) + len(found.out) < 1500


def test_the_ends_of_a_long_word_stay() -> None:
    assert shortened("a " + "x" * 500 + "y b") == f"a {'x' * 80}...(341 characters)...{'x' * 79}y b"
    assert shortened("short words " * 20) == "short words " * 20


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("argument", ["rules", "--help"])
def test_a_full_disk_is_said(argument: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "analyzer", argument], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("analyzer: error: cannot write the result")
    assert done.stderr.count("\n") == 1


def test_without_a_stdout_nothing_fails() -> None:
    command = f"{sys.executable} -m analyzer rules >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S602 - fixed
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"num_hidden_layers": NaN', "NaN is no finite number"),
        ('"head_dim": -Infinity', "-Infinity is no finite number"),
        ('"num_hidden_layers": 1e400', "1e400 is no finite number"),
        ('"num_hidden_layers": -61', "num_hidden_layers in the configuration of the model"),
        ('"num_hidden_layers": true', "num_hidden_layers in the configuration of the model"),
        ('"num_hidden_layers": 1' + "0" * 400, "far too large"),
    ],
    ids=["nan", "infinity", "overflow", "negative", "boolean", "huge"],
)
def test_a_model_of_impossible_numbers_is_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, entry: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(f'{{"architectures": ["LlamaForCausalLM"], {entry}}}')
    for command in ("eval", "solve"):
        more = ("--target-tokens", "1000", *VALUES) if command == "solve" else ()
        assert run([command, "v0.5.9", "--source", "snapshot", "--model", "config.json", *more]) == 2
        found = capfd.readouterr()
        assert found.out == ""
        assert said in found.err
        assert "internal error" not in found.err


def test_of_an_unknown_version_in_a_log_only_what_is_public_is_repeated(analyzer: Run, tmp_path: Path) -> None:
    begin = "Load weight begin. avail mem=94.04 GB\nLoad weight end. avail mem=21.71 GB\n"
    (tmp_path / "server.log").write_text(f"{begin}sglang==9.9.9.post1+db.internal\n")
    found = analyzer("explain", "server.log")
    assert "a build of 9.9.9.post1, is not known here" in found.err
    assert "internal" not in found.err
