"""What all JSON reports share."""

from __future__ import annotations

from typing import Any, Final

SCHEMA_VERSION: Final = 1
Object = dict[str, Any]
