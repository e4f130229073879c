"""``analyzer trace``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, common_options
from analyzer.cli.output import emit, note_all


@click.command("trace")
@click.argument("ref")
@common_options("trace")
def command(common: Common, ref: str) -> None:
    """Follow the value through REF, hop by hop: what flows where, in which file and line."""
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    with api.Workspace(common.for_api()) as workspace:
        report = api.trace(ref, options=workspace)
        emit("trace", report, common, workspace.rules)
    if not common.in_text:
        note_all(report.notes, common)
