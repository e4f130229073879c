"""Notes and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from analyzer.domain.characters import printable, shortened
from analyzer.render.defuse import defuse


class StderrProgress:
    """Says notes always, unless quiet, and counts on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def note(self, message: str) -> None:
        """Say one line."""
        if not self._quiet:
            click.echo(defuse(f"note: {shortened(printable(message))}"), err=True)

    def track(self, items: Iterable[str], total: int, label: str) -> Iterable[str]:
        """Yield `items`, counting them."""
        return items if self._quiet or not sys.stderr.isatty() else _count(items, total, label)


def _count(items: Iterable[str], total: int, label: str) -> Iterator[str]:
    for done, item in enumerate(items, 1):
        click.echo(f"\r\x1b[K{label} {done}/{total} {printable(item)}", nl=False, err=True)
        yield item
    click.echo("\r\x1b[K", nl=False, err=True)
