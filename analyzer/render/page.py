"""What a report is written on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    # `--help` asks for the formats and needs no rule.
    from analyzer.domain.pin import Pin
    from analyzer.domain.rules import AnyRule

UPSTREAM: Final = "https://github.com/sgl-project/sglang"


@dataclass(frozen=True, slots=True)
class Page:
    """The width in columns, whether colours may be used, names in words, the rules, where links lead.

    `audiences` says whom a scenario is about.

    `full` asks for every change in detail, also where there are many.

    `pin` is the line of the reader's own project that the report is about.
    """

    width: int = 100
    colour: bool = False
    scenario_titles: Mapping[str, str] = field(default_factory=dict)
    audiences: Mapping[str, str] = field(default_factory=dict)
    quantity_titles: Mapping[str, str] = field(default_factory=dict)
    symbol_titles: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, AnyRule] = field(default_factory=dict)
    upstream: str = UPSTREAM
    pin: Pin | None = None
    full: bool = False
