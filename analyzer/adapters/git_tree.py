"""The files of one commit, and what a partial clone lacks of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from analyzer.adapters.content import MAX_FILE_SIZE, blob_id, is_source, printable
from analyzer.adapters.git_command import GitCommand, ObjectReader
from analyzer.domain.errors import MissingBlobError, RepositoryError
from analyzer.domain.source import Revision, SourceFile

_REGULAR_FILE_MODES: Final = frozenset({b"100644", b"100755"})
_SAFE_REMOTE_NAME: Final = re.compile(r"\w[\w./-]*")


class GitTree:
    """The files of one commit."""

    def __init__(
        self,
        revision: Revision,
        layout: str,
        blobs: Mapping[str, str],
        objects: ObjectReader,
        promised: PromisedBlobs | None,
    ) -> None:
        """Make a tree of the paths and ids `blobs`; `promised` is None for a full clone."""
        self._revision = revision
        self._layout = layout
        self._blobs = blobs
        self._objects = objects
        self._promised = promised

    @property
    def revision(self) -> Revision:
        """What this tree is the content of."""
        return self._revision

    def paths(self) -> Sequence[str]:
        """Every Python file, from ``sglang/`` on, sorted."""
        return sorted(self._blobs)

    def blob(self, path: str) -> str | None:
        """The git blob id of `path`, or None."""
        return self._blobs.get(path)

    def read(self, path: str) -> SourceFile | None:
        """The file at `path`, or None. Raises MissingBlobError when a partial clone lacks it."""
        blob = self._blobs.get(path)
        if blob is None:
            return None
        if self._promised is not None:
            self._promised.require(blob, self.display_path(path))
        return read_source(self._objects, path, blob, f"{self.display_path(path)} at {printable(self._revision.spec)}")

    def display_path(self, path: str) -> str:
        """`path` as a person finds it in the repository."""
        return printable(self._layout + path)


def read_source(objects: ObjectReader, path: str, blob: str, where: str) -> SourceFile:
    """The file at `path` with the content `blob`; `where` says to a person what is read. Raises RepositoryError."""
    found = objects.read(blob)
    if found.kind != "blob":
        raise RepositoryError("git cannot read a file", where=where, hint="run `git fsck` in the repository")
    if found.size > MAX_FILE_SIZE:
        raise RepositoryError(f"a source file of {found.size} bytes is too large", where=where)
    # What is read here is cached by this id, for every repository.
    if blob_id(found.content, like=blob) != blob:
        raise RepositoryError(
            f"the content of blob {blob} does not match its id",
            where=where,
            hint="run `git fsck` in the repository",
        )
    return SourceFile(path, blob, found.content)


class PromisedBlobs:
    """The blobs of one tree that a partial clone has left at its remote."""

    def __init__(self, command: GitCommand, tree: str, wanted: Mapping[str, str], place: str) -> None:
        """Know the partial clone at `place`, and the paths and blobs `wanted` of the expression `tree`."""
        self._command = command
        self._tree = tree
        self._wanted = wanted
        self._place = place
        self._fetched = False

    def require(self, blob: str, path: str) -> None:
        """Make sure that `blob`, the content of `path`, is here. Raises MissingBlobError."""
        if self._fetched or blob not in self._absent:
            return
        if not self._command.may_fetch:
            raise MissingBlobError(
                f"this partial clone lacks the content of {path}", where=printable(self._place), hint=self._advice()
            )
        self._fetch()

    def _advice(self) -> str:
        commit = self._tree.partition(":")[0]
        return f"run `{fetch_command(self._place, find_promisor(self._command), commit)}`"

    @cached_property
    def _absent(self) -> frozenset[str]:
        # Unlike other git commands, this one looks for objects without trying to fetch them.
        listing = self._command.run("rev-list", "--objects", "--missing=print", self._tree).stdout
        return frozenset(line[1:].decode() for line in listing.splitlines() if line.startswith(b"?"))

    def _fetch(self) -> None:
        """Fetch what the runtime needs at once; git by itself makes one request for each blob."""
        self._fetched = True
        runtime = {blob for path, blob in self._wanted.items() if path.startswith("sglang/srt/")}
        self._command.run(
            *("-c", "fetch.negotiationAlgorithm=noop"),
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"),
            *("--filter=blob:none", "--stdin", find_promisor(self._command)),
            stdin="".join(f"{blob}\n" for blob in sorted(self._absent & runtime)),
        )


def fetch_command(place: str, remote: str, commit: str) -> str:
    """The command by which a user completes the partial clone at `place`."""
    return printable(shlex.join(["git", "-C", place, "fetch", "--refetch", "--no-filter", remote, commit]))


def find_promisor(command: GitCommand) -> str:
    """The remote that a partial clone was made from."""
    names = command.run("config", "--name-only", "--get-regexp", r"^remote\..*\.promisor$").stdout.decode()
    found = (name.removeprefix("remote.").removesuffix(".promisor") for name in names.splitlines())
    # The name becomes part of a command line, here and in the user's shell.
    return next(filter(_SAFE_REMOTE_NAME.fullmatch, found), "origin")


def parse_listing(listing: bytes) -> Iterator[tuple[str, str]]:
    """The Python files and blob ids in the output of ``git ls-tree -r -z`` of the package's folder.

    Links and submodules are left out: they lead out of the revision.
    """
    for entry in listing.split(b"\0"):
        meta, _, name = entry.partition(b"\t")
        if name.endswith(b".py") and meta[:6] in _REGULAR_FILE_MODES:
            path = "sglang/" + name.decode("utf-8", "backslashreplace")
            if is_source(path):
                yield path, meta.rpartition(b" ")[2].decode()
