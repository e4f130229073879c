"""``analyzer timeline``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, ModelOptions, common_options, model_options, set_option
from analyzer.cli.output import emit, note_all

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415

_LOST = 3


@click.command("timeline")
@click.option("--from", "first", metavar="REF", help="The first release (default: the oldest).")
@click.option("--to", "last", metavar="REF", help="The last release (default: the newest), or a ref after all of them.")
@click.option(
    "--quantity", default="max_total_num_tokens", show_default=True, metavar="NAME", help="The quantity to follow."
)
@set_option
@click.option("--scenario", metavar="NAME", help="The family of the model (default: what --model tells, else mha).")
@model_options
@common_options("timeline")
def command(
    common: Common,
    model: ModelOptions,
    first: str | None,
    last: str | None,
    quantity: str,
    settings: tuple[str, ...],
    scenario: str | None,
) -> int:
    """Follow one quantity of one server over all releases: where it changes, by how much, and where it stops.

    Exit code 3: the formulas of no release could be had.
    """
    from analyzer import api
    from analyzer.cli.cases import read_setting

    given = {**model.memory, **dict(map(read_setting, settings))}
    with api.Workspace(common.for_api()) as workspace:
        report = api.timeline(
            quantity,
            first=first,
            last=last,
            given=given,
            scenario=scenario,
            model=model.config,
            arguments=model.arguments,
            options=workspace,
        )
        emit("timeline", report, common, workspace.rules, [report.scenario])
    if not common.in_text:
        note_all(report.notes, common)
    return _LOST if report.is_lost else 0
