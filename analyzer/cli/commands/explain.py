"""``analyzer explain``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, ModelOptions, common_options, model_options, set_option
from analyzer.cli.output import emit, note_all

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415

_STDIN = "-"


@click.command("explain")
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@click.option("--ref", metavar="REF", help="The release that wrote the log, when the log does not say.")
@set_option
@click.option("--scenario", metavar="NAME", help="The family of the model, when the log does not tell it.")
@click.option("--start", type=click.IntRange(1), metavar="N", help="The start to explain (default: the last one).")
@click.option("--tolerance", type=click.FloatRange(0), metavar="GIB", help="By how much a prediction may miss.")
@model_options
@common_options("explain")
def command(
    common: Common,
    model: ModelOptions,
    logs: tuple[str, ...],
    ref: str | None,
    settings: tuple[str, ...],
    scenario: str | None,
    start: int | None,
    tolerance: float | None,
) -> None:
    """Reconcile the start-up log of a real server with the formula of its release.

    LOG is a file, several files of one server, or - for stdin (the default).
    """
    from analyzer import api
    from analyzer.cli.cases import read_setting

    given = {**model.memory, **dict(map(read_setting, settings))}
    with api.Workspace(common.for_api()) as workspace:
        report = api.explain(
            logs or (_STDIN,),
            ref=ref,
            scenario=scenario,
            given=given,
            start=start,
            tolerance=tolerance,
            model=model.config,
            arguments=model.arguments,
            options=workspace,
        )
        emit("explain", report, common, workspace.rules)
    if not common.in_text:
        note_all(report.notes, common)
