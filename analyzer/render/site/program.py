"""The data of the calculator as a script that a page loads from disk."""

from __future__ import annotations

import hashlib

import msgspec

from analyzer.application.docs.pages import Program


def program_text(program: Program) -> str:
    """`program` as JSON."""
    return msgspec.json.encode(program).decode()


def program_name(text: str) -> str:
    """A name for a program: releases that compute the same share it."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
