"""``analyzer graph``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, common_options
from analyzer.cli.output import emit, note_all


@click.command("graph")
@click.argument("ref")
@common_options("graph")
def command(common: Common, ref: str) -> None:
    """Write down the calls that the analysis of REF went into, those that the value passes marked."""
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    with api.Workspace(common.for_api()) as workspace:
        report = api.graph(ref, options=workspace)
        emit("graph", report, common, workspace.rules)
    note_all(report.notes, common)
