"""``analyzer check``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.cli.gate import fail_if_option, fail_on_option, judged, servers_for
from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import emit, note_all
from analyzer.domain.errors import UsageError

if TYPE_CHECKING:
    from analyzer.domain.effect import Limit
    from analyzer.domain.report import Kind

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415


@click.command("check")
@click.argument("ref")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder of accepted snapshots: fail when a formula differs from the one for REF or the newest before it.",
)
@click.option("--update", is_flag=True, help="Show what differs, and accept it: write the snapshot of REF.")
@fail_on_option
@fail_if_option
@selection_options
@common_options("check")
def command(
    common: Common,
    ref: str,
    against: Path | None,
    update: bool,  # noqa: FBT001 - click calls by keyword
    fail_on: Kind | None,
    limits: tuple[Limit, ...],
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
) -> int:
    """Judge the formulas of REF by themselves, and compare them with what was accepted.

    Exit code 1: a finding of level warning or error, a difference at or above --fail-on, or an effect on a server
    in the settings that --fail-if names.
    """
    from analyzer import api

    if update and against is None:
        raise UsageError("--update has no folder to write into", hint="give --against DIR")
    if limits and against is None:
        raise UsageError("--fail-if has nothing to compare with", hint="give --against DIR")
    with api.Workspace(common.for_api()) as workspace:
        settings = workspace.settings
        common = common.with_formats(settings.formats, "check")
        limits = limits or (settings.fail_if if against is not None else ())
        servers = servers_for(settings, scenarios, limits)
        scenarios, quantities = scenarios or settings.scenarios, quantities or settings.quantities
        report = api.check(
            ref,
            scenarios=scenarios,
            quantities=quantities,
            against=against,
            update=update,
            servers=servers,
            limits=limits,
            options=workspace,
        )
        if report.diff is not None and not update:
            report = replace(report, diff=judged(report.diff, fail_on, settings, limits))
        emit("check", report, common, workspace.rules, scenarios)
    if not common.in_text:
        note_all(report.notes, common)
    found = any(finding.level != "note" for finding in report.open_findings)
    fails = report.diff is not None and bool(report.diff.failures)
    return int(found or fails)
