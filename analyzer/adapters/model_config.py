"""Reads a Hugging Face ``config.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from analyzer.adapters.files import read_input
from analyzer.domain.errors import UsageError

_MAX_SIZE: Final = 16 << 20


def read_model_config(file: Path) -> Mapping[str, Any]:
    """The object in `file`. Raises UsageError."""
    try:
        content = read_input(str(file), limit=_MAX_SIZE)
        found = json.loads(content, parse_constant=_finite, parse_float=_finite)
    except OSError as error:
        raise UsageError(f"cannot read the configuration of the model: {error.strerror}", where=str(file)) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the configuration of the model is not JSON: {error}", where=str(file), hint="give a config.json"
        ) from error
    if not isinstance(found, Mapping):
        raise UsageError("the configuration of the model is not an object", where=str(file), hint="give a config.json")
    return found


def _finite(text: str) -> float:
    """The number that `text` writes. Raises ValueError for one that JSON does not have."""
    value = float(text)
    if not math.isfinite(value):
        message = f"{text} is no finite number"
        raise ValueError(message)
    return value
