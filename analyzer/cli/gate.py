"""What the commands that gate a change share: the threshold, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from analyzer.domain.report import Kind

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


def threshold(asked: Kind | None, configured: Kind | None) -> Kind:
    """The kind of change from which on the gate fails."""
    from analyzer.domain.report import Kind

    return next(kind for kind in (asked, configured, Kind.ROUNDING) if kind is not None)


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
