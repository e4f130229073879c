"""``analyzer diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import emit, note_all

if TYPE_CHECKING:
    from analyzer.domain.report import Kind

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415


def _read_kind(context: click.Context, parameter: click.Parameter, value: str) -> Kind:
    """The kind of change that `value` names."""
    from analyzer.domain.report import Kind

    known = {kind.label: kind for kind in Kind}
    if value not in known:
        message = f"{value!r} is not one of {', '.join(known)}"
        raise click.BadParameter(message, context, parameter)
    return known[value]


@click.command("diff")
@click.argument("base")
@click.argument("head")
@click.option(
    "--fail-on",
    callback=_read_kind,
    metavar="KIND",
    default="rounding",
    show_default=True,
    help="Exit with 1 from this kind on: identical, moved, refactor, unit, rounding, undecided, semantic, lost.",
)
@selection_options
@common_options("diff")
def command(
    common: Common, base: str, head: str, fail_on: Kind, scenarios: tuple[str, ...], quantities: tuple[str, ...]
) -> int:
    """Compare the formulas of BASE and HEAD by meaning: what changed, for whom, by how much.

    A side is a tag, branch, commit, version, WORKTREE, INSTALLED, a wheel, or a folder with SGLang.
    """
    from analyzer import api

    with api.Workspace(common.for_api()) as workspace:
        report = api.diff(base, head, scenarios=scenarios, quantities=quantities, options=workspace)
        emit("diff", report, common, workspace.rules, scenarios)
    if not common.in_text:
        note_all(report.notes, common)
    return int(report.verdict >= fail_on)
