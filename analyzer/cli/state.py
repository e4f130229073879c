"""What the whole run shares: how much to say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class State:
    """Set by the options of the command, read where failures are reported."""

    verbose: bool = False
