"""``analyzer snapshot``."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.cli.options import Common, common_options
from analyzer.cli.output import write_stdout
from analyzer.domain.errors import UsageError


@click.command("snapshot")
@click.argument("refs", nargs=-1, metavar="REF...")
@click.option("--all", "everything", is_flag=True, help="Every release, on all processors.")
@click.option("--compare", is_flag=True, help="Also write what differs between neighbours in the folder.")
@common_options("snapshot", output_help="The folder to write into (default: snapshots).")
def command(common: Common, refs: tuple[str, ...], everything: bool, compare: bool) -> int:  # noqa: FBT001 - click calls by keyword
    """Write the formulas of each REF to a file, one per ref, for `check`, `eval` and the documentation."""
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    if len(common.outputs) > 1:
        raise UsageError("snapshots go into one folder", hint="give -o once")
    if everything == bool(refs) and not (compare and not refs):
        raise UsageError("it takes refs or --all", hint="name what to write, or every release with --all")
    folder = common.outputs[0] if common.outputs else Path("snapshots")
    code = 0
    for written in api.snapshot(None if everything else refs, folder, compare=compare, options=common.for_api()):
        if written.path is not None:
            write_stdout(f"{written.path}\n")
        if written.error is not None:
            click.echo(f"analyzer: error: {written.ref}: {written.error}", err=True)
            code = max(code, written.error.exit_code)
    return code
