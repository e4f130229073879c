"""``analyzer rules``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, common_options
from analyzer.cli.output import emit


@click.command("rules")
@click.argument("names", nargs=-1, metavar="[ID]...")
@common_options("rules")
def command(common: Common, names: tuple[str, ...]) -> None:
    """Explain the rules and the quantities that are followed: all in a list, or those called ID."""
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    with api.Workspace(common.for_api()) as workspace:
        emit("rules", api.rules(names, options=workspace), common, workspace.rules)
