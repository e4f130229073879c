"""`analyzer timeline`: one quantity of one server over releases."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from analyzer.adapters.snapshot_source import write_snapshot
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from tests.cli.conftest import Run, changed
from tests.support.samples import formula, not_enough_memory, snapshot

SERVER = ("--scenario", "mla", "--set", "available_gpu_memory=21.71", "--set", "pre_model_load_memory=94.04")
GIVEN = (*SERVER, "--set", "num_layers=61", "--set", "mem_fraction_static=0.88")


def add_release(version: str, found: Snapshot | None = None) -> None:
    """Add a release to the folder that `analyzer` reads."""
    revision = Revision(f"v{version}", f"v{version}", version.replace(".", "")[:1] * 40, version)
    write_snapshot(replace(found or snapshot(), revision=revision), Path("snapshots"))


def timeline(analyzer: Run, *arguments: str) -> dict[str, Any]:
    """The report, checked against the schema."""
    found = analyzer("timeline", *arguments, "--format", "json")
    assert found.code == 0, found.err
    report: dict[str, Any] = json.loads(found.out)
    schema = json.loads(files("analyzer.render").joinpath("schema/timeline.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)
    return report


def test_every_release_has_what_eval_computes_and_the_change(analyzer: Run) -> None:
    add_release("0.4.6")
    releases = timeline(analyzer, *GIVEN)["releases"]
    assert [(item["ref"], item["value"], item["changed"], item["delta"]) for item in releases] == [
        ("v0.4.0", 159_294, False, None),
        ("v0.4.6", 159_294, False, 0),
        ("v0.5.0", 139_868, True, -19_426),
    ]
    computed = json.loads(analyzer("eval", "v0.5.0", *GIVEN, "--format", "json").out)
    assert computed[0]["quantities"]["max_total_num_tokens"]["value"] == 139_868


def test_a_release_without_a_number_stays_and_says_why(analyzer: Run) -> None:
    broken = snapshot().extraction
    tokens = replace(broken.quantities["max_total_num_tokens"], error=not_enough_memory())
    rest = formula("0 - available_gpu_memory", "GiB")
    refusing = replace(broken, quantities={**broken.quantities, "max_total_num_tokens": tokens, "rest_memory": rest})
    add_release("0.4.1", replace(snapshot(), extraction=refusing))
    Path("snapshots/v0.4.2.json").write_text("{")
    add_release("0.4.3", changed())
    report = timeline(analyzer, *GIVEN)
    by_ref = {item["ref"]: item for item in report["releases"]}
    assert list(by_ref) == ["v0.4.0", "v0.4.1", "v0.4.2", "v0.4.3", "v0.5.0"]
    assert (by_ref["v0.4.1"]["value"], by_ref["v0.4.1"]["error"]) == (None, "RuntimeError")
    assert "damaged" in by_ref["v0.4.2"]["lost"]
    # The last number before counts, whatever lies between.
    assert (by_ref["v0.4.3"]["changed"], by_ref["v0.4.3"]["delta"]) == (True, -19_426)
    shown = analyzer("timeline", *GIVEN).out
    assert "SGLang raises RuntimeError" in shown
    assert "lost: the snapshot is damaged" in shown


def test_where_every_release_is_lost_each_says_why(analyzer: Run) -> None:
    for version in ("0.4.0", "0.5.0"):
        Path(f"snapshots/v{version}.json").write_text("{")
    found = analyzer("timeline", *GIVEN)
    assert found.code == 3
    assert "None of these releases has a number." in found.out
    assert [f"analyzer snapshot v{version}" in " ".join(found.out.split()) for version in ("0.4.0", "0.5.0")] == [
        True
    ] * 2


def test_missing_inputs_are_named(analyzer: Run) -> None:
    report = timeline(analyzer, *SERVER, "--set", "mem_fraction_static=0.88")
    assert [item["missing"] for item in report["releases"]] == [["num_layers"], ["num_layers"]]
    assert "needs num_layers" in analyzer("timeline", *SERVER, "--set", "mem_fraction_static=0.88").out


def test_changes_are_visible_in_text(analyzer: Run) -> None:
    add_release("0.4.6")
    shown = analyzer("timeline", *GIVEN)
    assert "\x1b" not in shown.out
    assert "It changes at 1 of 3 releases, 1 of them for the worse." in shown.out
    lines = shown.out.splitlines()
    assert "    v0.4.0 .. v0.4.6 (2)  159,294" in lines
    assert "  a v0.5.0                139,868  -19,426 (-12.2 %)" in lines
    # High on the left, low on the right, and the letter of the table below the column where it fell.
    [top] = [line for line in lines if line.startswith("  159,294 |")]
    [bottom] = [line for line in lines if line.startswith("  139,868 |")]
    [axis] = [line for line in lines if line.strip().startswith("+---")]
    assert (top.index("*"), bottom.index("*")) == (axis.index("+") + 1, axis.index("a"))


def test_the_range_is_restricted(analyzer: Run) -> None:
    add_release("0.4.6")
    assert [item["ref"] for item in timeline(analyzer, *GIVEN, "--from", "v0.4.6")["releases"]] == ["v0.4.6", "v0.5.0"]
    assert [item["ref"] for item in timeline(analyzer, *GIVEN, "--to", "0.4.6")["releases"]] == ["v0.4.0", "v0.4.6"]
    wrong = analyzer("timeline", *GIVEN, "--from", "v0.9.0")
    assert (wrong.code, "did you mean v0.5.0" in wrong.err) == (2, True)
    assert "exchange --from and --to" in analyzer("timeline", *GIVEN, "--from", "v0.5.0", "--to", "v0.4.0").err


def test_markdown_is_a_table(analyzer: Run) -> None:
    shown = analyzer("timeline", *GIVEN, "--format", "markdown").out.replace("\\", "")
    assert "| v0.5.0 | 139,868 | **-19,426 (-12.2 %)** |  |" in shown


def test_wrong_names_are_one_line(analyzer: Run) -> None:
    assert "did you mean num_layers" in analyzer("timeline", *GIVEN, "--set", "num_layer=1").err
    assert "did you mean max_total_num_tokens" in analyzer("timeline", "--quantity", "max_total_num_token").err
    assert "unknown scenario" in analyzer("timeline", "--scenario", "mlx").err


def test_releases_that_size_the_model_as_another_family_are_noted(analyzer: Run) -> None:
    Path("config.json").write_text(json.dumps({"num_hidden_layers": 61}))
    for version, term in (("0.5.1", "False"), ("0.5.2", "True"), ("0.5.3", "True")):
        found = snapshot()
        definitions = {**found.extraction.definitions, "use_mla_backend": formula(term, "1")}
        add_release(version, replace(found, extraction=replace(found.extraction, definitions=definitions)))
    memory = ("--gpu-memory", "94.04", "--weights", "50", "--mem-fraction-static", "0.88")
    report = timeline(analyzer, "--model", "config.json", *memory, "--from", "v0.5.0")
    assert [(item["scenario"], item["value"] is not None) for item in report["releases"]] == [
        ("mha", True),
        ("mha", True),
        ("mla", True),
        ("mla", True),
    ]
    assert [note for note in report["notes"] if "v0.5.0 to v0.5.1: sized as mha" in note]
    same = timeline(analyzer, "--model", "config.json", *memory, "--from", "v0.5.2")
    assert not [note for note in same["notes"] if "sized as" in note]
