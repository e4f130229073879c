"""``analyzer diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import emit, note_all

if TYPE_CHECKING:
    from analyzer.domain.report import Kind

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415


def _read_kind(context: click.Context, parameter: click.Parameter, value: str | None) -> Kind | None:
    """The kind of change that `value` names."""
    from analyzer.domain.report import Kind

    if value is None:
        return None

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
    help="Exit with 1 from this kind on: identical, moved, refactor, unit, rounding (default), undecided, semantic,"
    " lost.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="An earlier report as JSON: what it has is accepted, by fingerprint.",
)
@selection_options
@common_options("diff")
def command(
    common: Common,
    base: str,
    head: str,
    fail_on: Kind | None,
    baseline: Path | None,
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
) -> int:
    """Compare the formulas of BASE and HEAD by meaning: what changed, for whom, by how much.

    A side is a tag, branch, commit, version, WORKTREE, INSTALLED, a wheel, or a folder with SGLang.
    """
    from analyzer import api
    from analyzer.domain.report import Kind

    with api.Workspace(common.for_api()) as workspace:
        settings = workspace.settings
        common = common.with_formats(settings.formats, "diff")
        scenarios, quantities = scenarios or settings.scenarios, quantities or settings.quantities
        report = api.diff(base, head, scenarios=scenarios, quantities=quantities, options=workspace)
        report = api.accept(report, settings, baseline)
        emit("diff", report, common, workspace.rules, scenarios)
    if not common.in_text:
        note_all(report.notes, common)
    thresholds = (kind for kind in (fail_on, settings.fail_on, Kind.ROUNDING) if kind is not None)
    return int(report.verdict >= next(thresholds))
