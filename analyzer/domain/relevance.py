"""What of a tree matters for a formula, once that is found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Position = tuple[int, ...]
"""Where execution stands: the lines of the outermost calls on the way, compared in order."""

ANY_NAME: Final = "*"
"""Stands for an attribute whose name is computed."""

Node = tuple[str, str]
"""Receiver class key ("" for a plain function) and definition key."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """What mattered in a tree after all passes; the first one over a tree that is much the same begins with it.

    `relevant` maps the attributes that some pass read to the classes that they are read of, `until` to where for the
    last time. `reached` are the definitions that no name led to, `patching` the modules that set attributes of others.
    `sizing` is the definition whose raises belong to the formula.
    """

    relevant: Mapping[str, frozenset[str]]
    reached: frozenset[Node]
    patching: tuple[str, ...]
    sizing: str
    until: Mapping[str, Position]
