"""Reading what was accepted before: an earlier report of `diff`, as JSON."""

from __future__ import annotations

from pathlib import Path

import msgspec

from analyzer.domain.errors import UsageError

_HINT = "write one with: analyzer diff BASE HEAD --format json -o FILE"


class _Change(msgspec.Struct, frozen=True):
    fingerprint: str


class _Report(msgspec.Struct, frozen=True):
    changes: tuple[_Change, ...]
    accepted: tuple[_Change, ...] = ()


def read_baseline(path: Path) -> frozenset[str]:
    """The fingerprints in the report at `path`, those that it had accepted included. Raises UsageError."""
    try:
        report = msgspec.json.decode(path.read_bytes(), type=_Report)
    except OSError as error:
        raise UsageError(f"cannot read the baseline: {error.strerror}", where=str(path), hint=_HINT) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the baseline is no report of diff: {error}", where=str(path), hint=_HINT) from error
    return frozenset(change.fingerprint for change in (*report.changes, *report.accepted))
