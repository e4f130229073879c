"""The program as people get it: its wheel in an environment of its own, another folder, releases from the index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from tests.render.test_json import schema
from tests.render.test_sarif import validate
from tests.support.releases import cache_folder, wheel

pytestmark = pytest.mark.releases

_ROOT: Final = Path(__file__).resolve().parents[2]
_SECONDS: Final = 300
_SERVER: Final = """
[[server]]
name = "chat"
scenario = "mla"
[server.inputs]
available_gpu_memory = 21.71
pre_model_load_memory = 94.04
mem_fraction_static = 0.88
num_layers = 61
kv_lora_rank = 512
qk_rope_head_dim = 64
kv_element_size = 2
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel of this source tree, and a cache with two releases."""
    folder = tmp_path_factory.mktemp("installed")
    python = folder / "venv" / "bin" / "python"
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    _call([sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(_ROOT)], folder)
    _call([sys.executable, "-m", "venv", str(folder / "venv")], folder)
    [built] = folder.glob("*.whl")
    _call([str(python), *pip, "install", str(built)], folder)
    for version in ("0.5.9", "0.5.11"):
        wheel(version)
    (folder / "cache").mkdir()
    (folder / "cache" / "wheels").symlink_to(cache_folder())
    return folder


def _call(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = _start(command, folder, **variables)
    assert done.returncode == 0, done.stderr
    return done


def _start(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SGLANG_", "PYTHON"))}
    return subprocess.run(
        command,
        cwd=folder,
        env={**kept, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )


def _analyzer(environment: Path, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(environment / "venv" / "bin" / "analyzer"), *arguments]
    return _start(command, folder, SGLANG_ANALYZER_CACHE=str(environment / "cache"), **variables)


def test_exit_codes(environment: Path, tmp_path: Path) -> None:
    def code(*arguments: str) -> int:
        done = _analyzer(environment, tmp_path, *arguments, "--source", "pypi")
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1) or done.stderr.splitlines()[-1].startswith("analyzer: error: ")
        return done.returncode

    assert code("diff", "v0.5.9", "v0.5.9") == 0
    assert code("diff", "v0.5.9", "v0.5.11") == 1
    assert code("diff", "v0.5.9", "v0.5.11", "--fail-on", "lost") == 0
    assert code("diff", "v0.5.9", "main") == 2
    assert code("diff", "v0.5.9", "v0.5.11", "--scenario", "mlaa") == 2
    empty = tmp_path / "copy"
    (empty / "sglang" / "srt").mkdir(parents=True)
    (empty / "sglang" / "srt" / "server.py").write_text("")
    assert code("diff", str(empty), "v0.5.11") == 3
    assert code("diff", "v0.5.11", str(empty)) == 1


def test_every_format_and_the_baseline(environment: Path, tmp_path: Path) -> None:
    formats = ("text", "json", "sarif", "markdown", "github")
    files = {name: tmp_path / f"report.{name}" for name in formats}
    outputs = [part for name in formats for part in ("--format", name)]
    outputs += [part for name in formats for part in ("-o", str(files[name]))]
    refs = ("diff", "v0.5.9", "v0.5.11", "--source", "pypi")
    done = _analyzer(environment, tmp_path, *refs, *outputs)
    assert (done.returncode, done.stdout) == (1, "")
    report: dict[str, Any] = json.loads(files["json"].read_text())
    Draft202012Validator(schema("diff")).validate(report)
    validate(json.loads(files["sarif"].read_text()))
    assert report["verdict"] in files["text"].read_text().splitlines()[1] + files["text"].read_text().splitlines()[2]
    assert files["markdown"].read_text().startswith(f"## KV-cache sizing of SGLang: {report['verdict']}")
    assert all(line.startswith("::") for line in files["github"].read_text().splitlines())
    again = _analyzer(environment, tmp_path, *refs, "--baseline", str(files["json"]), "--format", "json")
    accepted = json.loads(again.stdout)
    Draft202012Validator(schema("diff")).validate(accepted)
    assert again.returncode == 0
    assert len(accepted["accepted"]) == len(report["changes"])


def test_a_gate_by_effect(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text(_SERVER)
    limit = ("--fail-if", "max_total_num_tokens < -1%", "--format", "json")
    done = _analyzer(environment, tmp_path, "diff", "v0.5.11", "v0.5.13", "--source", "pypi", *limit)
    report = json.loads(done.stdout)
    Draft202012Validator(schema("diff")).validate(report)
    [effect] = report["effects"]
    assert effect["before"]["value"] == effect["after"]["value"] == 159294
    assert (report["verdict"], done.returncode) == ("semantic", 0)


def test_a_wheel_a_folder_and_the_installed_package_are_sides(environment: Path, tmp_path: Path) -> None:
    """All of them hold the same release, so that nothing differs from it."""
    archive, copy = wheel("0.5.9"), tmp_path / "copy"
    with zipfile.ZipFile(archive) as content:
        content.extractall(copy)
    for side in (str(archive), str(copy), "INSTALLED"):
        refs = ("diff", "v0.5.9", side, "--source", "pypi", "--format", "json")
        done = _analyzer(environment, tmp_path, *refs, PYTHONPATH=str(copy))
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert (report["verdict"], report["head"]["ref"]) == ("identical", side)
        assert side == str(copy) or report["head"]["version"] == "0.5.9"


def test_what_is_installed_need_not_be_there(environment: Path, tmp_path: Path) -> None:
    done = _analyzer(environment, tmp_path, "show", "INSTALLED")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sglang is not installed in this environment" in done.stderr
