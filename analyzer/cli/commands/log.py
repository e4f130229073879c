"""``analyzer log``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from analyzer.cli.gate import kinds_option
from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import emit, note_all

if TYPE_CHECKING:
    from analyzer.domain.report import Kind


@click.command("log")
@click.argument("base")
@click.argument("head")
@kinds_option
@selection_options
@click.option("--all-commits", is_flag=True, help="Also those on the branches behind a merge that changed a formula.")
@click.option("--reverse", is_flag=True, help="Oldest first.")
@common_options("log")
def command(
    common: Common,
    base: str,
    head: str,
    kinds: tuple[Kind, ...],
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
    all_commits: bool,  # noqa: FBT001 - click calls by keyword
    reverse: bool,  # noqa: FBT001 - the same
) -> None:
    """List the commits between BASE and HEAD that changed a formula, newest first: who, when, what, which PR.

    A commit is judged by what its files say, whatever its subject. A commit that only BASE has, because its release
    was made on a branch, is marked so.
    """
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    options = common.for_api()
    report = api.log(
        base,
        head,
        scenarios=scenarios,
        quantities=quantities,
        kinds=kinds,
        all_commits=all_commits,
        options=options,
    )
    if reverse:
        report = replace(report, entries=report.entries[::-1])
    with api.Workspace(options) as workspace:
        emit("log", report, common, workspace.rules, scenarios)
    if not common.in_text:
        note_all(report.notes, common)
