"""The commits between two revisions of a repository, and the files that each of them touched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.adapters.content import LAYOUTS, is_source
from analyzer.adapters.git_command import GitCommand, first_line
from analyzer.domain.errors import RepositoryError
from analyzer.domain.history import Commit, FileChange, Line

# No subject can hold a NUL, whatever else it holds.
_FORMAT: Final = "--format=tformat:%H%x00%cI%x00%P%x00%s%x00"
_REGULAR_FILES: Final = frozenset({"100644", "100755"})


class GitHistory:
    """Walks the commits of one repository."""

    def __init__(self, command: GitCommand, place: str) -> None:
        """`place` is the repository as a person knows it, for errors."""
        self._command = command
        self._place = place

    def merge_base(self, base: str, head: str) -> str | None:
        """The commit that two commits have both grown from; None when their histories never met."""
        result = self._command.run("merge-base", base, head)
        return result.stdout.decode().strip() or None

    def line(self, start: str, end: str) -> Line:
        """The commits on the first-parent line of `end` that `start` does not have. Raises RepositoryError."""
        revisions = f"{start}..{end}"
        walk = ("log", "-z", "--reverse", "--first-parent", "--diff-merges=first-parent", "--raw", "--no-abbrev")
        options = ("--no-renames", "--no-show-signature", "--no-notes", "--no-color", _FORMAT)
        folders = [f"{layout}sglang" for layout in LAYOUTS]
        listing = self._run(*walk, *options, revisions, "--", *folders)
        return Line(start, tuple(parse_log(listing)), self.count(start, end))

    def count(self, start: str, end: str) -> int:
        """How many commits the first-parent line of `end` has that `start` has not; fewer in a shallow clone."""
        return int(self._run("rev-list", "--first-parent", "--count", f"{start}..{end}", "--") or b"0")

    def _run(self, *arguments: str) -> bytes:
        result = self._command.run(*arguments)
        if result.returncode:
            raise RepositoryError(
                f"git cannot walk the history: {first_line(result.stderr)}",
                where=self._place,
                hint="a shallow or partial clone may lack it, run `git fetch --unshallow`",
            )
        return result.stdout


def parse_log(listing: bytes) -> Iterator[Commit]:
    """The commits in the output of ``git log -z --raw`` with our format."""
    tokens = listing.decode("utf-8", "backslashreplace").split("\0")
    position = 0
    while position + 4 < len(tokens):
        sha, date, parents, subject = tokens[position : position + 4]
        position += 5
        changes = []
        while position + 1 < len(tokens) and tokens[position].lstrip("\n").startswith(":"):
            change = _change(tokens[position].lstrip("\n"), tokens[position + 1])
            changes += [change] if change is not None else []
            position += 2
        yield Commit(sha.lstrip("\n"), date, subject, tuple(parents.split()[1:]), tuple(changes))


def _change(meta: str, name: str) -> FileChange | None:
    """What ``:old-mode new-mode old-blob new-blob status`` says of a Python file of the package."""
    mode_before, mode_after, before, after = meta.split()[:4]
    path = next((name.removeprefix(layout) for layout in LAYOUTS if name.startswith(f"{layout}sglang/")), "")
    if not is_source(path):
        return None
    old = before if mode_before.lstrip(":") in _REGULAR_FILES else None
    new = after if mode_after in _REGULAR_FILES else None
    return FileChange(path, old, new) if old != new else None
