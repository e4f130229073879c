"""The result of a comparison, free of any output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from analyzer.domain.effect import ServerEffect
from analyzer.domain.extraction import Coverage, Gap, Hop
from analyzer.domain.source import Revision, Span
from analyzer.domain.terms import Scalar

SCHEMA_VERSION: Final = 1
"""The format of every report as JSON."""


class Kind(IntEnum):
    """How strong a change is; the order decides the verdict and the exit code."""

    IDENTICAL = 0
    MOVED = 1
    REFACTOR = 2
    UNIT = 3
    ROUNDING = 4
    UNDECIDED = 5
    SEMANTIC = 6
    LOST = 7

    @property
    def label(self) -> str:
        """The word used in every output."""
        return self.name.lower()


KINDS: Final = {kind.label: kind for kind in Kind}
"""The kinds by the word used in every output."""

Value = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """Inputs under which the two sides differ, and what each side gives.

    A side is a number or the name of the exception it raises; an input that is left unset is
    absent from `inputs` and listed in `unset`.
    """

    inputs: Mapping[str, Value]
    unset: tuple[str, ...]
    before: Scalar
    after: Scalar

    @property
    def delta(self) -> float | None:
        """What is added to `before`, when both are numbers."""
        if _number(self.before) and _number(self.after):
            return self.after - self.before  # type: ignore[operator]  # both are numbers here
        return None

    @property
    def relative(self) -> float | None:
        """The change as a share of `before`."""
        delta = self.delta
        return delta / abs(self.before) if delta is not None and self.before else None  # type: ignore[arg-type]  # before is a number when delta is


def _number(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change as a person reads it."""

    text: str
    latex: str
    unit: str
    locations: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class CommitReference:
    """A commit that introduced a change."""

    sha: str
    date: str
    subject: str
    pr: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """One difference in one quantity, over the scenarios in which it is the same difference."""

    rule: str
    kind: Kind
    level: str
    action: str
    quantity: str
    affects: tuple[str, ...]
    scenarios: tuple[str, ...]
    guard: str
    summary: str
    before: Side | None
    after: Side | None
    witness: Witness | None
    bound: str | None
    commits: tuple[CommitReference, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """A change that somebody has accepted, and why."""

    change: Change
    reason: str


@dataclass(frozen=True, slots=True)
class MachineFraction:
    """The default fraction of both sides on one machine, for models of `scenarios`; `gpu_mem` in MiB.

    A side is a number, the name of the exception it raises, or None where the release has no default.
    """

    gpu: str
    gpu_mem: int
    tp_size: int
    before: Scalar
    after: Scalar
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffReport:
    """What `analyzer diff` found between two refs; what is `accepted` counts in no other field.

    `effects` are those on the servers in the settings, `failures` the reasons why the gate of the project fails.
    """

    base: Revision
    head: Revision
    verdict: Kind
    verdicts: Mapping[str, Mapping[str, Kind]]
    changes: tuple[Change, ...]
    gaps: tuple[Gap, ...]
    coverage: Mapping[str, Coverage]
    base_path: tuple[Hop, ...]
    head_path: tuple[Hop, ...]
    notes: tuple[str, ...]
    accepted: tuple[Accepted, ...] = ()
    default_fractions: tuple[MachineFraction, ...] = ()
    effects: tuple[ServerEffect, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def breaks_a_limit(self) -> bool:
        """Whether the effect on a server is one that its team will not have."""
        return any(effect.broken for effect in self.effects)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit that changed a formula; `kind` is the strongest of its changes.

    `side` is ``head``, or ``base`` for a commit that only the base's own line has. `twin` is the commit of the other
    side that made the same change; `undone_by` and `undoes` pair a change with the one that took it back.
    """

    commit: CommitReference
    kind: Kind
    changes: tuple[Change, ...]
    side: str = "head"
    twin: str | None = None
    undone_by: str | None = None
    undoes: str | None = None


@dataclass(frozen=True, slots=True)
class LogReport:
    """The commits between two revisions that changed a formula, newest first.

    `commits` are those that were looked at, `extracted` those whose formula had to be extracted.
    """

    base: Revision
    head: Revision
    merge_base: str
    entries: tuple[LogEntry, ...]
    commits: int
    extracted: int
    notes: tuple[str, ...] = ()
