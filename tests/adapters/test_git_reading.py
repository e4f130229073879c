"""The files of a revision, from every kind of clone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.adapters import content
from analyzer.adapters.git import WORKTREE, GitRepository, find_clone
from analyzer.domain.errors import RepositoryError, UsageError

Git = Callable[..., str]
Make = Callable[..., Path]

RUNNER = "sglang/srt/model_executor/model_runner.py"


def read(path: Path, spec: str, name: str = RUNNER) -> bytes | None:
    """The content of one file through a fresh repository."""
    with GitRepository(path) as repository:
        file = repository.tree(repository.resolve(spec)).read(name)
        return file.content if file else None


def test_tree_of_a_release(source: Path, git: Git) -> None:
    with GitRepository(source) as repository:
        tree = repository.tree(repository.resolve("v0.4.0"))
        assert tree.paths() == ["sglang/__init__.py", RUNNER]
        assert tree.revision.version == "0.4.0"
        blob = git(source, "rev-parse", f"v0.4.0:python/{RUNNER}")
        assert tree.blob(RUNNER) == blob
        file = tree.read(RUNNER)
        assert file is not None
        assert (file.path, file.blob, file.content) == (RUNNER, blob, b"x = 0.4\n")
        assert tree.display_path(RUNNER) == f"python/{RUNNER}"
        assert tree.read("sglang/srt/new.py") is None
        assert tree.blob("sglang/srt/new.py") is None


def test_package_at_the_top(make_repository: Make) -> None:
    source = make_repository({"v1.0": {RUNNER: "top\n"}})
    assert read(source, "v1.0") == b"top\n"
    with GitRepository(source) as repository:
        assert repository.tree(repository.resolve("v1.0")).display_path(RUNNER) == RUNNER


def test_bytes_are_kept(make_repository: Make) -> None:
    raw = b"\xef\xbb\xbfx = '\xff\xfe'\r\n"
    source = make_repository({"v1.0": {f"python/{RUNNER}": raw, "python/sglang/srt/empty.py": b""}})
    assert read(source, "v1.0") == raw
    assert read(source, "v1.0", "sglang/srt/empty.py") == b""


def test_names_that_are_not_utf8(make_repository: Make, git: Git) -> None:
    source = make_repository({"v1.0": {f"python/{RUNNER}": "x\n"}})
    name = os.fsdecode(b"caf\xe9\n.py")
    (source / "python/sglang/srt" / name).write_text("odd\n")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "odd")
    with GitRepository(source) as repository:
        tree = repository.tree(repository.resolve("HEAD"))
        odd = next(path for path in tree.paths() if "caf" in path)
        odd.encode()
        assert tree.display_path(odd).isprintable()
        file = tree.read(odd)
        assert file is not None
        assert file.content == b"odd\n"


def test_links_and_other_files_are_left_out(source: Path, git: Git) -> None:
    (source / "python/sglang/srt/link.py").symlink_to("/etc/passwd")
    (source / "python/sglang/srt/notes.txt").write_text("no source\n")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "link")
    with GitRepository(source) as repository:
        paths = repository.tree(repository.resolve("HEAD")).paths()
    assert paths == ["sglang/__init__.py", RUNNER, "sglang/srt/new.py"]


def test_huge_file_is_refused(source: Path, git: Git) -> None:
    (source / "python/sglang/srt/huge.py").write_bytes(b"#" * (content.MAX_FILE_SIZE + 1))
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "huge")
    with GitRepository(source) as repository:
        tree = repository.tree(repository.resolve("HEAD"))
        with pytest.raises(RepositoryError, match="is too large"):
            tree.read("sglang/srt/huge.py")
        assert tree.read(RUNNER) is not None


def test_bare_clone_without_config(source: Path, tmp_path: Path, git: Git) -> None:
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "--quiet", "--bare", str(source), str(bare))
    for path in (bare / "config", bare / "description"):
        path.unlink()
    assert read(bare, "v0.3.0") == b"x = 0.3\n"
    with GitRepository(bare) as repository, pytest.raises(UsageError, match="bare repository has no WORKTREE"):
        repository.resolve(WORKTREE)


def test_shallow_clone(source: Path, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=1", source.as_uri(), str(tmp_path / "shallow"))
    assert read(tmp_path / "shallow", "main") == b"x = 0.5\n"


def test_linked_worktree(source: Path, tmp_path: Path, git: Git) -> None:
    linked = tmp_path / "linked"
    git(source, "worktree", "add", "--quiet", "--detach", str(linked), "v0.3.0")
    (linked / "python" / RUNNER).write_text("changed\n")
    assert read(linked, "HEAD") == b"x = 0.3\n"
    assert read(linked, "v0.5.0") == b"x = 0.5\n"
    assert read(linked, WORKTREE) == b"changed\n"


def test_worktree_is_what_is_on_disk(source: Path) -> None:
    (source / "python" / RUNNER).write_text("changed\n")
    (source / "python/sglang/srt/untracked.py").write_text("new\n")
    assert read(source, WORKTREE) == b"changed\n"
    assert read(source, WORKTREE, "sglang/srt/untracked.py") == b"new\n"


def test_branch_called_worktree_wins(source: Path, git: Git) -> None:
    git(source, "branch", WORKTREE, "v0.3.0")
    assert read(source, WORKTREE) == b"x = 0.3\n"


def test_sha256_repository(tmp_path: Path, git: Git, write: Callable[..., None]) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    write(tmp_path, {f"python/{RUNNER}": "sha256\n"})
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "x")
    assert read(tmp_path, "HEAD") == b"sha256\n"


def test_other_repository_is_named_as_such(make_repository: Make) -> None:
    other = make_repository({"v1.0": {"src/flask.py": "x\n", "python/sglang/other.py": "x\n"}})
    with GitRepository(other) as repository:
        revision = repository.resolve("v1.0")
        with pytest.raises(RepositoryError, match=r"there is no sglang/srt at v1\.0.*--repo"):
            repository.tree(revision)


def test_folder_that_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="is not a git repository"):
        GitRepository(tmp_path)
    with pytest.raises(RepositoryError, match="there is no folder"):
        GitRepository(tmp_path / "absent")


def test_damaged_repository_is_one_line(source: Path) -> None:
    (source / ".git/config").write_text("[core\nbroken")
    with pytest.raises(RepositoryError, match="git cannot read the repository: bad config line 1") as caught:
        GitRepository(source)
    assert "\n" not in str(caught.value)


def test_find_clone(source: Path, tmp_path: Path, make_repository: Make, git: Git) -> None:
    assert find_clone(source / "python/sglang/srt") == source
    assert find_clone(tmp_path) is None
    assert find_clone(make_repository({"v1.0": {"a.py": ""}}, name="other")) is None
    git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare")
    assert find_clone(tmp_path / "bare") == tmp_path / "bare"
