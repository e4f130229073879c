"""Reads revisions out of a git repository, without a checkout and without writing to it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Self

from analyzer.adapters.content import LAYOUTS, holds_srt, printable
from analyzer.adapters.folder import FolderTree
from analyzer.adapters.git_command import GitCommand, ObjectReader, first_line
from analyzer.adapters.git_history import GitHistory
from analyzer.adapters.git_tree import (
    GitTree,
    PromisedBlobs,
    fetch_command,
    find_promisor,
    parse_listing,
    read_source,
)
from analyzer.adapters.versions import find_equal, parse_version, sort_releases, suggestion_hint
from analyzer.domain.errors import AnalyzerError, MissingBlobError, RepositoryError, UnknownRefError, UsageError
from analyzer.domain.source import Revision, SourceFile
from analyzer.ports import SourceTree

WORKTREE: Final = "WORKTREE"


def find_clone(start: Path) -> Path | None:
    """The clone of SGLang that `start` lies in, or None."""
    try:
        with GitRepository(start) as repository:
            return repository.path if repository.holds_sglang() else None
    except AnalyzerError:
        return None


class GitRepository:
    """A clone of SGLang as a source of versions; it is read through git and never written to."""

    def __init__(self, path: Path, *, may_fetch: bool = False) -> None:
        """Open the repository that `path` lies in.

        With `may_fetch`, git fetches the blobs that a partial clone lacks: only for a clone that
        the tool has made for itself.
        """
        self._location = _locate(path)
        self.path = self._location.work_tree or self._location.git_dir
        self._command = GitCommand(("--git-dir", str(self._location.git_dir)), may_fetch)
        self._objects = ObjectReader(self._command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process that reads objects."""
        self._objects.close()

    def holds_sglang(self) -> bool:
        """Whether HEAD or the newest release has SGLang's runtime in it."""
        return any(
            self._objects.read(f"{ref}:{layout}sglang/srt").kind == "tree"
            for ref in ("HEAD", *self.releases()[-1:])
            for layout in LAYOUTS
        )

    def releases(self) -> Sequence[str]:
        """The release tags, oldest first."""
        return sort_releases(name for name in self._tags if name.startswith("v"))

    def resolve(self, spec: str) -> Revision:
        """The revision that `spec` names, by the first rule that finds one."""
        if spec.startswith("-"):
            raise UsageError(f"a ref cannot begin with '-': {printable(spec)}", hint="give a tag, branch or commit")
        if not spec or re.search(r"[\x00-\x1f\x7f]", spec):
            raise self._unknown(spec)
        revision = self._resolve_name(spec) or self._resolve_expression(spec) or self._resolve_version(spec)
        if revision is None:
            raise self._unknown(spec)
        return revision

    def tree(self, revision: Revision) -> SourceTree:
        """The files of `revision`; those on disk when it is the work tree."""
        if revision.commit == WORKTREE:
            return FolderTree(revision, self._work_tree())
        for layout in LAYOUTS:
            expression = f"{revision.commit}:{layout}sglang"
            blobs = self._list_blobs(expression)
            if holds_srt(blobs):
                promised = PromisedBlobs(self._command, expression, blobs, str(self.path)) if self._is_partial else None
                return GitTree(revision, layout, blobs, self._objects, promised)
        raise RepositoryError(
            f"there is no sglang/srt at {printable(revision.spec)}",
            where=self._where,
            hint="give a clone of SGLang with --repo",
        )

    def history(self) -> GitHistory:
        """The commits of the clone."""
        return GitHistory(self._command, self._where)

    def source(self, path: str, blob: str) -> SourceFile:
        """The file at `path` with the content `blob`. Raises MissingBlobError when a partial clone lacks it."""
        return read_source(self._objects, path, blob, f"{path} in {self._where}")

    def _resolve_name(self, spec: str) -> Revision | None:
        """A tag, branch, remote branch or the work tree, by its exact name."""
        if spec in self._tags:
            note = f"{spec} is a tag and a branch; the tag is taken" if spec in self._branches else None
            return self._named(spec, f"refs/tags/{spec}", spec, note)
        if spec in self._branches:
            return self._named(spec, f"refs/heads/{spec}", spec)
        remote = self._find_remote_branch(spec)
        if remote is not None:
            return self._named(spec, f"refs/remotes/{remote}", remote, f"{spec} resolved to remote branch {remote}")
        if spec == WORKTREE:
            self._work_tree()
            return Revision(spec, WORKTREE, WORKTREE)
        return None

    def _find_remote_branch(self, spec: str) -> str | None:
        """The remote branch called `spec`, of ``origin`` rather than of another remote."""
        if f"origin/{spec}" in self._remote_branches:
            return f"origin/{spec}"
        return next((name for name in self._remote_branches if name.partition("/")[2] == spec), None)

    def _resolve_expression(self, spec: str) -> Revision | None:
        """Whatever else git understands: a commit id, ``HEAD~2``, ``v0.5.9^``."""
        found = self._objects.read(f"{spec}^{{commit}}")
        if found.kind == "missing":
            # git says "ambiguous", and takes `:/text` as a whole, only where nothing is to be peeled.
            found = self._objects.read(spec)
        if found.kind == "ambiguous":
            raise UnknownRefError(
                f"{printable(spec)} is ambiguous: several objects begin with it",
                where=self._where,
                hint="give more digits of the commit id",
            )
        return self._revision(spec, found.id, found.id) if found.kind == "commit" else None

    def _resolve_version(self, spec: str) -> Revision | None:
        """The release that is equal to `spec` as a version."""
        tag = find_equal(spec, self._tags)
        if tag is None:
            return None
        return self._named(spec, f"refs/tags/{tag}", tag, f"{spec} resolved to tag {tag}")

    def _named(self, spec: str, ref: str, name: str, note: str | None = None) -> Revision:
        """The revision of the commit under `ref`."""
        found = self._objects.read(f"{ref}^{{commit}}")
        if found.kind != "commit":
            raise RepositoryError(
                f"{printable(name)} does not lead to a commit that this clone has",
                where=self._where,
                hint=f"run {self._git('fetch', '--tags')}",
            )
        return self._revision(spec, name, found.id, note)

    def _revision(self, spec: str, name: str, commit: str, note: str | None = None) -> Revision:
        tags = [tag for tag, target in self._tags.items() if target == commit]
        # A commit can carry a release candidate and the release that it became.
        version = parse_version(name) if name in tags else None
        version = version or max(filter(None, map(parse_version, tags)), default=None)
        return Revision(spec, name, commit, str(version) if version else None, note and printable(note))

    def _unknown(self, spec: str) -> RepositoryError:
        """What to say of a `spec` that nothing resolves."""
        names = (*self._tags, *self._branches, *self._remote_branches)
        if not names and self._objects.read("HEAD").kind == "missing":
            return RepositoryError("the repository has no commits", where=self._where, hint="give a clone of SGLang")
        otherwise = f"run {self._git('tag')} to see the releases"
        if not self._tags:
            shallow = ("--unshallow",) if (self._location.common_dir / "shallow").exists() else ()
            otherwise = f"the clone has no tags, run {self._git('fetch', '--tags', *shallow)}"
        hint = printable(suggestion_hint(spec, names, otherwise))
        return UnknownRefError(f"unknown ref '{printable(spec)}'", where=self._where, hint=hint)

    @cached_property
    def _tags(self) -> Mapping[str, str]:
        """Every tag and the id of the object behind it, annotation aside."""
        lines = self._list_refs("%(refname:lstrip=2) %(objectname) %(*objectname)", "refs/tags")
        return {name: peeled or direct for name, direct, peeled in (line.split(" ") for line in lines)}

    @cached_property
    def _branches(self) -> Sequence[str]:
        return self._list_refs("%(refname:lstrip=2)", "refs/heads")

    @cached_property
    def _remote_branches(self) -> Sequence[str]:
        names = self._list_refs("%(refname:lstrip=2)", "refs/remotes")
        return [name for name in names if not name.endswith("/HEAD")]

    def _list_refs(self, template: str, folder: str) -> list[str]:
        result = self._command.run("for-each-ref", f"--format={template}", folder)
        if result.returncode:
            raise _unreadable(self.path, result.stderr)
        return os.fsdecode(result.stdout).splitlines()

    def _list_blobs(self, tree: str) -> Mapping[str, str]:
        """The Python files below the expression `tree`, and the ids of their blobs."""
        result = self._command.run("ls-tree", "-r", "-z", "--full-tree", tree)
        if not result.returncode:
            return dict(parse_listing(result.stdout))
        commit = tree.partition(":")[0]
        if b"Not a valid object name" in result.stderr and self._objects.read(f"{commit}^{{tree}}").kind == "tree":
            return {}
        if not self._is_partial:
            raise _unreadable(self.path, result.stderr)
        fetch = fetch_command(str(self.path), find_promisor(self._command), commit)
        raise MissingBlobError(
            f"this partial clone lacks the folders of {commit[:12]}", where=self._where, hint=f"run `{fetch}`"
        )

    @cached_property
    def _is_partial(self) -> bool:
        return any((self._location.common_dir / "objects" / "pack").glob("*.promisor"))

    @property
    def _where(self) -> str:
        return printable(str(self.path))

    def _git(self, *arguments: str) -> str:
        """A git command for the user to run."""
        return f"`{printable(shlex.join(['git', '-C', str(self.path), *arguments]))}`"

    def _work_tree(self) -> Path:
        if self._location.work_tree is None:
            raise UsageError("a bare repository has no WORKTREE", where=self._where, hint="give a tag or a branch")
        return self._location.work_tree


@dataclass(frozen=True, slots=True)
class _Location:
    """Where the parts of a repository are."""

    git_dir: Path
    common_dir: Path
    work_tree: Path | None


def _locate(path: Path) -> _Location:
    """The repository that `path` lies in: a clone, a bare clone or a linked work tree."""
    if not path.is_dir():
        raise RepositoryError(f"there is no folder {printable(str(path))}", hint="give a clone of SGLang with --repo")
    questions = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
    result = GitCommand(("-C", str(path))).run("rev-parse", "--path-format=absolute", *questions)
    # The last question has no answer in a bare repository, and git fails after the first two.
    answers = [Path(line) for line in os.fsdecode(result.stdout).splitlines()]
    if len(answers) < len(questions) - 1:
        raise _unreadable(path, result.stderr)
    return _Location(answers[0], answers[1], answers[2] if len(answers) == len(questions) else None)


def _unreadable(path: Path, output: bytes) -> RepositoryError:
    """What to say when git refuses to read the repository at `path`."""
    place = printable(shlex.quote(str(path)))
    if b"not a git repository" in output:
        return RepositoryError(f"{place} is not a git repository", hint="give a clone of SGLang with --repo")
    if b"ownership" in output:
        hint = f"run `git config --global --add safe.directory {place}`"
    else:
        hint = f"run `git -C {place} fsck` to see what is wrong"
    return RepositoryError(f"git cannot read the repository: {first_line(output)}", where=place, hint=hint)
