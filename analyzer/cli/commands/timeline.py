"""``analyzer timeline``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, ModelOptions, common_options, model_options, set_option
from analyzer.cli.output import emit, note_all
from analyzer.domain.errors import UsageError

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415

_LOST = 3


@click.command("timeline")
@click.option("--from", "first", metavar="REF", help="The first release (default: the oldest).")
@click.option("--to", "last", metavar="REF", help="The last release (default: the newest), or a ref after all of them.")
@click.option("--quantity", metavar="NAME", help="The quantity to follow (default: max_total_num_tokens).")
@click.option(
    "--coverage", is_flag=True, help="Show instead how much of each release was followed: guards, gaps, opaque calls."
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
    quantity: str | None,
    coverage: bool,  # noqa: FBT001 - click calls by keyword
    settings: tuple[str, ...],
    scenario: str | None,
) -> int:
    """Follow one quantity of one server over all releases: where it changes, by how much, and where it stops.

    With --coverage: how much of each release the analysis could follow.

    Exit code 3: the formulas of no release could be had.
    """
    from analyzer import api
    from analyzer.cli.cases import read_setting

    if coverage and (quantity or settings or scenario or model.is_given):
        raise UsageError("--coverage is about the formulas", hint="leave out what describes a server or a quantity")
    if coverage:
        return _show_coverage(common, first, last)
    given = {**model.memory, **dict(map(read_setting, settings))}
    with api.Workspace(common.for_api()) as workspace:
        report = api.timeline(
            quantity or "max_total_num_tokens",
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


def _show_coverage(common: Common, first: str | None, last: str | None) -> int:
    """Say how much of each release was followed."""
    from analyzer import api

    with api.Workspace(common.for_api()) as workspace:
        report = api.coverage(first=first, last=last, options=workspace)
        emit("coverage", report, common, workspace.rules)
    return _LOST if report.is_lost else 0
