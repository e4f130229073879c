"""The data of the calculator as a script that a page loads from disk."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec

from analyzer.application.docs.pages import Program


def script_data(value: Any) -> str:
    """`value` as JSON that is JavaScript too, in plain ASCII and without a tag, whatever the texts in it are."""
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).replace("<", "\\u003c")


def program_text(program: Program) -> str:
    """`program` as JSON."""
    return script_data(program)


def program_name(text: str) -> str:
    """A name for a program: releases that compute the same share it."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
