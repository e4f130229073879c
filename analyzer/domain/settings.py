"""What a team writes down about its gate: who matters, how loud, what is accepted and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.domain.effect import Limit, Server
from analyzer.domain.report import Kind


@dataclass(frozen=True, slots=True)
class Ignore:
    """A rule whose findings are accepted: in every quantity unless some are named, for versions below `until`."""

    rule: str
    reason: str
    quantities: tuple[str, ...] = ()
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of one project; every field has the value that holds without one.

    `place` is the file it was read from, for messages.
    """

    scenarios: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    levels: Mapping[str, str] = field(default_factory=dict)
    ignores: tuple[Ignore, ...] = ()
    repository: Path | None = None
    formats: tuple[str, ...] = ()
    fail_on: Kind | None = None
    fail_if: tuple[Limit, ...] = ()
    servers: tuple[Server, ...] = ()
    place: str = ""
