"""The garbage collector while formulas are built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# Objects made before the collector looks at the youngest ones, and how seldom it looks at all.
_THRESHOLDS: Final = (200_000, 20, 100)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect seldom: what an analysis allocates lives as long as the analysis, and looking costs a quarter of it."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
