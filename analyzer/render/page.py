"""What a report is written on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Page:
    """The width in columns, whether colours may be used, and the scenarios and quantities in words."""

    width: int = 100
    colour: bool = False
    scenario_titles: Mapping[str, str] = field(default_factory=dict)
    quantity_titles: Mapping[str, str] = field(default_factory=dict)
