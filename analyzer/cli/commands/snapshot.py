"""``analyzer snapshot``."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.cli.options import Common, common_options
from analyzer.cli.output import write_stdout
from analyzer.domain.errors import UsageError


@click.command("snapshot")
@click.argument("refs", nargs=-1, required=True, metavar="REF...")
@common_options("snapshot", output_help="The folder to write into (default: snapshots).")
def command(common: Common, refs: tuple[str, ...]) -> int:
    """Write the formulas of each REF to a file, one per ref, for `check`, `eval` and the documentation."""
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    if len(common.outputs) > 1:
        raise UsageError("snapshots go into one folder", hint="give -o once")
    folder = common.outputs[0] if common.outputs else Path("snapshots")
    code = 0
    for written in api.snapshot(refs, folder, options=common.for_api()):
        if written.path is not None:
            write_stdout(f"{written.path}\n")
        if written.error is not None:
            click.echo(f"analyzer: error: {written.ref}: {written.error}", err=True)
            code = max(code, written.error.exit_code)
    return code
