"""``analyzer diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.cli.gate import fail_on_option, threshold
from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import emit, note_all

if TYPE_CHECKING:
    from analyzer.domain.report import Kind

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415


@click.command("diff")
@click.argument("base")
@click.argument("head")
@click.option(
    "--pins",
    is_flag=True,
    help="BASE and HEAD are files that pin sglang, or REVISION:PATH of the repository around: requirements,"
    " constraints, pyproject.toml, a lock file, a Dockerfile.",
)
@fail_on_option
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
    pins: bool,  # noqa: FBT001 - click calls by keyword
    fail_on: Kind | None,
    baseline: Path | None,
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
) -> int:
    """Compare the formulas of BASE and HEAD by meaning: what changed, for whom, by how much.

    A side is a tag, branch, commit, version, WORKTREE, INSTALLED, a wheel, or a folder with SGLang.
    """
    from analyzer import api

    with api.Workspace(common.for_api()) as workspace:
        settings = workspace.settings
        common = common.with_formats(settings.formats, "diff")
        scenarios, quantities = scenarios or settings.scenarios, quantities or settings.quantities
        pin = None
        if pins:
            old, pin = api.read_pin(base), api.read_pin(head)
            base, head = old.ref, pin.ref
            note_all((f"{found.spec}, line {found.line}: sglang {found.ref}" for found in (old, pin)), common)
        report = api.diff(base, head, scenarios=scenarios, quantities=quantities, options=workspace)
        report = api.accept(report, settings, baseline)
        emit("diff", report, common, workspace.rules, scenarios, pin=pin)
    if not common.in_text:
        note_all(report.notes, common)
    return int(report.verdict >= threshold(fail_on, settings.fail_on))
