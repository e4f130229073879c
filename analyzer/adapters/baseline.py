"""Reading what was accepted before: an earlier report of `diff`, as JSON."""

from __future__ import annotations

from pathlib import Path

import msgspec

from analyzer.adapters.files import read_input
from analyzer.domain.errors import UsageError
from analyzer.domain.report import SCHEMA_VERSION

_HINT = "write one with: analyzer diff BASE HEAD --format json -o FILE"


class _Change(msgspec.Struct, frozen=True):
    fingerprint: str


class _Report(msgspec.Struct, frozen=True):
    schema_version: int
    changes: tuple[_Change, ...]
    accepted: tuple[_Change, ...] = ()


def read_baseline(path: Path) -> frozenset[str]:
    """The fingerprints in the report at `path`, those that it had accepted included. Raises UsageError."""
    try:
        report = msgspec.json.decode(read_input(str(path)), type=_Report)
    except OSError as error:
        raise UsageError(f"cannot read the baseline: {error.strerror}", where=str(path), hint=_HINT) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the baseline is no report of diff: {error}", where=str(path), hint=_HINT) from error
    if report.schema_version != SCHEMA_VERSION:
        what = f"the baseline has format {report.schema_version}, this program reads format {SCHEMA_VERSION}"
        raise UsageError(what, where=str(path), hint=_HINT)
    return frozenset(change.fingerprint for change in (*report.changes, *report.accepted))
