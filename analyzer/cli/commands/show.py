"""``analyzer show``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import emit, note_all
from analyzer.domain.errors import UsageError


@click.command("show")
@click.argument("ref")
@selection_options
@common_options("show")
def command(common: Common, ref: str, scenarios: tuple[str, ...], quantities: tuple[str, ...]) -> None:
    """Write down the formulas of REF: each quantity, each scenario, units, source lines and gaps."""
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    as_functions = "python" in common.formats
    if as_functions and len(scenarios) > 1:
        raise UsageError("a Python function is of one scenario", hint="give --scenario once")
    with api.Workspace(common.for_api()) as workspace:
        report = api.show(ref, scenarios=scenarios, quantities=quantities, as_functions=as_functions, options=workspace)
        emit("show", report, common, workspace.rules, scenarios)
    if not common.in_text:
        note_all(report.notes, common)
