"""The command line: arguments, exit codes, and one line for every failure."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from io import StringIO
from typing import Final

import click

from analyzer.cli.group import CommandGroup
from analyzer.cli.state import State
from analyzer.domain.characters import printable, shortened
from analyzer.domain.errors import AnalyzerError
from analyzer.render.defuse import defuse

_INTERNAL_ERROR: Final = 2
_INTERRUPTED: Final = 130


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; nothing a user does ends in a traceback."""
    state = State()
    try:
        code = CommandGroup().main(list(arguments), prog_name="analyzer", standalone_mode=False, obj=state)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        click.echo("\n".join(map(shortened, shown.getvalue().splitlines())), err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except SystemExit:
        # So click leaves when the reader of stdout has left; that says nothing about the formulas.
        return 0
    except AnalyzerError as error:
        _report(str(error), state)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort: a crash is never an answer
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            # Of the help, which click writes by itself.
            from analyzer.cli.output import leave_stdout  # noqa: PLC0415 - only for a full disk

            leave_stdout()
            _report(f"cannot write the result: {error.strerror} (stdout)", state)
            return _INTERNAL_ERROR
        _report(f"internal error: {type(error).__name__}: {error}; please report it; -v for the traceback", state)
        return _INTERNAL_ERROR


def _report(message: str, state: State) -> None:
    """Say why the command failed; the traceback only on request."""
    if state.verbose:
        import traceback  # noqa: PLC0415 - only for a traceback

        traceback.print_exc()
    lines = "\n".join(shortened(printable(line)) for line in message.splitlines())
    click.echo(defuse(f"analyzer: error: {lines}"), file=sys.stderr)
