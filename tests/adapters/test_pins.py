"""The version that a file pins, whatever kind of file it is; anything but one version is an error that says why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analyzer.adapters.pins import read_pin
from analyzer.domain.errors import UsageError
from analyzer.domain.pin import Pin

_COMMIT = "bbe9c7eeb520b0a67e92d133dfc137a3688dc7f2"
_POETRY = """
[[package]]
name = "sglang-router"
version = "9.9"

[[package]]
name = "sglang"
version = "0.5.9"
"""

PINNED = {
    "requirements.txt": "torch\nsglang==0.5.9\n",
    "constraints-gpu.txt": "# sglang==0.4.0\nSGLang[all] == 0.5.9 ; python_version >= '3.10'  # why\n",
    "requirements/prod.in": "sglang===0.5.9 \\\n    --hash=sha256:abc \\\n    --hash=sha256:def\n",
    "hashed.txt": "sglang==0.5.9 --hash=sha256:abc\nsglang-router==0.2\nnot-sglang==1\n",
    "git.txt": "sglang[srt] @ git+https://github.com/sgl-project/sglang.git@v0.5.9#subdirectory=python\n",
    "editable.txt": "-r other.txt\n-e git+https://github.com/sgl-project/sglang@v0.5.9#egg=sglang&subdirectory=python\n",
    "wheel.txt": "sglang @ https://files.example/sglang-0.5.9-py3-none-any.whl\n",
    "pyproject.toml": "[project]\ndependencies = ['torch', 'sglang[all]==0.5.9']\n",
    "a/pyproject.toml": (
        "[project.optional-dependencies]\ngpu = ['sglang==0.5.9']\n[dependency-groups]\nx = [{include-group = 'y'}]\n"
    ),
    "b/pyproject.toml": "[dependency-groups]\nserve = ['sglang==0.5.9']\n",
    "c/pyproject.toml": "[tool.poetry.dependencies]\npython = '^3.11'\nsglang = '0.5.9'\n",
    "d/pyproject.toml": "[tool.poetry.group.gpu.dependencies]\nsglang = {version = '==0.5.9', extras = ['all']}\n",
    "e/pyproject.toml": (
        "[project]\ndependencies = ['sglang']\n"
        "[tool.uv.sources]\nsglang = {git = 'https://github.com/sgl-project/sglang', tag = 'v0.5.9'}\n"
    ),
    "uv.lock": "version = 1\n" + _POETRY.replace("[[package]]", "[[package]]", 1),
    "poetry.lock": _POETRY,
    "pylock.toml": _POETRY.replace("[[package]]", "[[packages]]"),
    "pylock.prod.toml": _POETRY.replace("[[package]]", "[[packages]]"),
    "Pipfile.lock": '{"default": {"sglang": {"version": "==0.5.9"}}, "develop": {}}',
    "Dockerfile": "FROM lmsysorg/sglang:v0.5.9-cu126 AS base\nRUN echo sglang\n",
    "serve.Dockerfile": (
        "# FROM lmsysorg/sglang:v0.4.0\nARG VERSION=v0.5.9\nFROM docker.io/lmsysorg/sglang:${VERSION}-rocm630\n"
    ),
    "Containerfile": "ARG V=0.5.9\nFROM python:3.11\nRUN pip install 'sglang[all]==${V}'\n",
    "default.Dockerfile": "ARG TAG\nFROM lmsysorg/sglang:${TAG:-v0.5.9}\n",
    "g/pyproject.toml": "[tool.poetry]\nname = 'x'\n\n[tool.poetry.dependencies.sglang]\nversion = '0.5.9'\n",
    "h/pyproject.toml": "[tool.poetry]\nname = 'x'\n\n[tool.poetry.group.gpu.dependencies]\nsglang='0.5.9'\n",
    "compose.yaml": 'services:\n  x:\n    image: "lmsysorg/sglang:v0.5.9"\n',
    "twice.txt": "sglang==0.5.9\nsglang[all]==0.5.9; sys_platform == 'linux'\n",
}

REFUSED = {
    "range.txt": ("sglang>=0.5.9\n", "line 1: >=0.5.9 is not one version"),
    "open.txt": ("torch\nsglang\n", "line 2: any version is not one version"),
    "star.txt": ("sglang==0.5.*\n", "is not one version"),
    "none.txt": ("torch==2.0\n", "no version of sglang is pinned"),
    "includes.txt": ("torch==2\n-r other.txt\n", "give the one of them that pins it: other.txt"),
    "empty.txt": ("", "no version of sglang is pinned"),
    "two.txt": ("sglang==0.5.9\nsglang==0.5.10\n", "v0.5.10 in line 2, v0.5.9 in line 1"),
    "pyproject.toml": ("[tool.poetry.dependencies]\nsglang = '^0.5.9'\n", "^0.5.9 is not one version"),
    "broken/pyproject.toml": ("[project\n", "cannot be read"),
    "Pipfile.lock": ("{", "cannot be read"),
    "Dockerfile": ("FROM lmsysorg/sglang:latest\n", "the tag 'latest' names no version"),
    "digest.Dockerfile": ("FROM lmsysorg/sglang@sha256:abc\n", "no version of sglang is pinned"),
    "hostile.txt": ("sglang==\x1b[31m1\n", "no version of sglang is pinned"),
}


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", PINNED)
def test_a_pin_is_found(name: str, tmp_path: Path) -> None:
    path = _write(tmp_path, name, PINNED[name])
    found = read_pin(str(path))
    assert found.ref == "v0.5.9"
    assert "0.5.9" in PINNED[name].splitlines()[found.line - 1] or "sglang" in PINNED[name].splitlines()[found.line - 1]


@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_one_clear_line(name: str, tmp_path: Path) -> None:
    text, said = REFUSED[name]
    path = _write(tmp_path, name, text)
    with pytest.raises(UsageError) as caught:
        read_pin(str(path))
    assert said in str(caught.value)
    assert "\x1b" not in caught.value.what


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("git.txt", f"sglang @ git+https://token@github.com/sgl-project/sglang.git@{_COMMIT}#subdirectory=python\n"),
        (
            "uv.lock",
            f'[[package]]\nname = "sglang"\nsource = {{ git = "https://github.com/sgl-project/sglang#{_COMMIT}" }}\n',
        ),
        (
            "poetry.lock",
            f'[[package]]\nname = "sglang"\nversion = "0.5.9"\n[package.source]\nresolved_reference = "{_COMMIT}"\n',
        ),
        ("pylock.toml", f'[[packages]]\nname = "sglang"\n[packages.vcs]\ncommit-id = "{_COMMIT}"\n'),
    ],
)
def test_a_commit_goes_before_the_version_it_calls_itself(name: str, text: str, tmp_path: Path) -> None:
    assert read_pin(str(_write(tmp_path, name, text))).ref == _COMMIT


def _git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_two_revisions_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(tmp_path, "init", "-q")
    for version in ("0.5.9", "0.5.11"):
        _write(tmp_path, "deploy/requirements.txt", f"sglang=={version}\n")
        _git(tmp_path, "add", ".")
        _git(tmp_path, "commit", "-qm", version)
    monkeypatch.chdir(tmp_path / "deploy")
    assert read_pin("HEAD~1:deploy/requirements.txt") == Pin(
        "v0.5.9", "HEAD~1:deploy/requirements.txt", "deploy/requirements.txt", 1
    )
    assert read_pin("HEAD:./requirements.txt").ref == "v0.5.11"
    _write(tmp_path, "deploy/requirements.txt", "sglang==0.5.13\n")
    assert read_pin(":deploy/requirements.txt").ref == "v0.5.11"
    assert read_pin("requirements.txt").ref == "v0.5.13"
    for wrong in ("HEAD:absent.txt", "nowhere:deploy/requirements.txt", "--output=x:y", ":", "HEAD:"):
        with pytest.raises(UsageError) as caught:
            read_pin(wrong)
        assert "\n" not in str(caught.value)
