"""`analyzer explain`: a log in, a verdict out."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analyzer.adapters.snapshot_source import write_snapshot
from analyzer.domain.source import Revision
from tests.cli.conftest import Run
from tests.support.hostile import HOSTILE
from tests.support.samples import snapshot, with_default_fraction
from tests.support.start_logs import PLAIN, REFUSED

MODEL = ("--ref", "v0.4.0", "--set", "num_layers=61")


def explain(analyzer: Run, log: str | bytes, *arguments: str) -> dict[str, Any]:
    """The report on `log`, checked against its schema."""
    Path("server.log").write_bytes(log if isinstance(log, bytes) else log.encode())
    found = analyzer("explain", "server.log", *arguments, "--format", "json")
    assert found.code == 0, found.err
    report: dict[str, Any] = json.loads(found.out)
    schema = json.loads(files("analyzer.render").joinpath("schema/explain.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)
    return report


def test_a_start_is_reproduced(analyzer: Run) -> None:
    report = explain(analyzer, PLAIN, *MODEL)
    assert report["verdict"] == "reproduces"
    assert report["predicted"]["max_total_num_tokens"] == report["observed"]["max_total_num_tokens"] == 159294
    assert report["difference"]["tokens"] == 0
    assert report["readings"]["available_gpu_memory"]["value"] == 21.71
    ledger = {item["item"]: item["gib"] for item in report["ledger"]}
    assert ledger == {
        "free before loading": 94.04,
        "weights": 72.33,
        "KV cache": 10.42,
        "graphs": 1.25,
        "left over": 9.75,
        "unexplained": 0.29,
    }
    [fraction] = [lever for lever in report["levers"] if lever["flag"] == "--mem-fraction-static"]
    assert fraction["change"] == pytest.approx(0.01 * 94.04 * 2**30 / 70272, abs=1)


def test_bytes_per_token_come_from_the_pool_when_the_model_is_not_known(analyzer: Run) -> None:
    report = explain(analyzer, PLAIN, "--ref", "v0.4.0")
    assert report["verdict"] == "explained"
    assert "cell_size" in report["assumed"]
    short = explain(analyzer, PLAIN.replace("KV size: 10.42 GB", ""), "--ref", "v0.4.0")
    assert (short["verdict"], short["missing"]) == ("insufficient", ["cell_size"])


def test_what_cannot_be_is_inconsistent(analyzer: Run) -> None:
    report = explain(analyzer, PLAIN.replace("#tokens: 159294", "#tokens: 90000").replace("=159294", "=90000"), *MODEL)
    assert report["verdict"] == "inconsistent"
    assert "another process" in " ".join(report["reasons"])
    impossible = explain(analyzer, PLAIN.replace("static=0.88", "static=0.55"), *MODEL)
    assert impossible["verdict"] == "inconsistent"
    assert "-20.61 GiB" in " ".join(impossible["reasons"])


def test_a_tolerance_can_be_given(analyzer: Run) -> None:
    log = PLAIN.replace("159294", "159000")
    assert explain(analyzer, log, *MODEL, "--tolerance", "0.001")["verdict"] == "explained"
    assert explain(analyzer, log, *MODEL, "--tolerance", "0.1")["verdict"] == "reproduces"


@pytest.mark.parametrize(
    ("version", "limit", "words"),
    [
        ("0.4.1", 0.02, "releases before v0.4.6"),
        ("0.4.6", 0.1, "releases from v0.4.6 to v0.5.9"),
        ("0.5.9", 0.1, "releases from v0.4.6 to v0.5.9"),
        ("0.5.10rc0", 0.35, "releases from v0.5.10 on"),
    ],
)
def test_the_tolerance_is_that_of_the_time_and_says_so(analyzer: Run, version: str, limit: float, words: str) -> None:
    write_snapshot(snapshot(Revision(f"v{version}", f"v{version}", "c" * 40, version)), Path("snapshots"))
    arguments = ("--ref", version, "--set", "num_layers=61")
    difference = explain(analyzer, PLAIN, *arguments)["difference"]
    assert difference["era_gib"] == limit
    assert difference["rounding_gib"] <= difference["tolerance_gib"] <= limit
    for form in ("text", "markdown"):
        shown = " ".join(analyzer("explain", "server.log", *arguments, "--format", form).out.split())
        assert f"at most {limit:g} since {words}" in shown.replace("\\", "")


def test_without_a_fraction_in_the_log_the_default_is_used_and_said(analyzer: Run) -> None:
    for version, default in (("0.4.1", "0.88"), ("0.4.2", "0.85")):
        revision = Revision(f"v{version}", f"v{version}", "c" * 40, version)
        write_snapshot(with_default_fraction(snapshot(revision), default), Path("snapshots"))
    log = PLAIN.replace("mem_fraction_static=0.88, ", "")
    assert log != PLAIN
    fits = explain(analyzer, log, "--ref", "v0.4.1", "--set", "num_layers=61")
    assert fits["verdict"] == "reproduces"
    assert "default of this version" in fits["assumed"]["mem_fraction_static"]
    other = explain(analyzer, log, "--ref", "v0.4.2", "--set", "num_layers=61")
    assert (other["verdict"], other["missing"]) == ("insufficient", ["mem_fraction_static"])
    assert "0.85, does not give what came out" in " ".join(other["reasons"])
    # v0.4.0 has no default.
    unknown = explain(analyzer, log, *MODEL)
    assert (unknown["verdict"], unknown["missing"]) == ("insufficient", ["mem_fraction_static"])


def test_a_refused_start_gets_the_fractions_that_work(analyzer: Run) -> None:
    report = explain(analyzer, REFUSED, *MODEL)
    assert report["verdict"] == "reproduces"
    assert report["window"]["smallest"] == 0.77
    assert report["window"]["current"] == 0.55
    assert report["window"]["possible"] is True
    hopeless = explain(analyzer, REFUSED.replace("21.71", "0.00"), *MODEL)
    assert hopeless["window"]["possible"] is False


def test_memory_that_graphs_took_bounds_the_fraction(analyzer: Run) -> None:
    log = "".join(line for line in PLAIN.splitlines(keepends=True) if "max_total_num" not in line)
    report = explain(analyzer, f"{log}torch.OutOfMemoryError: CUDA out of memory. Tried\n", *MODEL)
    assert report["failure"]["kind"] == "out_of_memory"
    assert report["window"]["largest"] == 0.986
    assert report["verdict"] == "explained"


def test_a_log_without_a_version_still_has_its_readings(analyzer: Run) -> None:
    report = explain(analyzer, PLAIN)
    assert (report["verdict"], report["missing"], report["ref"]) == ("insufficient", ["version"], None)
    assert report["readings"]["pre_model_load_memory"]["value"] == 94.04
    assert explain(analyzer, f"sglang==0.4.0\n{PLAIN}")["ref"] == "0.4.0"
    assert explain(analyzer, f"sglang==9.9.9\n{PLAIN}")["verdict"] == "insufficient"


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe" * 1000, b"avail mem=" * 1000, b"Load weight end. avail mem=9"]
)
def test_anything_can_be_given(analyzer: Run, content: bytes) -> None:
    assert explain(analyzer, content, *MODEL)["verdict"] == "insufficient"


def test_nothing_of_a_hostile_log_reaches_the_terminal(analyzer: Run) -> None:
    evil = " ".join(HOSTILE[:-2]).replace("\n", " ").replace("\r", " ")
    log = (
        PLAIN.replace("type=SomeForCausalLM", f"type=SomeForCausalLM {evil}")
        + f"RuntimeError: Not enough memory {evil}\n"
    )
    Path("evil.log").write_text(log.replace("max_total_num_tokens", "max_total"))
    for form in ("text", "markdown", "json"):
        found = analyzer("explain", "evil.log", *MODEL, "--format", form)
        assert "\x1b" not in found.out
        assert "\u202e" not in found.out


def test_markdown_can_be_pasted_anywhere(analyzer: Run) -> None:
    Path("server.log").write_text(PLAIN)
    found = analyzer("explain", "server.log", *MODEL, "--format", "markdown")
    assert "**reproduces**" in found.out
    for private in ("secret-key", "10.1.2.3", "example/model", "server.log", "2025-06-01"):
        assert private not in found.out


def test_text_has_the_verdict_first(analyzer: Run) -> None:
    Path("server.log").write_text(PLAIN)
    found = analyzer("explain", "server.log", *MODEL)
    assert found.out.splitlines()[1].startswith("reproduces: ")
    assert "(1 - 0.88)" in found.out
    assert "= 159,294 token" in found.out


def test_a_refusal_needs_no_bytes_per_token(analyzer: Run) -> None:
    report = explain(analyzer, REFUSED, "--ref", "v0.4.0")
    assert report["verdict"] == "reproduces"
    assert report["window"]["smallest"] == 0.77
    started = explain(analyzer, REFUSED.replace("0.55", "0.88"), "--ref", "v0.4.0")
    assert started["verdict"] == "inconsistent"
