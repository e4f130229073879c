"""Snapshots as JSON files: exact, with every shared sub-term written once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from analyzer.adapters.node_table import NodeTable, read_nodes, term_at
from analyzer.adapters.place_table import NameTable, name_at, read_places
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
    """A Formula whose terms are rows of the node table."""

    term: int
    unit: str
    source_unit: str
    error: int | None
    source_name: str
    locations: str
    preceded_by: tuple[str, ...] = ()


class _StoredInput(msgspec.Struct, frozen=True, array_like=True):
    """InputFacts whose default is a row of the node table."""

    default: int | None
    source_names: tuple[str, ...]
    locations: str


class _StoredHop(msgspec.Struct, frozen=True, array_like=True):
    """A Hop whose names are rows of the name table."""

    kind: str
    caller: int
    callee: int
    source: str
    target: str
    place: str


class _StoredCall(msgspec.Struct, frozen=True, array_like=True):
    """A Call whose names are rows of the name table."""

    caller: int
    callee: int
    place: str


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
    path: tuple[_StoredHop, ...]
    gaps: tuple[Gap, ...]
    coverage: Coverage
    unit_conversions: tuple[UnitConversion, ...]
    unit_findings: tuple[UnitFinding, ...]
    manifest: dict[str, str | None]
    calls: tuple[_StoredCall, ...]
    settings: dict[str, _StoredFormula]
    setting_gaps: tuple[Gap, ...]
    nodes: list[list[Any]]
    names: list[str]


class _Header(msgspec.Struct, frozen=True):
    schema_version: int


_DECODER: Final = msgspec.json.Decoder(_Stored)


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """`snapshot` as JSON, one entry a line so that two files compare well."""
    found = snapshot.extraction
    table, names = NodeTable(_roots(found)), NameTable()
    stored = _Stored(
        schema_version=snapshot.schema_version,
        tool_version=snapshot.tool_version,
        rules_digest=snapshot.rules_digest,
        ref=snapshot.revision.spec,
        resolved=snapshot.revision.resolved,
        commit=snapshot.revision.commit,
        version=snapshot.revision.version,
        entry=found.entry,
        quantities=_store_formulas(found.quantities, table, names),
        definitions=_store_formulas(found.definitions, table, names),
        inputs={name: _store_input(facts, table, names) for name, facts in sorted(found.inputs.items())},
        units=dict(sorted(snapshot.units.items())),
        path=tuple(_store_hop(hop, names) for hop in found.hops),
        gaps=found.gaps,
        coverage=found.coverage,
        unit_conversions=found.unit_conversions,
        unit_findings=found.unit_findings,
        manifest=dict(sorted(found.manifest.items())),
        calls=tuple(_store_call(call, names) for call in found.calls),
        settings=_store_formulas(found.settings, table, names),
        setting_gaps=found.setting_gaps,
        nodes=table.nodes,
        names=names.names,
    )
    return one_entry_a_line({name: getattr(stored, name) for name in stored.__struct_fields__})


def content_digest(snapshot: Snapshot) -> str:
    """A digest of what was extracted: the same for two snapshots that differ in how they were asked for and made."""
    unnamed = replace(snapshot, revision=Revision("", "", ""), tool_version="", rules_digest="")
    return hashlib.sha256(encode_snapshot(unnamed)).hexdigest()


def _roots(found: Extraction) -> list[Term]:
    """Every term that the file refers to, in the order of the file."""
    formulas = [formula for group in (found.quantities, found.definitions) for _, formula in sorted(group.items())]
    terms = [term for formula in formulas for term in (formula.term, formula.error)]
    terms += [facts.default for _, facts in sorted(found.inputs.items())]
    terms += [formula.term for _, formula in sorted(found.settings.items())]
    return [term for term in terms if term is not None]


def decode_snapshot(content: bytes, *, name: str = "snapshot") -> Snapshot:
    """The snapshot that `content` holds. Raises SnapshotError."""
    try:
        stored = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(content, name, str(error)) from error
    if stored.schema_version != SCHEMA_VERSION:
        raise _unreadable(content, name, "")
    try:
        terms = read_nodes(stored.nodes)
        extraction = _restore(stored, terms)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return SnapshotError(f"the snapshot is damaged: {reason}", where=name, hint=hint)
    if version != SCHEMA_VERSION:
        what = f"the snapshot has format {version}, this program reads format {SCHEMA_VERSION}"
        return SnapshotError(what, where=name, hint=hint)
    return SnapshotError(f"the snapshot is damaged: {reason}", where=name, hint=hint)


def _store_formulas(formulas: Mapping[str, Formula], table: NodeTable, names: NameTable) -> dict[str, _StoredFormula]:
    return {
        name: _StoredFormula(
            term=table.row(formula.term),
            unit=formula.unit,
            source_unit=formula.source_unit,
            error=None if formula.error is None else table.row(formula.error),
            source_name=formula.source_name,
            locations=names.places(formula.locations),
            preceded_by=formula.preceded_by,
        )
        for name, formula in sorted(formulas.items())
    }


def _store_input(facts: InputFacts, table: NodeTable, names: NameTable) -> _StoredInput:
    return _StoredInput(
        default=None if facts.default is None else table.row(facts.default),
        source_names=facts.source_names,
        locations=names.places(facts.locations),
    )


def _store_hop(hop: Hop, names: NameTable) -> _StoredHop:
    place = names.places((Span(hop.path, hop.line, hop.line),))
    return _StoredHop(hop.kind, names.row(hop.caller), names.row(hop.callee), hop.source, hop.target, place)


def _store_call(call: Call, names: NameTable) -> _StoredCall:
    return _StoredCall(names.row(call.caller), names.row(call.callee), names.places((call.location,)))


def _restore(stored: _Stored, terms: list[Term]) -> Extraction:
    return Extraction(
        entry=stored.entry,
        quantities=_restore_formulas(stored.quantities, terms, stored.names),
        definitions=_restore_formulas(stored.definitions, terms, stored.names),
        inputs={
            name: InputFacts(
                name,
                None if item.default is None else term_at(item.default, terms),
                item.source_names,
                read_places(item.locations, stored.names),
            )
            for name, item in stored.inputs.items()
        },
        hops=tuple(_restore_hop(hop, stored.names) for hop in stored.path),
        gaps=stored.gaps,
        coverage=stored.coverage,
        unit_conversions=stored.unit_conversions,
        unit_findings=stored.unit_findings,
        manifest=stored.manifest,
        calls=tuple(_restore_call(call, stored.names) for call in stored.calls),
        settings=_restore_formulas(stored.settings, terms, stored.names),
        setting_gaps=stored.setting_gaps,
    )


def _restore_formulas(
    stored: Mapping[str, _StoredFormula], terms: list[Term], names: Sequence[str]
) -> dict[str, Formula]:
    return {name: _restore_formula(item, terms, names) for name, item in stored.items()}


def _restore_formula(item: _StoredFormula, terms: list[Term], names: Sequence[str]) -> Formula:
    return Formula(
        term=term_at(item.term, terms),
        unit=item.unit,
        source_unit=item.source_unit,
        error=None if item.error is None else term_at(item.error, terms),
        source_name=item.source_name,
        locations=read_places(item.locations, names),
        preceded_by=item.preceded_by,
    )


def _restore_hop(hop: _StoredHop, names: Sequence[str]) -> Hop:
    (place,) = read_places(hop.place, names)
    caller, callee = name_at(hop.caller, names), name_at(hop.callee, names)
    return Hop(hop.kind, caller, callee, hop.source, hop.target, place.path, place.line)


def _restore_call(call: _StoredCall, names: Sequence[str]) -> Call:
    (place,) = read_places(call.place, names)
    return Call(name_at(call.caller, names), name_at(call.callee, names), place)


def one_entry_a_line(document: Mapping[str, Any]) -> bytes:
    """`document` as JSON that compares well: each key, and each entry of a mapping or sequence, on its own line."""
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
