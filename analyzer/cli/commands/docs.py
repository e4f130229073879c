"""``analyzer docs``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from analyzer.cli.options import Common, common_options, selection_options
from analyzer.cli.output import write_stdout
from analyzer.domain.errors import UsageError

_FORMATS: Final = ("html", "markdown")
_LISTED: Final = 20
_STALE: Final = 1


@click.command("docs")
@click.option("--from", "first", metavar="REF", help="The first release (default: the oldest that is known).")
@click.option("--to", "last", metavar="REF", help="The last release, or any ref after it (default: the newest).")
@click.option("--format", "file_format", type=click.Choice(_FORMATS), default=_FORMATS[0], help="What to write.")
@click.option(
    "--check", type=click.Path(path_type=Path), metavar="DIR", help="Write nothing; fail when DIR is not up to date."
)
@selection_options
@common_options("docs", output_help="The folder to write into.")
def command(
    common: Common,
    first: str | None,
    last: str | None,
    file_format: str,
    check: Path | None,
    scenarios: tuple[str, ...],
    quantities: tuple[str, ...],
) -> int:
    """Write documentation of the formulas: a site that opens from disk, or Markdown.

    Each release step by step, what changed from one to the next, what that means for servers, and a calculator.
    """
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    folders = [*common.outputs, *([check] if check is not None else [])]
    if len(folders) != 1:
        raise UsageError("the documentation needs one folder", hint="give -o DIR to write it, or --check DIR")
    report = api.docs(
        folders[0],
        first=first,
        last=last,
        scenarios=scenarios,
        quantities=quantities,
        file_format=file_format,
        check=check is not None,
        options=common.for_api(),
    )
    if check is None:
        write_stdout(f"{report.folder}: {report.files} files\n")
        return 0
    if not report.stale:
        write_stdout(f"{report.folder} is up to date ({report.files} files)\n")
        return 0
    more = len(report.stale) - _LISTED
    lines = [f"{report.folder} is stale: {len(report.stale)} of {report.files} files differ", *report.stale[:_LISTED]]
    lines += [f"and {more} more"] if more > 0 else []
    write_stdout("\n  ".join(lines) + f"\nrenew it: the same options with -o {report.folder} in place of --check\n")
    return _STALE
