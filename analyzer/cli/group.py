"""The top command, which imports a subcommand only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click

from analyzer.cli.options import version_option

# Subcommand -> its module, which has a click command called `command`.
_COMMANDS: Final[Mapping[str, str]] = {
    "diff": "analyzer.cli.commands.diff",
    "log": "analyzer.cli.commands.log",
    "show": "analyzer.cli.commands.show",
    "trace": "analyzer.cli.commands.trace",
    "graph": "analyzer.cli.commands.graph",
    "eval": "analyzer.cli.commands.evaluate",
    "explain": "analyzer.cli.commands.explain",
    "solve": "analyzer.cli.commands.solve",
    "timeline": "analyzer.cli.commands.timeline",
    "check": "analyzer.cli.commands.check",
    "snapshot": "analyzer.cli.commands.snapshot",
    "docs": "analyzer.cli.commands.docs",
    "rules": "analyzer.cli.commands.rules",
    "cache": "analyzer.cli.commands.cache",
}
_HELP: Final = """Read the KV-cache sizing formula of SGLang at any git ref, and compare it by meaning.

Exit codes: 0 nothing found, 1 findings at or above --fail-on, 2 wrong usage or unreadable input,
3 the formula could not be extracted."""

CONTEXT_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class CommandGroup(click.Group):
    """Lists the subcommands in the order of their table."""

    def __init__(self) -> None:
        super().__init__("analyzer", help=_HELP, params=[version_option()], context_settings=CONTEXT_SETTINGS)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the subcommands."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand called `cmd_name`, imported now."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(_COMMANDS[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that `args` begin with; an unknown one is answered with the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from analyzer.domain.suggest import suggestion  # noqa: PLC0415 - only for a mistyped name

            raise click.UsageError(f"{error.message.rstrip('.')}{suggestion(args[0], _COMMANDS)}", ctx) from error
