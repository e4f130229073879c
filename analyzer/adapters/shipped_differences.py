"""What differs between neighbouring releases, beside their snapshots: comparing takes long, and neither can change.

A file counts only for the very snapshots, rules and comparing code that it was made with. Where one of them is another
one, or the file is damaged, it is as if there were none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from analyzer.adapters.files import read_file
from analyzer.adapters.node_table import NodeTable, constant_row, read_nodes, term_at
from analyzer.adapters.output import make_folder, write_file
from analyzer.adapters.snapshot_source import snapshot_name
from analyzer.adapters.snapshots import content_digest, one_entry_a_line
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.report import KINDS, Value, Witness
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from analyzer.domain.terms import Constant, Scalar, Term

if TYPE_CHECKING:
    from analyzer.compare import Differences
    from analyzer.compare.findings import Finding

# Comparing is imported where a file is read or written: a warm run does neither.
# ruff: noqa: PLC0415

_FOLDER: Final = "differences"
# The layers that decide what a comparison says; they import nothing above them.
_DECIDING: Final = ("compare", "ports", "domain")


class _StoredWitness(msgspec.Struct, frozen=True, array_like=True):
    inputs: dict[str, Any]
    unset: tuple[str, ...]
    before: Any
    after: Any


class _StoredFinding(msgspec.Struct, frozen=True, array_like=True):
    """A Finding whose terms are rows of the node table, and whose formulas are those of what it is about."""

    quantity: str
    kind: str
    area: str
    action: str
    before: int | None
    after: int | None
    scenarios: tuple[str, ...]
    affects: tuple[str, ...]
    has_formula: tuple[bool, bool]
    witness: _StoredWitness | None
    bound: str | None
    guard: str
    detail: str


class _Stored(msgspec.Struct, frozen=True):
    """The file, key by key."""

    key: str
    base: str
    head: str
    verdicts: dict[str, dict[str, str]]
    findings: tuple[_StoredFinding, ...]
    notes: tuple[str, ...]
    nodes: list[list[Any]]


class _Header(msgspec.Struct, frozen=True):
    key: str


_DECODER: Final = msgspec.json.Decoder(_Stored)


class ShippedDifferences:
    """The differences in a folder of snapshots."""

    def __init__(self, snapshots: Path) -> None:
        self._folder = snapshots / _FOLDER

    def find(self, base: Snapshot, head: Snapshot, rules: RuleSet) -> Differences | None:
        """All differences between two snapshots under `rules`; None where this very pair is not known."""
        try:
            content = read_file(self._path(base.revision, head.revision))
        except OSError:
            return None
        if _key_of(content) != _key(base, head, rules):
            return None
        try:
            return _decode(content, base.extraction, head.extraction)
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, ValueError, RecursionError):
            return None

    def write(self, base: Snapshot, head: Snapshot, rules: RuleSet, found: Differences) -> Path:
        """Keep `found`, and say where. Raises UsageError."""
        path = self._path(base.revision, head.revision)
        make_folder(path.parent)
        write_file(path, _encode(base, head, rules, found))
        return path

    def keep_only(self, pairs: Iterable[tuple[Revision, Revision]]) -> None:
        """Delete the files of other pairs."""
        kept = {self._path(base, head) for base, head in pairs}
        for path in self._folder.glob("*.json"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _path(self, base: Revision, head: Revision) -> Path:
        before, after = (Path(snapshot_name(side)).stem for side in (base, head))
        return self._folder / f"{before}-{after}.json"


def _key(base: Snapshot, head: Snapshot, rules: RuleSet) -> str:
    parts = (program_digest(), rules.digest, content_digest(base), content_digest(head))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _key_of(content: bytes) -> str | None:
    try:
        return msgspec.json.decode(content, type=_Header).key
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@cache
def program_digest() -> str:
    """A digest of the code that decides what a comparison says."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for layer in _DECIDING:
        for path in sorted((package / layer).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0")
            digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def _encode(base: Snapshot, head: Snapshot, rules: RuleSet, found: Differences) -> bytes:
    table = NodeTable(list(_terms(found)))
    stored = _Stored(
        key=_key(base, head, rules),
        base=base.revision.resolved,
        head=head.revision.resolved,
        verdicts={name: {s: kind.label for s, kind in row.items()} for name, row in found.verdicts.items()},
        findings=tuple(_store(finding, table) for finding in found.findings),
        notes=found.notes,
        nodes=table.nodes,
    )
    return one_entry_a_line({name: getattr(stored, name) for name in stored.__struct_fields__})


def _terms(found: Differences) -> Iterator[Term]:
    for finding in found.findings:
        for term in (finding.part.before, finding.part.after):
            if term is not None:
                yield term


def _store(finding: Finding, table: NodeTable) -> _StoredFinding:
    before, after = (None if term is None else table.row(term) for term in (finding.part.before, finding.part.after))
    return _StoredFinding(
        quantity=finding.quantity,
        kind=finding.kind.label,
        area=finding.part.area,
        action=finding.part.action,
        before=before,
        after=after,
        scenarios=finding.scenarios,
        affects=finding.affects,
        has_formula=(finding.before is not None, finding.after is not None),
        witness=_store_witness(finding.witness),
        bound=finding.bound,
        guard=finding.guard,
        detail=finding.detail,
    )


def _store_witness(witness: Witness | None) -> _StoredWitness | None:
    if witness is None:
        return None
    inputs = {name: _store_value(value) for name, value in witness.inputs.items()}
    return _StoredWitness(inputs, witness.unset, _store_value(witness.before), _store_value(witness.after))


def _store_value(value: Value) -> Any:
    """A value as JSON keeps it exactly; what it does not keep as a row, and a tuple as a list with its name."""
    if isinstance(value, tuple):
        return ["tuple", *map(_store_value, value)]
    row = constant_row(value)
    return row[1] if row[0] == "$" else row


def _read_value(stored: Any) -> Value:
    if not isinstance(stored, list):
        return _scalar(stored)
    if stored[0] == "tuple":
        return tuple(_scalar(_read_value(item)) for item in stored[1:])
    (term,) = read_nodes([stored])
    if not isinstance(term, Constant):
        message = f"not a literal: {stored!r}"
        raise TypeError(message)
    return term.value


def _scalar(value: object) -> Scalar:
    if value is not None and not isinstance(value, str | int | float):
        message = f"not a literal: {value!r}"
        raise TypeError(message)
    return value


def _decode(content: bytes, base: Extraction, head: Extraction) -> Differences:
    """The differences in `content`. Raises what a damaged file makes fail."""
    from analyzer.compare import Differences

    stored = _DECODER.decode(content)
    terms = read_nodes(stored.nodes)
    return Differences(
        verdicts={name: {s: KINDS[kind] for s, kind in row.items()} for name, row in stored.verdicts.items()},
        findings=tuple(_read(item, terms, base, head) for item in stored.findings),
        notes=stored.notes,
    )


def _read(item: _StoredFinding, terms: list[Term], base: Extraction, head: Extraction) -> Finding:
    from analyzer.compare.explain import Part
    from analyzer.compare.findings import Finding

    before, after = (None if row is None else term_at(row, terms) for row in (item.before, item.after))
    old, new = (
        _formula(side, item) if present else None for side, present in zip((base, head), item.has_formula, strict=True)
    )
    return Finding(
        quantity=item.quantity,
        kind=KINDS[item.kind],
        part=Part(item.area, item.action, before, after),
        scenarios=item.scenarios,
        before=old,
        after=new,
        affects=item.affects,
        witness=_read_witness(item.witness),
        bound=item.bound,
        guard=item.guard,
        detail=item.detail,
    )


def _formula(side: Extraction, item: _StoredFinding) -> Formula:
    if item.area == "setting":
        return side.settings[item.detail]
    formulas: Mapping[str, Formula] = side.quantities if item.quantity in side.quantities else side.definitions
    return formulas[item.quantity]


def _read_witness(stored: _StoredWitness | None) -> Witness | None:
    if stored is None:
        return None
    inputs = {name: _read_value(value) for name, value in stored.inputs.items()}
    before, after = _scalar(_read_value(stored.before)), _scalar(_read_value(stored.after))
    return Witness(inputs, stored.unset, before, after)
