"""Runs git on a repository that nobody vouches for: nothing is executed, fetched or written.

GitPython is not used here: it cannot drop ``GIT_*`` variables that a hook's environment hands
down, and importing it takes longer than reading a whole release through git.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from analyzer.adapters.content import MAX_FILE_SIZE, printable
from analyzer.domain.errors import RepositoryError

# Given on the command line, these win over whatever the repository's own configuration says.
_INERT_OPTIONS: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.untrackedCache=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "safe.directory=*",
    "safe.bareRepository=all",
)
_NO_TRANSPORT_OPTIONS: Final = (
    "core.sshCommand=false",
    "core.gitProxy=",
    "credential.helper=",
    "protocol.allow=never",
)
# Variables by which a surrounding git command would redirect us to its own repository.
_REDIRECTING: Final = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
_QUIET_VARIABLES: Final = {
    "GIT_NO_REPLACE_OBJECTS": "1",  # a replaced blob would be cached under the id of the original
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# `protocol.<name>.allow` of the repository beats `protocol.allow`; an empty list of allowed
# protocols in the environment beats both, also before git 2.44, which added GIT_NO_LAZY_FETCH.
_NO_FETCH_VARIABLES: Final = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}


@dataclass(frozen=True, slots=True)
class GitCommand:
    """How to run git: `place` says on which repository, `may_fetch` whether it may use the network."""

    place: tuple[str, ...]
    may_fetch: bool = False

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
        """Run one git command to its end."""
        with _git_is_needed():
            return subprocess.run(  # noqa: S603 - a fixed program, and arguments that are no shell text
                self.line(*arguments),
                input=stdin.encode(),
                capture_output=True,
                env=self.environment(),
                check=False,
            )

    def line(self, *arguments: str) -> list[str]:
        """The full command line for `arguments`."""
        options = _INERT_OPTIONS if self.may_fetch else _INERT_OPTIONS + _NO_TRANSPORT_OPTIONS
        settings = [part for option in options for part in ("-c", option)]
        return ["git", *settings, *self.place, *arguments]

    def environment(self) -> dict[str, str]:
        """The variables that git runs with."""
        inherited = {k: v for k, v in os.environ.items() if k not in _REDIRECTING}
        return inherited | _QUIET_VARIABLES | ({} if self.may_fetch else _NO_FETCH_VARIABLES)


def first_line(output: bytes) -> str:
    """The first line that git had to say, safe to print."""
    lines = output.decode("utf-8", "backslashreplace").strip().splitlines()
    return printable(lines[0].removeprefix("fatal: ")) if lines else "no reason given"


def git_is_missing() -> RepositoryError:
    """What to say when there is no git to run."""
    return RepositoryError("git is not installed", hint="install git, or use --source pypi or --source snapshot")


@contextlib.contextmanager
def _git_is_needed() -> Iterator[None]:
    """Turn the failure to start git into an error that says so."""
    try:
        yield
    except (FileNotFoundError, PermissionError) as error:
        raise git_is_missing() from error


@dataclass(frozen=True, slots=True)
class GitObject:
    """What git has under an expression; `kind` is ``missing`` or ``ambiguous`` when it has nothing."""

    kind: str
    id: str = ""
    size: int = 0
    content: bytes = b""


_MISSING: Final = GitObject("missing")


class ObjectReader:
    """One long-lived ``git cat-file --batch``: an object costs a round trip, not a process."""

    def __init__(self, command: GitCommand) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], ObjectReader] | None = None

    def read(self, expression: str) -> GitObject:
        """The object that `expression` names, peeled as it asks (``v0.4.0^{commit}``).

        Content above the size limit is skipped and left empty.
        """
        with self._lock:
            process = self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(os.fsencode(expression) + b"\n")
                process.stdin.flush()
                answer = _read_answer(process.stdout)
            except OSError:
                answer = None
            if answer is None:
                # git ends itself when it wants to fetch an object and is not allowed to.
                self._stop()
            return answer or _MISSING

    def close(self) -> None:
        """End the process; the next read starts another."""
        with self._lock:
            self._stop()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._finalizer is not None and self._owner != os.getpid():
            # Its pipes belong to the process that this one was forked from.
            self._finalizer.detach()
            self._process = self._finalizer = None
        if self._process is None:
            self._owner = os.getpid()
            with _git_is_needed():
                self._process = subprocess.Popen(  # noqa: S603 - as in GitCommand.run
                    self._command.line("cat-file", "--batch"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=self._command.environment(),
                )
            self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process

    def _stop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None


def _read_answer(stream: IO[bytes]) -> GitObject | None:
    """The next answer of ``cat-file --batch``, or None when the process has ended."""
    header = stream.readline().rstrip(b"\n")
    if header.endswith((b" missing", b" ambiguous")):
        return GitObject(header.rpartition(b" ")[2].decode())
    fields = header.decode("ascii", "replace").split()
    if len(fields) != 3:  # noqa: PLR2004 - "<id> <kind> <size>"
        return None
    size = int(fields[2])
    content = _take(stream, size)
    return None if content is None else GitObject(fields[1], fields[0], size, content)


def _take(stream: IO[bytes], size: int) -> bytes | None:
    """The `size` bytes of an object and the newline behind it; nothing is kept of a huge one."""
    if size <= MAX_FILE_SIZE:
        data = stream.read(size + 1)
        return data[:-1] if len(data) == size + 1 else None
    remaining = size + 1
    while remaining:
        chunk = stream.read(min(remaining, 1 << 20))
        if not chunk:
            return None
        remaining -= len(chunk)
    return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the process go and wait for it."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()
