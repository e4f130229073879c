"""Settings of the whole test run."""

from __future__ import annotations

import gc

# As the program itself does: formulas are many long-lived objects, and collecting among them doubles the time.
gc.set_threshold(200_000, 20, 100)
