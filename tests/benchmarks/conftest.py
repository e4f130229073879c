"""What the benchmarks read: a clone of SGLang with its tags."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def clone() -> Path:
    """The clone in SGLANG_REPO."""
    found = os.environ.get("SGLANG_REPO")
    if found is None:
        pytest.skip("needs a clone of SGLang with its tags: set SGLANG_REPO")
    return Path(found)
