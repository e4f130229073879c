"""Where results go: stdout or a file, in the chosen format."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from analyzer.cli.options import Common
from analyzer.cli.progress import StderrProgress
from analyzer.render.formats import render
from analyzer.render.page import Page

if TYPE_CHECKING:
    from analyzer.domain.rules import RuleSet

_PLAIN_WIDTH: Final = 100
_MIN_WIDTH: Final = 40


def emit(command: str, report: Any, common: Common, rules: RuleSet, scenarios: Iterable[str] = ()) -> None:
    """Write `report` in the chosen format to the chosen place."""
    text = render(command, common.format, report, _page(common, rules, scenarios))
    if common.output is None:
        write_stdout(text)
        return
    from analyzer.adapters.output import write_file  # noqa: PLC0415 - only with -o

    write_file(common.output, text.encode("utf-8", "backslashreplace"))


def note_all(notes: Iterable[str], common: Common) -> None:
    """Say notes that the chosen format has no place for."""
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
        # Python flushes stdout once more when it ends, which must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _page(common: Common, rules: RuleSet, scenarios: Iterable[str]) -> Page:
    from analyzer.application.selection import scenario_title  # noqa: PLC0415 - `--help` does not need it

    width = max(shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns, _MIN_WIDTH)
    return Page(
        width=width,
        colour=_has_colours(common),
        scenario_titles={name: scenario_title(name, rules) for name in {*scenarios, *rules.scenarios}},
        quantity_titles={name: rule.title for name, rule in rules.quantities.items()},
    )


def _has_colours(common: Common) -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return common.output is None and sys.stdout.isatty() and not plain
