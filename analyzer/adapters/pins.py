"""Which version of SGLang a file of a project pins, on disk or in a revision of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from analyzer.adapters.content import MAX_FILE_SIZE
from analyzer.adapters.files import read_input
from analyzer.adapters.git_command import GitCommand, first_line
from analyzer.adapters.pin_files import find_mentions, included_files
from analyzer.domain.characters import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.pin import Pin

_HINT: Final = "give requirements, a lock file, pyproject.toml or a Dockerfile that names one version of sglang"


def read_pin(spec: str) -> Pin:
    """The pin in the file `spec`, or in ``REVISION:PATH`` of the repository around. Raises UsageError."""
    file, content = _read(spec)
    try:
        mentions = find_mentions(file, content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # What tomllib, json and the decoder raise on a file that is none.
        raise UsageError(f"cannot be read: {printable(str(error))}", where=spec, hint=_HINT) from error
    refs = {mention.ref: mention for mention in reversed(mentions) if mention.ref}
    if len(refs) > 1:
        places = ", ".join(f"{printable(ref)} in line {mention.line}" for ref, mention in sorted(refs.items()))
        raise UsageError(f"several versions of sglang are pinned: {places}", where=spec, hint="give one file of them")
    if not refs:
        problems = "; ".join(f"line {mention.line}: {printable(mention.problem)}" for mention in mentions)
        included = ", ".join(map(printable, included_files(file, content.decode())))
        hint = f"the files that it includes are not read; give the one of them that pins it: {included}"
        message = f"no version of sglang is pinned{f': {problems}' if problems else ''}"
        raise UsageError(message, where=spec, hint=hint if included else _HINT)
    [(ref, mention)] = refs.items()
    return Pin(ref, spec, file, mention.line)


def _read(spec: str) -> tuple[str, bytes]:
    """The path of the file, and what it holds."""
    revision, colon, path = spec.partition(":")
    if Path(spec).exists() or not colon:
        try:
            return spec, read_input(spec, limit=MAX_FILE_SIZE)
        except OSError as error:
            raise UsageError(f"cannot read the file: {error.strerror}", where=spec, hint=_HINT) from error
    # Without a revision it is git's index.
    if revision.startswith("-") or not path:
        raise UsageError("not REVISION:PATH", where=spec, hint="write it as HEAD~1:requirements.txt")
    done = GitCommand(()).run("cat-file", "blob", f"{revision}:{path}")
    if done.returncode:
        raise UsageError(f"cannot read the file: {first_line(done.stderr)}", where=spec, hint=_HINT)
    if len(done.stdout) > MAX_FILE_SIZE:
        raise UsageError(f"it is larger than {MAX_FILE_SIZE >> 20} MiB", where=spec, hint=_HINT)
    return path.removeprefix("./"), done.stdout
