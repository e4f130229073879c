"""The steps of the composite action, run as the runner runs them, on a repository that moves to another SGLang."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.releases import cache_folder, wheel

_ROOT: Final = Path(__file__).resolve().parents[2]
_FOLDER: Final = _ROOT / ".github" / "actions" / "sglang-memory-diff"
_ACTION: Final[dict[str, Any]] = yaml.safe_load((_FOLDER / "action.yml").read_text())
_STEPS: Final = {step["name"]: step for step in _ACTION["runs"]["steps"]}
_EXPRESSION: Final = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_SECONDS: Final = 600

# A stand-in for GitHub's program: it writes down what it was asked, and answers with what it knows.
_GH: Final = """#!/usr/bin/env bash
printf '%s\\n' "$*" >>"$GH_LOG"
for argument in "$@"; do
  case "$argument" in body=@*) cat "${argument#body=@}" >"$GH_LOG.body" ;; esac
done
case "$*" in
  *graphql*) printf '%s' "$GH_LOGIN" ;;
  *--jq*) printf '%s' "$GH_COMMENTS" | jq -r "${@: -1}" ;;
esac
"""


@dataclass
class Runner:
    """What a run of the action's steps has: a repository, a temporary folder, and the outputs of the steps."""

    repository: Path
    temporary: Path
    inputs: dict[str, str]
    comments: list[dict[str, Any]] = field(default_factory=list)
    login: str = "github-actions[bot]"
    default_branch: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run one step with the shell that the runner uses for ``shell: bash``."""
        step = _STEPS[name]
        variables = {key: self._evaluate(str(value)) for key, value in step.get("env", {}).items()}
        output, summary = self.temporary / "output", self.temporary / "summary.md"
        output.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.repository,
            env={
                **os.environ,
                **variables,
                "RUNNER_TEMP": str(self.temporary),
                "GITHUB_ACTION_PATH": str(_FOLDER),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_REPOSITORY": "team/deployment",
                "PATH": f"{self.temporary / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "GH_LOG": str(self.temporary / "gh.log"),
                "GH_COMMENTS": json.dumps(self.comments),
                "GH_LOGIN": self.login,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done

    def _evaluate(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, expression: str) -> str:
        """The value of the few expressions that the steps use."""
        if expression.startswith("inputs."):
            name = expression.removeprefix("inputs.")
            return self.inputs.get(name, str(_ACTION["inputs"][name].get("default", "")))
        if expression.startswith("steps.compare.outputs."):
            return self.outputs.get(expression.rpartition(".")[2], "")
        return {
            "github.event.pull_request.number": "7",
            "github.event.repository.default_branch": self.default_branch,
        }[expression]


def _git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner's temporary folder after the first step."""
    temporary = tmp_path_factory.mktemp("runner")
    done = Runner(temporary, temporary, {}).run("Install the analyzer")
    assert done.returncode == 0, done.stderr
    return temporary


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that has the wheels which the other tests have fetched."""
    folder = tmp_path_factory.getbasetemp() / "action-cache"
    folder.mkdir(exist_ok=True)
    if not (folder / "wheels").exists():
        (folder / "wheels").symlink_to(cache_folder())
    monkeypatch.setenv("SGLANG_ANALYZER_CACHE", str(folder))
    for name in ("SGLANG_REPO", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def _bump(folder: Path, old: str, new: str) -> Path:
    """A repository whose last commit moves from `old` to `new`."""
    for version in (old, new):
        wheel(version)
    folder.mkdir()
    _git(folder, "init", "-q")
    for version in (old, new):
        (folder / "requirements.txt").write_text(f"torch\nsglang[all]=={version}\n")
        _git(folder, "add", ".")
        _git(folder, "commit", "-q", "--allow-empty", "-m", f"Pin {version}")
    return folder


def _runner(tmp_path: Path, installed: Path, old: str, new: str, **inputs: str) -> Runner:
    binaries = installed / "bin"
    binaries.mkdir(exist_ok=True)
    (binaries / "gh").write_text(_GH)
    (binaries / "gh").chmod(0o755)
    for name in ("gh.log", "gh.log.body", "summary.md"):
        (installed / name).unlink(missing_ok=True)
    repository = _bump(tmp_path / "repository", old, new)
    return Runner(repository, installed, {"file": "requirements.txt", "base": "HEAD~1", **inputs})


@pytest.mark.releases
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("old", "new"), [("0.5.9", "0.5.11"), ("0.5.11", "0.5.13")])
def test_a_bump_fails_until_it_is_accepted(old: str, new: str, tmp_path: Path, installed: Path) -> None:
    runner = _runner(tmp_path, installed, old, new)
    compared = runner.run("Compare")
    assert compared.returncode == 0, compared.stderr
    assert runner.outputs["code"] == "1"
    assert runner.outputs["verdict"] == "semantic"
    annotations = compared.stdout.splitlines()
    assert all(re.match(r"::(notice|warning|error) file=requirements.txt,line=2,title=", line) for line in annotations)
    summary = (installed / "summary.md").read_text()
    assert summary.startswith("## KV-cache sizing of SGLang: semantic")
    assert f"v{new}" in summary
    assert json.loads(Path(runner.outputs["sarif"]).read_text())["version"] == "2.1.0"
    assert runner.run("Verdict").returncode == 1
    accepted = runner.repository / "accepted.json"
    accepted.write_text(Path(runner.outputs["json"]).read_text())
    runner.inputs["baseline"] = "accepted.json"
    assert runner.run("Compare").returncode == 0
    assert runner.outputs["code"] == "0"
    assert runner.run("Verdict").returncode == 0


@pytest.mark.releases
@pytest.mark.usefixtures("cache")
def test_the_comment_is_written_once_and_then_renewed(tmp_path: Path, installed: Path) -> None:
    runner = _runner(tmp_path, installed, "0.5.9", "0.5.9", **{"fail-on": "semantic"})
    assert runner.run("Compare").returncode == 0
    assert runner.outputs["verdict"] == "identical"
    assert runner.run("Comment").returncode == 0
    mark = "<!-- sglang-memory-diff -->"
    runner.comments = [
        {"id": 40, "user": {"login": "mallory"}, "body": f"{mark}\n## KV-cache sizing of SGLang: identical"},
        {"id": 41, "user": {"login": "github-actions[bot]"}, "body": "another report"},
        {"id": 42, "user": {"login": "github-actions[bot]"}, "body": f"{mark}\n## KV-cache sizing of SGLang: lost"},
    ]
    assert runner.run("Comment").returncode == 0
    calls = (installed / "gh.log").read_text().splitlines()
    written = [call for call in calls if "--method" in call]
    assert "--method POST repos/team/deployment/issues/7/comments" in written[0]
    assert "--method PATCH repos/team/deployment/issues/comments/42" in written[1]
    # A token that cannot say whose it is, is taken for that of the workflow; another user's comments are not its own.
    for login, expected in (("", "PATCH repos/team/deployment/issues/comments/42"), ("releaser", "POST")):
        runner.login = login
        assert runner.run("Comment").returncode == 0
        assert f"--method {expected}" in (installed / "gh.log").read_text().splitlines()[-1]
    body = (installed / "gh.log.body").read_text()
    assert body.startswith("<!-- sglang-memory-diff -->\n## KV-cache sizing of SGLang: identical")


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "inputs",
    [
        {"file": "absent.txt"},
        {"file": "$(touch hacked).txt"},
        {"file": "--pins"},
        {"base": "no-such-revision"},
        {"base": "--upload-pack=touch hacked"},
        {"fail-on": "semantic; touch hacked"},
    ],
)
@pytest.mark.releases
def test_a_wrong_or_hostile_input_is_an_error_and_no_command(
    inputs: dict[str, str], tmp_path: Path, installed: Path
) -> None:
    runner = _runner(tmp_path, installed, "0.5.9", "0.5.9", **inputs)
    compared = runner.run("Compare")
    assert compared.returncode not in (0, 1)
    assert not list(runner.repository.glob("hacked*"))


@pytest.mark.releases
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("base", ["", "0" * 40], ids=["a schedule", "a new branch"])
def test_an_event_without_a_base_is_compared_with_the_default_branch(
    base: str, tmp_path: Path, installed: Path
) -> None:
    runner = _runner(tmp_path, installed, "0.5.9", "0.5.11", base=base)
    compared = runner.run("Compare")
    assert compared.returncode == 2
    assert compared.stdout.startswith("::error title=SGLang memory diff::The event names no revision to compare with")
    assert compared.stderr == ""
    origin = tmp_path / "origin"
    subprocess.run(["git", "clone", "-q", str(runner.repository), str(origin)], check=True)
    _git(origin, "checkout", "-q", "-B", "trunk", "HEAD~1")
    _git(runner.repository, "remote", "add", "origin", str(origin))
    runner.default_branch = "trunk"
    compared = runner.run("Compare")
    assert compared.returncode == 0, compared.stderr
    assert runner.outputs["verdict"] == "semantic"


def test_no_step_has_an_expression_in_its_script() -> None:
    assert not any("${{" in step["run"] for step in _STEPS.values())
    assert all(step["shell"] == "bash" for step in _STEPS.values())


def test_our_workflow_uses_the_action_and_its_inputs_exist() -> None:
    workflow = yaml.safe_load((_ROOT / ".github" / "workflows" / "sglang-memory.yml").read_text())
    [step] = [s for s in workflow["jobs"]["diff"]["steps"] if s.get("uses") == "./.github/actions/sglang-memory-diff"]
    assert set(step["with"]) <= set(_ACTION["inputs"])
    assert (_ROOT / step["with"]["file"]).is_file()


def test_every_output_comes_from_the_step_that_writes_it() -> None:
    written = set(re.findall(r'echo "(\w+)=', _STEPS["Compare"]["run"]))
    for output in _ACTION["outputs"].values():
        found = re.fullmatch(r"\$\{\{ steps\.compare\.outputs\.(\w+) \}\}", output["value"])
        assert found is not None
        assert found[1] in written


def test_the_pre_commit_hook_calls_a_command_that_exists() -> None:
    [hook] = yaml.safe_load((_ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split()[:2] == ["analyzer", "diff"]
    for name in ("requirements.txt", "constraints-gpu.txt", "pyproject.toml", "uv.lock", "deploy/Dockerfile"):
        assert re.search(hook["files"], name)


def test_the_gitlab_example_is_yaml_with_a_job() -> None:
    jobs = yaml.safe_load((_ROOT / "examples" / "gitlab-ci.yml").read_text())
    assert any("analyzer diff --pins" in line for line in jobs["sglang-memory"]["script"])
