"""The one stored form of an extraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from analyzer.domain.extraction import Extraction
from analyzer.domain.source import Revision

SCHEMA_VERSION: Final = 4


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An extraction with what is needed to trust and to read it later.

    `units` names the unit of every input and sub-quantity.
    """

    revision: Revision
    extraction: Extraction
    tool_version: str
    rules_digest: str
    units: Mapping[str, str] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION
