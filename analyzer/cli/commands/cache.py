"""``analyzer cache``."""

from __future__ import annotations

from typing import Final

import click

from analyzer.cli.options import version_option
from analyzer.cli.output import write_stdout
from analyzer.domain.characters import printable

_STEP: Final = 1024
_UNITS: Final = ("B", "KiB", "MiB", "GiB")
_WORDS: Final = {
    "sglang.git": "clone of SGLang",
    "wheels": "releases from the package index",
    "snapshot": "extracted formulas",
    "diff": "comparisons",
    "history": "formulas of single commits",
    "log": "histories",
}


@click.command("cache", params=[version_option()])
@click.option("--clear", is_flag=True, help="Delete what is in the cache; nothing outside of it is touched.")
def command(clear: bool) -> None:  # noqa: FBT001 - click calls by keyword
    """Say where the cache is and how large, or clear it.

    $SGLANG_ANALYZER_CACHE names another folder.
    """
    from analyzer import api  # noqa: PLC0415 - `--help` does not need it

    if clear:
        write_stdout(f"{_size(api.clear_cache())} freed\n")
        return
    report = api.cache()
    lines = [f"{printable(str(report.folder))}: {_size(report.size)}"]
    for part in report.parts:
        words = f"{_WORDS[part.name]} ({part.name})" if part.name in _WORDS else printable(part.name)
        lines.append(f"  {_size(part.size):>10}  {words}, {part.files:,} file{'s' if part.files != 1 else ''}")
    write_stdout("\n".join(lines) + "\n")


def _size(count: int) -> str:
    """A number of bytes in the largest unit that leaves at least one."""
    power = 0
    while power + 1 < len(_UNITS) and count >= _STEP ** (power + 1):
        power += 1
    return f"{count} B" if power == 0 else f"{count / _STEP**power:.1f} {_UNITS[power]}"
