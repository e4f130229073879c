"""Our own workflows: what they use is pinned, no text of others becomes a script, and the scripts do what they say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

_ROOT: Final = Path(__file__).resolve().parents[2]
_FOLDER: Final = _ROOT / ".github" / "workflows"
_FILES: Final = sorted(_FOLDER.glob("*.yml"))
_PINNED: Final = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")

# A stand-in that writes down its arguments, and a file where the program would write one.
_PROGRAM: Final = """#!/usr/bin/env bash
printf '%s\\n' "$(basename "$0") $*" >>"$CALLS"
if [ "$(basename "$0") $1" = "analyzer snapshot" ]; then
  for tag in "${@:2}"; do case "$tag" in v*) echo '{}' >"snapshots/$tag.json" ;; esac; done
fi
if [ "$1" = diff ]; then echo "## verdict"; exit 1; fi
"""


def _steps(name: str) -> list[dict[str, Any]]:
    workflow = yaml.safe_load((_FOLDER / name).read_text())
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_every_action_is_pinned_or_says_why_not(file: Path) -> None:
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines):
        if "uses:" in line and "uses: ./" not in line:
            assert _PINNED.search(line) or "By major version" in lines[number - 1], line


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_scripts_have_no_expressions_and_jobs_few_rights(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text())
    assert "permissions" in workflow
    assert all("${{" not in step.get("run", "") for step in _steps(file.name))


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A clone of our repository, an SGLang with tags, and stand-ins for the programs that the steps call."""
    for name in ("sglang", "origin", "bin", "temporary"):
        (tmp_path / name).mkdir()
    _git(tmp_path / "sglang", "init", "-q")
    _git(tmp_path / "sglang", "commit", "-q", "--allow-empty", "-m", "x")
    for tag in ("v0.5.8", "v0.5.9", "v0.5.9.post1", "v0.5.10", "v0.5.10rc0", "nightly", "v1.0.0$(touch-hacked)"):
        _git(tmp_path / "sglang", "tag", tag)
    _git(tmp_path / "origin", "init", "-q", "--bare")
    _git(tmp_path, "clone", "-q", "origin", "clone")
    (tmp_path / "clone" / "snapshots").mkdir()
    (tmp_path / "clone" / "snapshots" / "README.md").write_text("")
    for name in ("analyzer", "gh", "touch-hacked"):
        (tmp_path / "bin" / name).write_text(_PROGRAM)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def _run(here: Path) -> tuple[dict[str, str], list[str]]:
    """The outputs of the step that finds releases, and what the others called."""
    outputs: dict[str, str] = {}
    output = here / "output"
    for step in _steps("snapshots.yml"):
        if "run" not in step or step["name"] == "Install" or (step.get("if") and not outputs["new"]):
            continue
        output.write_text("")
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=here / "clone",
            env={
                **os.environ,
                "SGLANG": str(here / "sglang"),
                "KNOWN": outputs.get("known", ""),
                "NEW": outputs.get("new", ""),
                "GITHUB_OUTPUT": str(output),
                "RUNNER_TEMP": str(here / "temporary"),
                "CALLS": str(here / "calls"),
                "PATH": f"{here / 'bin'}{os.pathsep}{os.environ['PATH']}",
            },
            check=True,
            capture_output=True,
        )
        outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
    calls = here / "calls"
    return outputs, calls.read_text().splitlines() if calls.exists() else []


@pytest.mark.parametrize(
    ("known", "new"),
    [("v0.5.8", "v0.5.9 v0.5.9.post1 v0.5.10"), ("v0.5.9.post1", "v0.5.10"), ("v0.5.10", ""), ("", "v0.5.10")],
)
def test_releases_that_are_newer_than_the_newest_are_found(known: str, new: str, here: Path) -> None:
    if known:
        (here / "clone" / "snapshots" / f"{known}.json").write_text("{}")
    outputs, calls = _run(here)
    assert outputs == {"known": known, "new": new}
    assert bool(calls) is bool(new)
    assert not any("hacked" in call for call in calls)


def test_new_snapshots_are_proposed_once(here: Path) -> None:
    (here / "clone" / "snapshots" / "v0.5.9.json").write_text("{}")
    _git(here / "clone", "add", ".")
    _git(here / "clone", "commit", "-q", "-m", "x")
    _, calls = _run(here)
    assert calls[0] == "analyzer snapshot v0.5.9.post1 v0.5.10 --compare --source git -o snapshots"
    assert calls[1] == "analyzer diff v0.5.9 v0.5.10 --source snapshot --format markdown"
    assert calls[2].startswith(
        "gh pr create --head snapshots/v0.5.10 --title Add the snapshots of v0.5.9.post1, v0.5.10"
    )
    assert (here / "temporary" / "body.md").read_text().endswith("## verdict\n")
    changed = _git(here / "origin", "show", "--name-only", "--format=", "snapshots/v0.5.10").splitlines()
    assert changed == ["snapshots/v0.5.10.json", "snapshots/v0.5.9.post1.json"]
    _git(here / "clone", "switch", "-q", "-")
    _, calls = _run(here)
    assert [call.split()[0] for call in calls] == ["analyzer", "analyzer", "gh", "analyzer", "analyzer"]


@pytest.mark.parametrize(
    ("tag", "version", "changelog", "agrees"),
    [
        ("v1.2.0", "1.2.0", "## [1.2.0] - 2030-01-01", True),
        ("v1.2.1", "1.2.0", "## [1.2.0]", False),
        ("v1.2.0", "1.2.0", "## [Unreleased]", False),
    ],
)
def test_a_tag_is_published_only_when_it_agrees(
    tag: str,
    version: str,
    changelog: str,
    agrees: bool,  # noqa: FBT001 - a column of the table
    tmp_path: Path,
) -> None:
    [step] = [step for step in _steps("publish.yml") if step.get("name", "").startswith("Compare the tag")]
    ours = (_ROOT / "analyzer" / "__init__.py").read_text()
    assert re.search(r'^__version__.*= ".*"$', ours, re.MULTILINE)
    (tmp_path / "analyzer").mkdir()
    (tmp_path / "analyzer" / "__init__.py").write_text(re.sub(r'= ".*"$', f'= "{version}"', ours, flags=re.MULTILINE))
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, "TAG": tag},
        check=False,
        capture_output=True,
    )
    assert (done.returncode == 0) is agrees
