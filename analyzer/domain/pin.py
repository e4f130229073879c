"""A version of SGLang that a file of a project pins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pin:
    """The ref that a file names, and where it names it; `file` is the path, `spec` what the user called it."""

    ref: str
    spec: str
    file: str
    line: int
