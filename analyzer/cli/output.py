"""Where results go: stdout or files, in the chosen formats."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analyzer.cli.options import Common
from analyzer.cli.progress import StderrProgress
from analyzer.domain.errors import UsageError
from analyzer.render.formats import FORMATS, formats_of, render
from analyzer.render.page import Page

if TYPE_CHECKING:
    from analyzer.domain.pin import Pin
    from analyzer.domain.rules import RuleSet, SymbolRule

_PLAIN_WIDTH: Final = 100
_MIN_WIDTH: Final = 40
_STDOUT: Final = Path("-")


def emit(  # noqa: PLR0913 - a report, and what it is written with
    command: str,
    report: Any,
    common: Common,
    rules: RuleSet,
    scenarios: Iterable[str] = (),
    *,
    pin: Pin | None = None,
    full: bool = False,
) -> None:
    """Write `report` in every chosen format to its place; `pin` is the line of the project that caused it."""
    names = common.formats or formats_of(command)[:1]
    for name, file in place_outputs(names, common.outputs):
        text = render(command, name, report, replace(_page(rules, scenarios, pin, on_terminal=file is None), full=full))
        if file is None:
            write_stdout(text)
            continue
        from analyzer.adapters.output import write_file  # noqa: PLC0415 - only with -o

        write_file(file, text.encode("utf-8", "backslashreplace"))


def place_outputs(formats: Sequence[str], files: Sequence[Path]) -> list[tuple[str, Path | None]]:
    """Each format with its file, None for stdout. Raises UsageError when a file has no format.

    A file goes to the format that its suffix names, else to the first format without one.
    """
    names = list(dict.fromkeys(formats))
    if len(files) > len(names):
        hint = "give one --format for each -o"
        raise UsageError(f"{len(files)} output files, but {len(names)} format{'s'[: len(names) > 1]}", hint=hint)
    placed: dict[str, Path] = {}
    others: list[Path] = []
    for file in files:
        named = next((name for name in names if name not in placed and file.suffix in FORMATS[name].suffixes), None)
        if named is None:
            others.append(file)
        else:
            placed[named] = file
    placed.update(zip((name for name in names if name not in placed), others, strict=False))
    return [(name, None if placed.get(name, _STDOUT) == _STDOUT else placed[name]) for name in names]


def note_all(notes: Iterable[str], common: Common) -> None:
    """Say notes that no chosen format has a place for."""
    progress = StderrProgress(quiet=common.quiet)
    for note in notes:
        progress.note(note)


def write_stdout(text: str) -> None:
    """Write to stdout; a reader that has left is no error."""
    if sys.stdout is None:
        return
    encoding = sys.stdout.encoding or "utf-8"
    safe = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        sys.stdout.write(safe)
        sys.stdout.flush()
    except BrokenPipeError:
        leave_stdout()
    except OSError as error:
        leave_stdout()
        raise UsageError(f"cannot write the result: {error.strerror}", where="stdout") from error


def leave_stdout() -> None:
    """Let go of stdout: Python flushes it once more when it ends, which must not fail either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _page(rules: RuleSet, scenarios: Iterable[str], pin: Pin | None, *, on_terminal: bool) -> Page:
    from analyzer.application.selection import audience, scenario_title  # noqa: PLC0415 - `--help` does not need it

    width = max(shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns, _MIN_WIDTH)
    return Page(
        width=width,
        colour=on_terminal and _has_colours(),
        scenario_titles={name: scenario_title(name, rules) for name in {*scenarios, *rules.scenarios}},
        audiences={name: audience(name, rules) for name in {*scenarios, *rules.scenarios}},
        quantity_titles={name: rule.title for name, rule in rules.quantities.items()},
        symbol_titles={name: _symbol_title(rule) for name, rule in rules.symbols.items()},
        rules=rules.every_rule(),
        pin=pin,
    )


def _symbol_title(rule: SymbolRule) -> str:
    unit = "" if rule.unit == "1" else f", in {rule.unit}"
    hint = f" ({rule.hint})" if rule.hint else ""
    return f"{rule.description}{unit}{hint}"


def _has_colours() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout is not None and sys.stdout.isatty() and not plain
