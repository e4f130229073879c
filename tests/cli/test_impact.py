"""`analyzer diff --model`: what one server gets from two refs."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from analyzer.adapters.snapshot_source import write_snapshot
from analyzer.domain.source import Revision
from tests.cli.conftest import Run
from tests.support.samples import snapshot, with_default_fraction

SERVER = ("--model", "config.json", "--gpu-memory", "94.04", "--weights", "72.33", "--mem-fraction-static", "0.88")


@pytest.fixture(autouse=True)
def _config(analyzer: Run) -> None:
    """A model with latent attention in the current folder."""
    Path("config.json").write_text(json.dumps({"num_hidden_layers": 61, "kv_lora_rank": 512}))


def test_the_term_that_moved_is_named(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", *SERVER, "--format", "json")
    assert found.code == 1
    report = json.loads(found.out)
    schema = json.loads(files("analyzer.render").joinpath("schema/impact.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)
    assert report["scenario"] == "mla"
    tokens = report["quantities"]["max_total_num_tokens"]
    assert (tokens["before"], tokens["after"]) == (159_294, 139_868)
    assert [(item["term"], item["tokens"]) for item in report["movements"]] == [("bytes per token", -19_426)]
    assert report["quantities"]["cell_size"] == {"before": 70272, "after": 80032, "unit": "byte/token"}


def test_a_server_that_notices_nothing(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "0.4.0", *SERVER)
    assert found.code == 0
    assert "This server gets the same numbers from both." in found.out


def test_what_is_not_known_is_named(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--model", "config.json", "--gpu-memory", "94.04")
    assert "available_gpu_memory, mem_fraction_static missing" in found.out


def test_without_a_fraction_the_default_of_each_release_is_used_and_said(analyzer: Run) -> None:
    for version, default in (("0.4.1", "0.88"), ("0.4.2", "0.86")):
        revision = Revision(f"v{version}", f"v{version}", "c" * 40, version)
        write_snapshot(with_default_fraction(snapshot(revision), default), Path("snapshots"))
    server = SERVER[:-2]
    shown = analyzer("diff", "v0.4.1", "v0.4.2", *server)
    assert "mem_fraction_static is not given: the default of these versions is used, 0.88 and 0.86" in shown.out
    report = json.loads(analyzer("diff", "v0.4.1", "v0.4.2", *server, "--format", "json").out)
    assert report["defaults"] == {"mem_fraction_static": {"before": 0.88, "after": 0.86}}
    given = [analyzer("diff", "v0.4.1", "v0.4.2", *server, "--set", f"mem_fraction_static={f}") for f in (0.88, 0.86)]
    assert [found.code for found in given] == [0, 0]
    tokens = report["quantities"]["max_total_num_tokens"]
    assert [f"{tokens[side]:,}" in found.out for side, found in zip(("before", "after"), given, strict=True)] == [
        True
    ] * 2


def test_inputs_that_cannot_be_are_refused(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", *SERVER, "--set", "num_layer=1")
    assert (found.code, found.out) == (2, "")
    assert "did you mean num_layers" in found.err


def test_options_that_do_not_fit_are_refused(analyzer: Run) -> None:
    assert "--set describes a server" in analyzer("diff", "v0.4.0", "v0.5.0", "--set", "page_size=1").err
    assert "has no sarif report" in analyzer("diff", "v0.4.0", "v0.5.0", *SERVER, "--format", "sarif").err
    assert "cannot read" in analyzer("diff", "v0.4.0", "v0.5.0", "--model", "none.json").err


def test_markdown_can_be_a_comment(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", *SERVER, "--format", "markdown")
    assert "159,294 tokens become 139,868" in found.out.replace("\\", "")
