"""What a repository may never make us do: execute, fetch or write anything."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.adapters.git import WORKTREE, GitRepository, find_clone
from analyzer.domain.errors import AnalyzerError, MissingBlobError, RepositoryError

Git = Callable[..., str]
State = Callable[[Path], object]

RUNNER = "sglang/srt/model_executor/model_runner.py"
SPECS = ("v0.4.0", "v0.4", "main", "HEAD~1", "f" * 40, "nonsense", ":/v0.3", "main@{1}", WORKTREE)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


def use_everything(path: Path) -> None:
    """Call every method, on refs of every kind; what cannot be resolved or read is no matter."""
    find_clone(path)
    with GitRepository(path) as repository:
        repository.releases()
        for spec in SPECS:
            try:
                tree = repository.tree(repository.resolve(spec))
                for name in tree.paths():
                    tree.blob(name)
                    tree.read(name)
            except AnalyzerError:
                continue


@pytest.fixture
def hostile(source: Path, tmp_path: Path, git: Git) -> Path:
    """A clone whose configuration and hooks create a marker file whenever git executes them."""
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'marker'}\n")
    trap.chmod(0o755)
    hooks = source / ".git/hooks"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
        shutil.copy(trap, hooks / name)
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.gitProxy", "core.askPass"),
        *("core.alternateRefsCommand", "credential.helper", "diff.external", "diff.x.textconv", "filter.x.smudge"),
        *("filter.x.process", "gpg.program", "pager.ls-tree", "pager.for-each-ref", "uploadpack.packObjectsHook"),
    ):
        git(source, "config", key, str(trap))
    for alias in ("cat-file", "ls-tree", "rev-parse", "for-each-ref", "rev-list"):
        git(source, "config", f"alias.{alias}", f"!{trap}")
    git(source, "config", "core.hooksPath", str(hooks))
    git(source, "config", "log.showSignature", "true")
    (source / ".gitattributes").write_text("*.py diff=x filter=x\n")
    (tmp_path / "marker").unlink(missing_ok=True)
    return source


def test_nothing_of_a_hostile_configuration_runs(hostile: Path, tmp_path: Path) -> None:
    use_everything(hostile)
    assert not (tmp_path / "marker").exists()


@pytest.fixture
def hostile_partial(source: Path, tmp_path: Path, git: Git) -> Callable[[str], Path]:
    """A partial clone of which every way to its remote creates a marker file."""
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'marker'}\n")
    trap.chmod(0o755)
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", source.as_uri(), str(clone))

    def point_to(url: str) -> Path:
        git(clone, "config", "remote.origin.url", url.format(trap=trap, source=source))
        for key in ("remote.origin.uploadpack", "core.sshCommand", "core.gitProxy", "credential.helper"):
            git(clone, "config", key, str(trap))
        for protocol in ("ext", "ssh", "file", "git", "helper"):
            git(clone, "config", f"protocol.{protocol}.allow", "always")
        return clone

    return point_to


URLS = ("ext::{trap}", "ssh://example.invalid/x", "file://{source}", "{source}", "git://example.invalid/x")


@pytest.mark.parametrize("url", [*URLS, "helper::x"])
def test_no_transport_of_a_hostile_promisor_runs(
    hostile_partial: Callable[[str], Path], tmp_path: Path, url: str
) -> None:
    use_everything(hostile_partial(url))
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("url", URLS)
def test_the_promisor_trap_works(hostile_partial: Callable[[str], Path], tmp_path: Path, git: Git, url: str) -> None:
    with contextlib.suppress(subprocess.CalledProcessError):
        git(hostile_partial(url), "cat-file", "-p", f"v0.3.0:python/{RUNNER}")
    assert (tmp_path / "marker").exists()


def test_the_trap_works(hostile: Path, tmp_path: Path, git: Git) -> None:
    with contextlib.suppress(subprocess.CalledProcessError):
        git(hostile, "status")
    assert (tmp_path / "marker").exists()


def test_nothing_is_written(source: Path, state_of: State) -> None:
    # A work tree whose files are newer than the index tempts git to refresh the index.
    for path in source.rglob("*.py"):
        path.touch()
    before = state_of(source)
    use_everything(source)
    assert state_of(source) == before


@pytest.fixture
def partial(source: Path, tmp_path: Path, git: Git) -> Path:
    """A bare clone without the content of any file."""
    clone = tmp_path / "par tial"
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", source.as_uri(), str(clone))
    return clone


def test_missing_blob_names_the_command_that_helps(partial: Path, git: Git, state_of: State) -> None:
    before = state_of(partial)
    with GitRepository(partial) as repository:
        tree = repository.tree(repository.resolve("v0.3.0"))
        with pytest.raises(MissingBlobError) as caught:
            tree.read(RUNNER)
    use_everything(partial)
    assert state_of(partial) == before

    commit = git(partial, "rev-parse", "v0.3.0")
    assert str(caught.value) == (
        f"this partial clone lacks the content of python/{RUNNER} ({partial}); "
        f"run `git -C '{partial}' fetch --refetch --no-filter origin {commit}`"
    )
    git(partial, *caught.value.hint.split("' ")[1].rstrip("`").split())
    with GitRepository(partial) as repository:
        file = repository.tree(repository.resolve("v0.3.0")).read(RUNNER)
    assert file is not None
    assert file.content == b"x = 0.3\n"


def test_missing_folders_name_the_command_that_helps(source: Path, tmp_path: Path, git: Git) -> None:
    clone = tmp_path / "treeless"
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=tree:0", source.as_uri(), str(clone))
    with GitRepository(clone) as repository:
        revision = repository.resolve("v0.3.0")
        with pytest.raises(MissingBlobError, match=r"lacks the folders.*fetch --refetch --no-filter origin"):
            repository.tree(revision)


def test_remote_name_cannot_inject_into_the_hint(partial: Path) -> None:
    config = partial / "config"
    config.write_text(config.read_text().replace('"origin"', '"$(touch x)"'))
    with GitRepository(partial) as repository:
        tree = repository.tree(repository.resolve("v0.3.0"))
        with pytest.raises(MissingBlobError) as caught:
            tree.read(RUNNER)
    assert "touch" not in str(caught.value)


def test_own_clone_fetches_the_runtime_at_once(source: Path, partial: Path) -> None:
    with GitRepository(partial, may_fetch=True) as repository:
        tree = repository.tree(repository.resolve("v0.5.0"))
        assert tree.read(RUNNER) is not None
        shutil.rmtree(source)
        assert tree.read("sglang/srt/new.py") is not None


def test_damaged_blob_is_not_believed(source: Path, git: Git) -> None:
    blob = git(source, "rev-parse", f"v0.4.0:python/{RUNNER}")
    path = source / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    path.write_bytes(zlib.compress(b"blob 8\0x = 9.9\n"))
    with GitRepository(source) as repository:
        tree = repository.tree(repository.resolve("v0.4.0"))
        with pytest.raises(RepositoryError, match=r"does not match its id|git cannot read a file"):
            tree.read(RUNNER)


def test_replaced_object_is_not_read(source: Path, git: Git) -> None:
    old, new = (git(source, "rev-parse", f"{tag}:python/{RUNNER}") for tag in ("v0.3.0", "v0.5.0"))
    git(source, "replace", old, new)
    with GitRepository(source) as repository:
        file = repository.tree(repository.resolve("v0.3.0")).read(RUNNER)
    assert file is not None
    assert file.content == b"x = 0.3\n"


@as_root
def test_repository_of_another_user(source: Path, state_of: State) -> None:
    for path in (source, *source.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    before = state_of(source)
    assert find_clone(source) == source
    with GitRepository(source) as repository:
        assert repository.tree(repository.resolve("v0.4")).read(RUNNER) is not None
    assert state_of(source) == before


def test_surrounding_git_command_does_not_redirect(
    source: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hook").mkdir()
    git(tmp_path / "hook", "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "hook/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "hook/.git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "hook/.git/objects"))
    with GitRepository(source) as repository:
        assert repository.resolve("v0.4.0").version == "0.4.0"


def test_git_is_not_installed(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RepositoryError, match="git is not installed; install git"):
        GitRepository(source)
    assert find_clone(source) is None
