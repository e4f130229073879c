"""``python -m analyzer`` and the ``analyzer`` program."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A run builds millions of small long-lived objects and ends: collecting between them only costs time.
    gc.set_threshold(200_000, 20, 100)
    from analyzer.cli import run  # noqa: PLC0415 - after the collector is set

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
