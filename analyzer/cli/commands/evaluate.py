"""``analyzer eval``."""

from __future__ import annotations

from dataclasses import replace

import click

from analyzer.cli.options import Common, ModelOptions, common_options, model_options, selection_options, set_option
from analyzer.cli.output import emit, note_all

# A command imports what it runs when it runs: `--help` answers at once.
# ruff: noqa: PLC0415

_BAD_CASE = 2


@click.command("eval")
@click.argument("ref")
@set_option
@click.option("--inputs", metavar="FILE", help="A JSON list of cases (`scenario`, `inputs`); - reads stdin.")
@model_options
@selection_options
@common_options("eval")
def command(
    common: Common,
    model: ModelOptions,
    ref: str,
    settings: tuple[str, ...],
    inputs: str | None,
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
) -> int:
    """Put numbers into the formulas of REF; the results are those the server would compute."""
    from analyzer import api
    from analyzer.cli.cases import read_cases
    from analyzer.domain.errors import UsageError

    with api.Workspace(common.for_api()) as workspace:
        meant = api.read_model(ref, model.config, model.arguments, options=workspace)
        named = scenarios or ((meant.scenario,) if model.config is not None else ())
        cases = [meant.case(case) for case in read_cases(inputs, settings, named, model.memory)]
        report = api.evaluate(ref, cases, quantities=quantities, options=workspace)
        report = replace(report, assumed=meant.assumptions(named))
        problems = [result.problem for result in report.results if result.problem is not None]
        if problems and inputs is None:
            raise UsageError(problems[0])
        emit("eval", report, common, workspace.rules, (case.scenario for case in cases))
    note_all(filter(None, [report.revision.note]), common)
    if not common.in_text:
        ignored = dict.fromkeys(name for result in report.results for name in result.ignored)
        note_all([f"the formulas of {ref} do not read {', '.join(ignored)}"] if ignored else [], common)
        note_all((f"a case cannot be evaluated: {problem}" for problem in dict.fromkeys(problems)), common)
    return _BAD_CASE if problems else 0
