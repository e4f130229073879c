"""`analyzer explain`: a log in, a verdict out."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analyzer.adapters.snapshot_source import write_snapshot
from analyzer.domain.source import Revision
from tests.cli.conftest import Run
from tests.support.hostile import HOSTILE
from tests.support.samples import formula, snapshot, with_default_fraction
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
    less = PLAIN.replace("#tokens: 159294, KV size: 10.42", "#tokens: 90000, KV size: 5.89").replace(
        "=159294", "=90000"
    )
    report = explain(analyzer, less, *MODEL)
    assert report["verdict"] == "inconsistent"
    # 131.84 GiB before loading would do it too, but no card with 94.04 GiB free has them.
    assert "17.17 GiB free after loading" in " ".join(report["reasons"])
    assert "another process" in " ".join(report["reasons"])
    larger = explain(analyzer, less, *MODEL, "--set", "gpu_mem=143771")
    assert "131.83 GiB free before loading" in " ".join(larger["reasons"])
    more = PLAIN.replace("#tokens: 159294, KV size: 10.42", "#tokens: 2000000, KV size: 130.89")
    hopeless = explain(analyzer, more.replace("=159294", "=2000000"), *MODEL)
    assert "no free memory that this device can have" in " ".join(hopeless["reasons"])
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
    assert report["verdict"] == "explained"
    # Whatever was left after the pool, 11.10 GiB of 94.04, was not enough with the fraction that failed.
    assert (report["window"]["largest"], report["window"]["largest_is_bound"]) == (0.879, True)
    short = "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 95.00 GiB of which 512.00 MiB is free."
    told = explain(analyzer, f"{log}torch.OutOfMemoryError: CUDA out of memory. {short}\n", *MODEL)
    assert told["window"]["largest"] == pytest.approx(0.864)
    assert "1.50 GiB short with 0.88" in " ".join(told["window"]["reasons"])
    unnamed = log.replace("Memory pool end", "memory")
    report = explain(analyzer, f"{unnamed}torch.OutOfMemoryError: CUDA out of memory. Tried\n", *MODEL)
    assert report["window"]["largest"] == 0.879


RANKS = "".join(
    line.replace("] ", f" TP{rank}] ", 1) if rank or "server_args" not in line else line
    for line in PLAIN.splitlines(keepends=True)
    for rank in range(1 if "server_args" in line else 4)
).replace("tp_size=1", "tp_size=4")


@pytest.mark.parametrize(
    ("log", "arguments", "words"),
    [
        (
            RANKS,
            ("--set", "tp_size=8", "--set", "num_layers=30"),
            "tp_size is 8, and the log is of 4 ranks, TP0 to TP3",
        ),
        (PLAIN, ("--set", "num_layers=122"), "the pool of the log has 70,237 bytes per token, the formula 140,544"),
        (PLAIN, ("--set", "num_layers=122"), "a KV dtype of half the size (--kv-cache-dtype), 2 times the tp_size"),
        (PLAIN, ("--set", "num_layers=183"), "may have 3 times the tp_size, or another model; with those of the log"),
        (PLAIN, ("--set", "num_layers=100"), "another model, tp_size or KV dtype"),
        (
            RANKS.replace(
                "TP2] Load weight end. type=SomeForCausalLM, dtype=bfloat16, avail mem=21.71",
                "TP2] Load weight end. type=SomeForCausalLM, dtype=bfloat16, avail mem=19.50",
            ),
            (),
            "TP2 alone reads 19.50 GiB after loading; with 21.71 GiB",
        ),
    ],
)
def test_a_contradiction_is_named_before_another_process_is(
    analyzer: Run, log: str, arguments: tuple[str, ...], words: str
) -> None:
    report = explain(analyzer, log, *MODEL, *arguments)
    reasons = " ".join(report["reasons"])
    assert report["verdict"] == "inconsistent"
    assert words in reasons
    assert "another process" not in reasons


def test_a_log_of_one_node_has_some_of_the_ranks(analyzer: Run) -> None:
    log = RANKS.replace("tp_size=4", "tp_size=8, nnodes=2, node_rank=0")
    assert "ranks" not in " ".join(explain(analyzer, log, *MODEL)["reasons"])


def test_the_smallest_fraction_says_what_it_gives(analyzer: Run) -> None:
    window = explain(analyzer, REFUSED, *MODEL, "--scenario", "mla", "--set", "context_len=131072")["window"]
    assert 0 < window["tokens"] < 2000
    assert window["context_len"] == 131072
    assert window["smallest"] < window["whole_context"] == 0.861


def test_a_start_that_is_not_there_is_an_error(analyzer: Run) -> None:
    Path("server.log").write_text(f"{REFUSED}{PLAIN}")
    found = analyzer("explain", "server.log", *MODEL, "--start", "7")
    assert (found.code, found.out) == (2, "")
    assert "there is no start 7; the log has 2" in found.err
    assert analyzer("explain", "server.log", *MODEL, "--start", "2").code == 0


def test_a_log_of_something_else_has_no_start(analyzer: Run) -> None:
    report = explain(analyzer, "hello\n", *MODEL)
    assert (report["verdict"], report["missing"], report["steps"]) == ("insufficient", ["start"], [])
    found = analyzer("explain", "server.log", *MODEL)
    assert "there is no start of a server in this log" in found.out
    assert not found.out.startswith("Start of")


def test_a_kv_dtype_that_no_release_takes_is_an_error(analyzer: Run) -> None:
    Path("server.log").write_text(PLAIN)
    found = analyzer("explain", "server.log", *MODEL, "--kv-cache-dtype", "fp7")
    assert (found.code, found.out) == (2, "")
    assert "unknown KV cache dtype 'fp7'" in found.err
    assert analyzer("explain", "server.log", *MODEL, "--kv-cache-dtype", "fp8_e5m2").code == 0


def test_the_state_pool_of_a_rank_that_only_some_lines_name_is_in_the_ledger(analyzer: Run) -> None:
    states = "[2025-06-01 10:00:26 TP0] Mamba Cache is allocated. max_mamba_cache_size: 10, conv_state size: 0.25GB, "
    log = PLAIN.replace("[2025-06-01 10:00:26] KV", f"{states}ssm_state size: 1.00GB\n[2025-06-01 10:00:26] KV")
    ledger = {item["item"]: item["gib"] for item in explain(analyzer, log, *MODEL, "--scenario", "mla")["ledger"]}
    assert ledger["mamba states"] == 1.25


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


def test_what_moves_a_count_is_called_by_the_values_of_its_flag(analyzer: Run) -> None:
    element = "num_layers * (576 if use_mla_backend else 4096) * kv_element_size"
    found = snapshot(Revision("v0.4.1", "v0.4.1", "c" * 40, "0.4.1"))
    definitions = {**found.extraction.definitions, "cell_size": formula(element, "byte/token")}
    write_snapshot(replace(found, extraction=replace(found.extraction, definitions=definitions)), Path("snapshots"))
    report = explain(analyzer, PLAIN, "--ref", "v0.4.1", "--set", "num_layers=61", "--set", "kv_element_size=2")
    [lever] = [lever for lever in report["levers"] if lever["flag"] == "--kv-cache-dtype"]
    assert (lever["before"], lever["after"]) == ("auto", "fp8_e4m3")
    text = analyzer("explain", "server.log", "--ref", "v0.4.1", "--set", "num_layers=61", "--set", "kv_element_size=2")
    assert "auto -> fp8_e4m3" in text.out
