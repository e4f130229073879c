"""``analyzer solve``."""

from __future__ import annotations

import click

from analyzer.cli.options import Common, ModelOptions, common_options, model_options, set_option
from analyzer.cli.output import emit, note_all

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415

_UNKNOWNS = ("fraction", "weights", "cap")


@click.command("solve")
@click.argument("ref")
@click.option("--target-tokens", type=click.IntRange(1), required=True, metavar="N", help="KV-cache tokens to reach.")
@click.option(
    "--for",
    "unknowns",
    type=click.Choice(_UNKNOWNS),
    multiple=True,
    help="What to solve for: the fraction (default), the size of the weights, the cap on tokens (repeatable).",
)
@set_option
@click.option("--scenario", metavar="NAME", help="The family of the model (default: what --model tells, else mha).")
@model_options
@common_options("solve")
def command(
    common: Common,
    model: ModelOptions,
    ref: str,
    target_tokens: int,
    unknowns: tuple[str, ...],
    settings: tuple[str, ...],
    scenario: str | None,
) -> int:
    """Find the fraction, weight size or cap with which a server of REF reaches a number of tokens.

    Exit code 1: something asked for cannot reach it.
    """
    from analyzer import api
    from analyzer.cli.cases import read_setting

    given = {**model.memory, **dict(map(read_setting, settings))}
    with api.Workspace(common.for_api()) as workspace:
        report = api.solve(
            ref,
            target_tokens,
            unknowns=unknowns or _UNKNOWNS[:1],
            given=given,
            scenario=scenario,
            model=model.config,
            arguments=model.arguments,
            options=workspace,
        )
        emit("solve", report, common, workspace.rules, [report.scenario])
    if not common.in_text:
        note_all(report.notes, common)
    return int(any(solution.value is None for solution in report.solutions))
