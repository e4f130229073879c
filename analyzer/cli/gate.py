"""What the commands that gate a change share: the threshold, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from analyzer.domain.effect import Limit, Server
    from analyzer.domain.report import DiffReport, Kind
    from analyzer.domain.settings import Settings

# `--help` answers without the domain.
# ruff: noqa: PLC0415


def fail_on_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--fail-on``."""
    return click.option(
        "--fail-on",
        callback=_read_kind,
        metavar="KIND",
        help="Exit with 1 from this kind of change on: identical, moved, refactor, unit, rounding (default),"
        " undecided, semantic, lost.",
    )(function)


def fail_if_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--fail-if``."""
    return click.option(
        "--fail-if",
        "limits",
        multiple=True,
        callback=_read_limits,
        metavar="LIMIT",
        help="Exit with 1 when a quantity of a server in the settings changes so, such as"
        " 'max_total_num_tokens < -1%' (repeatable). The kinds of change then count only with --fail-on; a lost"
        " formula always does.",
    )(function)


def servers_for(settings: Settings, scenarios: Sequence[str], limits: Sequence[Limit] = ()) -> list[Server]:
    """The servers in the settings that are of one of `scenarios`, all when empty.

    Raises UsageError when that leaves none for the `limits`.
    """
    from analyzer.domain.errors import UsageError

    found = [server for server in settings.servers if not scenarios or server.scenario in scenarios]
    if limits and settings.servers and not found:
        described = ", ".join(f"{server.name} ({server.scenario})" for server in settings.servers)
        message = f"no server in the settings is of {', '.join(scenarios)}, so that no limit can be judged"
        raise UsageError(message, hint=f"described are {described}; leave out --scenario, or describe one of it")
    return found


def judged(report: DiffReport, asked: Kind | None, settings: Settings, limits: Sequence[Limit]) -> DiffReport:
    """`report` with the reasons why the gate fails.

    A gate by effect needs no kind of change but a lost formula.
    """
    from analyzer.application.gate import judge_gate
    from analyzer.domain.report import Kind

    if asked is not None:
        return judge_gate(report, asked, "--fail-on")
    if settings.fail_on is not None:
        return judge_gate(report, settings.fail_on, f"fail_on in {settings.place}")
    usual = Kind.LOST if limits else Kind.ROUNDING
    return judge_gate(report, usual, "the gate, without --fail-on,")


def _read_limits(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[Limit, ...]:
    """The limits that `values` write."""
    del context, parameter
    if not values:
        return ()
    from analyzer.domain.effect import parse_limit

    return tuple(map(parse_limit, values))


def kinds_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--kind``."""
    return click.option(
        "--kind",
        "kinds",
        multiple=True,
        callback=_read_kinds,
        metavar="KIND",
        help="Restrict the report to changes of this kind (repeatable): refactor, unit, rounding, undecided, semantic,"
        " lost. Left out: all but refactor.",
    )(function)


def _read_kinds(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[Kind, ...]:
    found = (_read_kind(context, parameter, value) for value in values)
    return tuple(kind for kind in found if kind is not None)


def _read_kind(context: click.Context, parameter: click.Parameter, value: str | None) -> Kind | None:
    """The kind of change that `value` names."""
    from analyzer.domain.report import KINDS

    if value is None:
        return None
    if value not in KINDS:
        message = f"{value!r} is not one of {', '.join(KINDS)}"
        raise click.BadParameter(message, context, parameter)
    return KINDS[value]
