"""Follows one formula along a line of commits, extracting it only where it can have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analyzer.application.history.fingerprint import Listener, Sources
from analyzer.domain.history import Commit, FileChange, Found, ModuleNeeds, Needs, Point

Extract = Callable[[str, bool], Found]
"""What is found at a commit: afresh, or beginning with what mattered before."""


class Chain:
    """The formula from one root, along a line of commits.

    Nothing that a commit leaves alone, or says in other words, can change what was extracted before it: the needs
    of the extraction before tell which commits are to be looked at.
    """

    def __init__(self, sources: Sources, extract: Extract, *, cautious: bool = False) -> None:
        """With `cautious`, every commit that touches a file that the extraction has read is looked at, afresh."""
        self._sources = sources
        self._extract = extract
        self._cautious = cautious
        self.extracted = 0

    def follow(self, start: str, commits: tuple[Commit, ...]) -> Iterator[Point]:
        """The points along `commits`, which begin where `start` ends."""
        found = self._look(start, afresh=True)
        listener = Listener(found.needs, self._sources)
        yield Point(start, found.identity, found.content, found.error)
        for commit in commits:
            if not any(self._concerns(change, found.needs, listener) for change in commit.changes):
                continue
            following = self._look(commit.sha, afresh=self._cautious)
            if following.identity != found.identity:
                yield Point(commit.sha, following.identity, following.content, following.error)
            found, listener = following, Listener(following.needs, self._sources)

    def _look(self, sha: str, *, afresh: bool) -> Found:
        self.extracted += 1
        return self._extract(sha, afresh)

    def _concerns(self, change: FileChange, needs: Needs, listener: Listener) -> bool:
        """Whether a change of a file can change what was extracted."""
        if change.path in needs.files:
            asked = needs.files[change.path]
            return self._cautious or self._says_otherwise(change, asked, listener)
        return listener.is_found(change.path, change.after) != listener.is_found(change.path, change.before)

    def _says_otherwise(self, change: FileChange, asked: ModuleNeeds | None, listener: Listener) -> bool:
        if asked is None or change.before is None or change.after is None:
            return change.before != change.after and (asked is None) == (change.before is None)
        return listener.differs(change.path, change.before, change.after)
