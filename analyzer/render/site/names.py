"""Names of files and anchors, whatever a release or a scenario is called."""

from __future__ import annotations

import hashlib
import re
from typing import Final

_UNSAFE: Final = re.compile(r"[^\w.-]", re.ASCII)


def safe(name: str) -> str:
    """`name` as a part of an address; names that differ stay apart."""
    plain = _UNSAFE.sub("_", name)
    if plain == name and not name.startswith(".") and name:
        return name
    return f"{plain.lstrip('.')[:60]}-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def release_address(name: str) -> str:
    """Where the page of a release is."""
    return f"versions/{safe(name)}.html"
