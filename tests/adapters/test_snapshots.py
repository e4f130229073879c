"""Snapshots: exact, readable later, and honest about damage."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.adapters.snapshot_source import SnapshotSource, snapshot_name, write_snapshot
from analyzer.adapters.snapshots import decode_snapshot, encode_snapshot
from analyzer.domain.errors import SnapshotError, UnknownRefError
from analyzer.domain.extraction import Formula, with_settings
from analyzer.domain.snapshot import SCHEMA_VERSION, Snapshot
from analyzer.domain.source import Revision
from analyzer.domain.terms import (
    Term,
    atom,
    constant,
    handle,
    opaque,
    raising,
    raw_apply,
    raw_conditional,
    symbol,
)
from tests.support.samples import REVISION, settings, snapshot


def with_term(term: Term) -> Snapshot:
    """The sample snapshot with `term` as one of its formulas."""
    found = snapshot(replace(REVISION, note=None))
    return replace(found, extraction=replace(found.extraction, quantities={"q": Formula(term, "1", "1")}))


def test_a_snapshot_reads_back_as_itself() -> None:
    found = snapshot(replace(REVISION, note=None))
    original = replace(found, extraction=with_settings(found.extraction, settings()))
    assert decode_snapshot(encode_snapshot(original)) == original


@pytest.mark.parametrize(
    "value",
    [1, 1.0, True, None, "x", -0.0, 0.1, 1e-300, 2**70, -(2**64), math.inf, "\x1b"],
)
def test_constants_keep_value_and_type(value: float | str | None) -> None:
    term = constant(value)
    assert decode_snapshot(encode_snapshot(with_term(term))).extraction.quantities["q"].term is term


def test_every_kind_of_term_is_kept() -> None:
    term = raw_conditional(
        raw_apply("==", (symbol("a"), atom("torch.float16"))),
        opaque("f", (constant(math.nan), handle("object", "k"))),
        raising("RuntimeError"),
    )
    assert decode_snapshot(encode_snapshot(with_term(term))).extraction.quantities["q"].term is term


def test_a_shared_term_is_written_once() -> None:
    term: Term = symbol("a")
    for _ in range(200):
        term = raw_apply("+", (term, term))
    content = encode_snapshot(with_term(term))
    assert len(json.loads(content)["nodes"]) < 300
    assert decode_snapshot(content).extraction.quantities["q"].term is term


def damage(change: str) -> bytes:
    content = encode_snapshot(snapshot())
    match change:
        case "cut":
            return content[:-50]
        case "operator":
            return content.replace(b'["*"', b'["?"')
        case "index":
            return content.replace(b'"term":', b'"term":9')
        case _:
            return b"\xff\x00"


@pytest.mark.parametrize("change", ["cut", "operator", "index", "bytes"])
def test_damage_is_one_line_with_how_to_renew(change: str) -> None:
    with pytest.raises(SnapshotError, match=r"damaged.*analyzer snapshot v0\.4\.0"):
        decode_snapshot(damage(change), name="snapshots/v0.4.0.json")


def test_another_format_is_said_so() -> None:
    content = encode_snapshot(snapshot()).replace(b'"schema_version":%d' % SCHEMA_VERSION, b'"schema_version":99')
    with pytest.raises(SnapshotError, match=f"has format 99, this program reads format {SCHEMA_VERSION}"):
        decode_snapshot(content)


def test_releases_are_found_by_equal_version(tmp_path: Path) -> None:
    write_snapshot(snapshot(), tmp_path)
    source = SnapshotSource(tmp_path)
    assert list(source.releases()) == ["v0.4.0"]
    assert source.load("0.4").revision == Revision(
        "0.4", "v0.4.0", "a" * 40, "0.4.0", "0.4 resolved to snapshot v0.4.0"
    )
    assert source.load("v0.4.0").revision.note is None
    with pytest.raises(UnknownRefError, match=r"v0\.4\.0"):
        source.load("v0.4.1")


def test_a_ref_makes_a_safe_file_name() -> None:
    assert snapshot_name(Revision("x", "../origin/ma in", "c")) == ".._origin_ma_in.json"
