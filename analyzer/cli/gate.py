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


def servers_for(settings: Settings, scenarios: Sequence[str]) -> list[Server]:
    """The servers in the settings that are of one of `scenarios`, all when empty."""
    return [server for server in settings.servers if not scenarios or server.scenario in scenarios]


def fails_gate(report: DiffReport, threshold: Kind) -> bool:
    """Whether a comparison fails: by the kind of a change, or by the effect on a server."""
    return report.verdict >= threshold or report.breaks_a_limit


def threshold(asked: Kind | None, configured: Kind | None, limits: Sequence[Limit]) -> Kind:
    """The kind of change from which on the gate fails; a gate by effect needs none but a lost formula."""
    from analyzer.domain.report import Kind

    usual = Kind.LOST if limits else Kind.ROUNDING
    return next(kind for kind in (asked, configured, usual) if kind is not None)


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
    from analyzer.domain.report import Kind

    if value is None:
        return None
    known = {kind.label: kind for kind in Kind}
    if value not in known:
        message = f"{value!r} is not one of {', '.join(known)}"
        raise click.BadParameter(message, context, parameter)
    return known[value]
