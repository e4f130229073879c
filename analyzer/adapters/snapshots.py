"""Snapshots as JSON files: exact, with every shared sub-term written once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from analyzer.adapters.node_table import NodeTable, read_nodes
from analyzer.domain.errors import SnapshotError
from analyzer.domain.extraction import (
    Call,
    Coverage,
    Extraction,
    Formula,
    Gap,
    Hop,
    InputFacts,
    UnitConversion,
    UnitFinding,
)
from analyzer.domain.snapshot import SCHEMA_VERSION, Snapshot
from analyzer.domain.source import Revision, Span
from analyzer.domain.terms import Term

_RENEW: Final = "write it anew with: analyzer snapshot {ref} -o {place}"


class _StoredFormula(msgspec.Struct, frozen=True):
    """A Formula whose terms are indexes into the node table."""

    term: int
    unit: str
    source_unit: str
    error: int | None
    source_name: str
    locations: tuple[Span, ...]


class _StoredInput(msgspec.Struct, frozen=True):
    """InputFacts whose default is an index into the node table."""

    default: int | None
    source_names: tuple[str, ...]
    locations: tuple[Span, ...]


class _Stored(msgspec.Struct, frozen=True):
    """The file, key by key."""

    schema_version: int
    tool_version: str
    rules_digest: str
    ref: str
    resolved: str
    commit: str
    version: str | None
    entry: str
    quantities: dict[str, _StoredFormula]
    definitions: dict[str, _StoredFormula]
    inputs: dict[str, _StoredInput]
    units: dict[str, str]
    path: tuple[Hop, ...]
    gaps: tuple[Gap, ...]
    coverage: Coverage
    unit_conversions: tuple[UnitConversion, ...]
    unit_findings: tuple[UnitFinding, ...]
    manifest: dict[str, str | None]
    calls: tuple[Call, ...]
    nodes: list[list[Any]]


class _Header(msgspec.Struct, frozen=True):
    schema_version: int


_DECODER: Final = msgspec.json.Decoder(_Stored)


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """`snapshot` as JSON, one entry a line so that two files compare well."""
    table = NodeTable()
    found = snapshot.extraction
    stored = _Stored(
        schema_version=snapshot.schema_version,
        tool_version=snapshot.tool_version,
        rules_digest=snapshot.rules_digest,
        ref=snapshot.revision.spec,
        resolved=snapshot.revision.resolved,
        commit=snapshot.revision.commit,
        version=snapshot.revision.version,
        entry=found.entry,
        quantities=_store_formulas(found.quantities, table),
        definitions=_store_formulas(found.definitions, table),
        inputs={name: _store_input(facts, table) for name, facts in sorted(found.inputs.items())},
        units=dict(sorted(snapshot.units.items())),
        path=found.hops,
        gaps=found.gaps,
        coverage=found.coverage,
        unit_conversions=found.unit_conversions,
        unit_findings=found.unit_findings,
        manifest=dict(sorted(found.manifest.items())),
        calls=found.calls,
        nodes=table.nodes,
    )
    return _one_entry_a_line({name: getattr(stored, name) for name in stored.__struct_fields__})


def decode_snapshot(content: bytes, *, name: str = "snapshot") -> Snapshot:
    """The snapshot that `content` holds. Raises SnapshotError."""
    try:
        stored = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unreadable(content, name, str(error)) from error
    if stored.schema_version != SCHEMA_VERSION:
        raise _unreadable(content, name, "")
    try:
        terms = read_nodes(stored.nodes)
        extraction = _restore(stored, terms)
    except (LookupError, TypeError, ValueError) as error:
        raise _unreadable(content, name, str(error)) from error
    return Snapshot(
        revision=Revision(stored.ref, stored.resolved, stored.commit, stored.version),
        extraction=extraction,
        tool_version=stored.tool_version,
        rules_digest=stored.rules_digest,
        units=stored.units,
        schema_version=stored.schema_version,
    )


class SnapshotJson:
    """The JSON form as a codec for the cache."""

    def encode(self, snapshot: Snapshot) -> bytes:
        """The bytes of `snapshot`."""
        return encode_snapshot(snapshot)

    def decode(self, content: bytes) -> Snapshot:
        """The snapshot in `content`."""
        return decode_snapshot(content)


def _unreadable(content: bytes, name: str, reason: str) -> SnapshotError:
    """Why `content` cannot be used: another format, or damage."""
    hint = _RENEW.format(ref=Path(name).stem, place=Path(name).parent)
    try:
        version = msgspec.json.decode(content, type=_Header).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError):
        return SnapshotError(f"the snapshot is damaged: {reason}", where=name, hint=hint)
    if version != SCHEMA_VERSION:
        what = f"the snapshot has format {version}, this program reads format {SCHEMA_VERSION}"
        return SnapshotError(what, where=name, hint=hint)
    return SnapshotError(f"the snapshot is damaged: {reason}", where=name, hint=hint)


def _store_formulas(formulas: Mapping[str, Formula], table: NodeTable) -> dict[str, _StoredFormula]:
    return {
        name: _StoredFormula(
            term=table.index(formula.term),
            unit=formula.unit,
            source_unit=formula.source_unit,
            error=None if formula.error is None else table.index(formula.error),
            source_name=formula.source_name,
            locations=formula.locations,
        )
        for name, formula in sorted(formulas.items())
    }


def _store_input(facts: InputFacts, table: NodeTable) -> _StoredInput:
    return _StoredInput(
        default=None if facts.default is None else table.index(facts.default),
        source_names=facts.source_names,
        locations=facts.locations,
    )


def _restore(stored: _Stored, terms: list[Term]) -> Extraction:
    return Extraction(
        entry=stored.entry,
        quantities={name: _restore_formula(item, terms) for name, item in stored.quantities.items()},
        definitions={name: _restore_formula(item, terms) for name, item in stored.definitions.items()},
        inputs={
            name: InputFacts(
                name,
                None if item.default is None else terms[item.default],
                item.source_names,
                item.locations,
            )
            for name, item in stored.inputs.items()
        },
        hops=stored.path,
        gaps=stored.gaps,
        coverage=stored.coverage,
        unit_conversions=stored.unit_conversions,
        unit_findings=stored.unit_findings,
        manifest=stored.manifest,
        calls=stored.calls,
    )


def _restore_formula(item: _StoredFormula, terms: list[Term]) -> Formula:
    return Formula(
        term=terms[item.term],
        unit=item.unit,
        source_unit=item.source_unit,
        error=None if item.error is None else terms[item.error],
        source_name=item.source_name,
        locations=item.locations,
    )


def _one_entry_a_line(document: Mapping[str, Any]) -> bytes:
    encode = msgspec.json.encode
    parts = []
    for key, value in document.items():
        if isinstance(value, dict) and value:
            lines = b",\n".join(encode(name) + b":" + encode(item) for name, item in value.items())
            body = b"{\n" + lines + b"\n}"
        elif isinstance(value, list | tuple) and value:
            body = b"[\n" + b",\n".join(map(encode, value)) + b"\n]"
        else:
            body = encode(value)
        parts.append(encode(key) + b":" + body)
    return b"{" + b",\n".join(parts) + b"}\n"
