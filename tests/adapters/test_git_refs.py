"""Which commit a ref means, and what is said when it means none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from analyzer.adapters.git import GitRepository
from analyzer.domain.errors import RepositoryError, UnknownRefError, UsageError

Git = Callable[..., str]


@pytest.fixture
def repository(source: Path) -> Iterator[GitRepository]:
    with GitRepository(source) as opened:
        yield opened


def test_exact_tag(repository: GitRepository, source: Path, git: Git) -> None:
    revision = repository.resolve("v0.4.0")
    assert revision.commit == git(source, "rev-parse", "v0.4.0")
    assert (revision.resolved, revision.version, revision.note) == ("v0.4.0", "0.4.0", None)


def test_annotated_tag_is_peeled(source: Path, git: Git) -> None:
    git(source, "tag", "--annotate", "--message", "release", "v0.5.1")
    with GitRepository(source) as repository:
        revision = repository.resolve("v0.5.1")
    assert revision.commit == git(source, "rev-parse", "HEAD")
    assert revision.version == "0.5.1"


@pytest.mark.parametrize("spec", ["v0.4", "0.4", "0.4.0", "v0.4.0.0"])
def test_equal_version(repository: GitRepository, spec: str) -> None:
    revision = repository.resolve(spec)
    assert (revision.resolved, revision.version) == ("v0.4.0", "0.4.0")
    assert revision.note == f"{spec} resolved to tag v0.4.0"


def test_branch(repository: GitRepository) -> None:
    revision = repository.resolve("main")
    assert (revision.resolved, revision.version, revision.note) == ("main", "0.5.0", None)


def test_tag_wins_over_branch_and_says_so(source: Path, git: Git) -> None:
    git(source, "branch", "v0.3.0", "main")
    with GitRepository(source) as repository:
        revision = repository.resolve("v0.3.0")
    assert revision.version == "0.3.0"
    assert revision.note == "v0.3.0 is a tag and a branch; the tag is taken"


def test_remote_branch_stands_in_for_a_local_one(source: Path, tmp_path: Path, git: Git) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(source), str(clone))
    git(clone, "checkout", "--quiet", "-b", "work")
    git(clone, "branch", "--delete", "main")
    with GitRepository(clone) as repository:
        revision = repository.resolve("main")
        assert repository.resolve("origin/main").commit == revision.commit
    assert revision.note == "main resolved to remote branch origin/main"


def test_branch_of_another_remote(source: Path, tmp_path: Path, git: Git) -> None:
    clone = tmp_path / "fork"
    git(tmp_path, "clone", "--quiet", "--origin", "upstream", str(source), str(clone))
    git(clone, "checkout", "--quiet", "--detach")
    git(clone, "branch", "--delete", "--force", "main")
    with GitRepository(clone) as repository:
        assert repository.resolve("main").resolved == "upstream/main"


def test_commit_and_expressions(repository: GitRepository, source: Path, git: Git) -> None:
    commit = git(source, "rev-parse", "v0.3.0")
    for spec in (commit, commit[:8], "HEAD~2", "v0.4.0^", "main^^", ":/v0.3", f"v0.3.0-0-g{commit[:9]}"):
        revision = repository.resolve(spec)
        assert (revision.commit, revision.resolved, revision.version) == (commit, commit, "0.3.0")


def test_commit_without_a_release_has_no_version(source: Path, git: Git) -> None:
    git(source, "commit", "--quiet", "--allow-empty", "--message", "later")
    git(source, "tag", "gateway-v0.3.0")
    with GitRepository(source) as repository:
        assert repository.resolve("HEAD").version is None


def test_release_is_preferred_to_its_candidate(source: Path, git: Git) -> None:
    git(source, "tag", "v0.5.0rc1", "v0.5.0")
    with GitRepository(source) as repository:
        assert repository.resolve("main").version == "0.5.0"
        assert repository.resolve("v0.5.0rc1").version == "0.5.0rc1"


def test_releases_are_sorted_by_version(source: Path, git: Git) -> None:
    for tag in ("v0.10.0", "v0.5.0rc1", "v0.5.0.post1", "gateway-v0.3.0", "0.0.1", "vnext"):
        git(source, "tag", tag)
    with GitRepository(source) as repository:
        assert list(repository.releases()) == ["v0.3.0", "v0.4.0", "v0.5.0rc1", "v0.5.0", "v0.5.0.post1", "v0.10.0"]


@pytest.mark.parametrize("spec", ["-n1", "--upload-pack=touch x", "-"])
def test_options_are_refused(repository: GitRepository, spec: str) -> None:
    with pytest.raises(UsageError, match="cannot begin with '-'"):
        repository.resolve(spec)


@pytest.mark.parametrize(
    ("spec", "suggestion"),
    [("v0.4.7", "v0.4.0, v0.5.0"), ("v0.9", "v0.5.0"), ("0.1", "v0.3.0"), ("mian", "main"), ("v0.5.0x", "v0.5.0")],
)
def test_unknown_ref_suggests_near_ones(repository: GitRepository, spec: str, suggestion: str) -> None:
    with pytest.raises(UnknownRefError, match=f"unknown ref '{spec}'.*did you mean {suggestion}"):
        repository.resolve(spec)


@pytest.mark.parametrize("spec", ["", "HEAD:README.md", "v0.3.0..v0.4.0", "ffffffffff", "f" * 40, "HEAD~99"])
def test_what_is_no_commit_is_unknown(repository: GitRepository, spec: str) -> None:
    with pytest.raises(UnknownRefError, match="unknown ref"):
        repository.resolve(spec)


@pytest.mark.parametrize("spec", ["v0.4.0\nv0.3.0", "\x1b[31mred", "nul\0", "bad\udcff"])
def test_control_characters_are_escaped(repository: GitRepository, spec: str) -> None:
    with pytest.raises(UnknownRefError) as caught:
        repository.resolve(spec)
    assert str(caught.value).isprintable()
    str(caught.value).encode()


def test_reading_goes_on_after_an_unknown_ref(repository: GitRepository) -> None:
    with pytest.raises(UnknownRefError):
        repository.resolve("nonsense")
    assert repository.resolve("HEAD").version == "0.5.0"


def test_ambiguous_commit(repository: GitRepository, source: Path, git: Git) -> None:
    known = {git(source, "rev-parse", "HEAD")[:4]}
    tree = git(source, "rev-parse", "HEAD^{tree}")
    for number in range(5000):
        commit = git(source, "commit-tree", tree, "-m", str(number))
        if commit[:4] in known:
            break
        known.add(commit[:4])
    with pytest.raises(UnknownRefError, match="is ambiguous"):
        repository.resolve(commit[:4])


def test_empty_repository(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "--quiet")
    with GitRepository(tmp_path) as repository, pytest.raises(RepositoryError, match="has no commits"):
        repository.resolve("HEAD")


def test_clone_without_tags_is_told_how_to_get_them(source: Path, tmp_path: Path, git: Git) -> None:
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-tags", source.as_uri(), str(clone))
    with GitRepository(clone) as repository, pytest.raises(UnknownRefError, match=r"fetch --tags --unshallow"):
        repository.resolve("v0.4.0")


def test_version_equality_prefers_the_tag_with_a_v(source: Path, git: Git) -> None:
    git(source, "tag", "0.4", "v0.3.0")
    with GitRepository(source) as repository:
        assert repository.resolve("v0.4").resolved == "v0.4.0"
        assert repository.resolve("0.4").version == "0.4"
