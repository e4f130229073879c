"""The commands: results on stdout, notes on stderr, exit codes as documented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.adapters.store import prepare_cache
from analyzer.domain.snapshot import SCHEMA_VERSION
from tests.cli.conftest import Run

START = ("--set", "available_gpu_memory=21.71", "--set", "pre_model_load_memory=94.04")
MODEL = ("--set", "mem_fraction_static=0.88", "--set", "num_layers=61")


def test_eval_computes(analyzer: Run) -> None:
    found = analyzer("eval", "v0.4.0", "--scenario", "mla", *START, *MODEL, "--format", "json")
    assert (found.code, found.err) == (0, "")
    [case] = json.loads(found.out)
    assert case["quantities"]["max_total_num_tokens"] == {"value": 159294, "unit": "token"}
    assert case["ref"] == "v0.4.0"
    assert case["scenario"] == "mla"


def test_eval_has_one_case_per_scenario(analyzer: Run) -> None:
    found = analyzer("eval", "v0.4.0", "--scenario", "mla", "--scenario", "mha", *START, *MODEL, "--format", "json")
    assert [case["scenario"] for case in json.loads(found.out)] == ["mla", "mha"]


def test_eval_reads_a_file_of_cases(analyzer: Run, tmp_path: Path) -> None:
    cases = [{"inputs": {"rest_memory": 1, "cell_size": 4}}, {"inputs": {"nothing": 1}}, 7, {"scenario": "mla"}]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    found = analyzer("eval", "v0.4", "--inputs", "cases.json", "--quantity", "rest_memory", "--format", "json")
    results = json.loads(found.out)
    assert len(results) == 4
    assert results[0]["quantities"] == {"rest_memory": {"value": 1, "unit": "GiB"}}
    assert [("problem" in result) for result in results] == [False, True, True, False]
    assert found.code == 2
    assert "note: v0.4 resolved to snapshot v0.4.0" in found.err


def test_eval_notes_what_is_not_read(analyzer: Run) -> None:
    found = analyzer(
        "eval", "v0.4.0", "--set", "tp_size=2", *START, *MODEL, "--quantity", "rest_memory", "--format", "json"
    )
    assert json.loads(found.out)[0]["ignored"] == ["tp_size", "num_layers"]
    assert "do not read" in found.err
    assert analyzer("eval", "v0.4.0", *START, "--set", "tp_size=2", "-q", "--format", "json").err == ""


def test_diff_finds_the_change(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--format", "json")
    report = json.loads(found.out)
    assert found.code == 1
    assert report["verdict"] == "semantic"
    assert any("656" in (change["after"] or {}).get("text", "") for change in report["changes"])


def test_diff_of_a_ref_with_itself_is_identical(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "0.4", "--format", "json")
    report = json.loads(found.out)
    assert (found.code, report["verdict"], report["changes"]) == (0, "identical", [])
    assert analyzer("diff", "v0.4.0", "v0.4.0", "--fail-on", "identical").code == 1


def test_a_restriction_holds_for_verdict_and_exit_code(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--scenario", "mha", "--format", "json")
    assert (found.code, json.loads(found.out)["verdict"]) == (0, "identical")
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--quantity", "rest_memory", "--format", "json")
    assert (found.code, list(json.loads(found.out)["verdicts"])) == (0, ["rest_memory"])
    assert analyzer("diff", "v0.4.0", "v0.5.0", "--fail-on", "lost").code == 0


def test_diff_text_answers_first(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0")
    assert found.out.splitlines()[1].startswith("semantic: ")
    assert "\x1b" not in found.out


def test_show_and_trace(analyzer: Run) -> None:
    shown = json.loads(analyzer("show", "v0.4.0", "--quantity", "cell_size", "--format", "json").out)
    assert shown["quantities"]["cell_size"]["scenarios"]["mla"]["text"] == "num_layers * 576 * 2"
    traced = analyzer("trace", "v0.4.0")
    assert traced.code == 0
    assert "model_runner.py:412" in traced.out


def test_output_goes_to_a_file_whole(analyzer: Run, tmp_path: Path) -> None:
    found = analyzer("trace", "v0.4.0", "--format", "json", "-o", "out.json")
    assert (found.code, found.out) == (0, "")
    assert json.loads((tmp_path / "out.json").read_text())["ref"] == "v0.4.0"
    found = analyzer("trace", "v0.4.0", "-o", "no/such/folder/out.json")
    assert found.code == 2
    assert found.err.startswith("analyzer: error: cannot write")
    assert list(tmp_path.glob(".out*")) == []


def test_snapshot_writes_files_and_names_what_failed(analyzer: Run, tmp_path: Path) -> None:
    found = analyzer("snapshot", "v0.4.0", "v9.9", "v0.5.0", "-o", "new")
    assert found.out.split() == ["new/v0.4.0.json", "new/v0.5.0.json"]
    assert found.code == 2
    assert "v9.9" in found.err
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["v0.4.0.json", "v0.5.0.json"]


def test_snapshot_of_all_writes_what_differs_between_neighbours_too(analyzer: Run, tmp_path: Path) -> None:
    computed = analyzer("diff", "v0.4.0", "v0.5.0", "--no-cache")
    found = analyzer("snapshot", "--all", "--compare", "-o", "snapshots")
    differences = "snapshots/differences/v0.4.0-v0.5.0.json"
    assert found.out.split() == ["snapshots/v0.4.0.json", "snapshots/v0.5.0.json", differences]
    assert analyzer("snapshot", "--compare", "-o", "snapshots").out == ""
    assert analyzer("diff", "v0.4.0", "v0.5.0", "--no-cache") == computed
    # What is there is what is shown.
    path = tmp_path / differences
    path.write_text(path.read_text().replace('"notes":[', '"notes":["as it ships",').replace(",]", "]"))
    assert "as it ships" in analyzer("diff", "v0.4.0", "v0.5.0", "--no-cache").out
    assert "as it ships" not in analyzer("diff", "v0.4.0", "v0.5.0", "--no-cache", "--scenario", "mha").out


def test_snapshot_wants_refs_or_all(analyzer: Run) -> None:
    assert analyzer("snapshot").code == analyzer("snapshot", "v0.4.0", "--all").code == 2
    assert "there are no snapshots to compare (absent)" in analyzer("snapshot", "--compare", "-o", "absent").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "v0.4.9"], "no snapshot of 'v0.4.9'"),
        (["show", "v0.4.0", "--scenario", "mlaa"], "did you mean"),
        (["show", "v0.4.0", "--quantity", "cell"], "did you mean cell_size?"),
        (["diff", "v0.4.0", "v0.5.0", "--quantity", "max_total_tokens"], "did you mean max_total_num_tokens?"),
        (["diff", "v0.4.0", "v0.5.0", "--fail-on", "big"], "'big' is not one of identical, moved"),
        (["eval", "v0.4.0", "--set", "num_layer=1"], "did you mean num_layers?"),
        (["eval", "v0.4.0", "--set", "num_layers"], "has no NAME=VALUE"),
        (["eval", "v0.4.0", "--set", "num_layers=many"], "num_layers must be a number, not 'many'"),
        (["eval", "v0.4.0", "--set", 'num_layers={"a": 1}'], "cannot be a nested list"),
        (["eval", "v0.4.0", "--inputs", "absent.json"], "cannot read the cases: No such file"),
        (["eval", "v0.4.0", "--inputs", "bad.json"], "the cases are not JSON"),
        (["eval", "v0.4.0", "--inputs", "object.json"], "the cases must be a JSON list"),
        (["shwo", "v0.4.0"], "did you mean 'show'?"),
        (["diff", "v0.4.0"], "Missing argument 'HEAD'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    analyzer: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "bad.json").write_text("[")
    (tmp_path / "object.json").write_text("{}")
    found = analyzer(*arguments, source=arguments[0] != "shwo")
    assert (found.code, found.out) == (2, "")
    assert message in found.err
    assert "Traceback" not in found.err


def test_wrong_rules_are_listed_line_by_line(analyzer: Run, tmp_path: Path) -> None:
    (tmp_path / "rules/units.toml").write_text("[units\n")
    (tmp_path / "rules/anchors.toml").write_text("[anchors]\na = 1\n")
    found = analyzer("show", "v0.4.0")
    assert found.code == 2
    assert len(found.err.splitlines()) == 3


def test_several_formats_go_to_their_files_and_to_stdout(analyzer: Run, tmp_path: Path) -> None:
    formats = ("--format", "json", "--format", "text", "--format", "markdown", "--format", "sarif")
    found = analyzer("diff", "v0.4.0", "v0.5.0", *formats, "-o", "r.md", "-o", "first", "-o", "r.sarif", "-q")
    assert found.code == 1
    assert found.out.splitlines()[1].startswith("semantic: ")
    assert json.loads((tmp_path / "first").read_text())["verdict"] == "semantic"
    assert (tmp_path / "r.md").read_text().startswith("## KV-cache sizing of SGLang: semantic")
    assert json.loads((tmp_path / "r.sarif").read_text())["version"] == "2.1.0"


def test_a_dash_is_stdout(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--format", "github", "-o", "-")
    assert found.out.startswith("::notice title=SGLang memory%3A semantic::v0.4.0")


def test_more_files_than_formats_is_a_mistake(analyzer: Run) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--format", "json", "-o", "a.json", "-o", "b.json")
    assert (found.code, found.out) == (2, "")
    assert "2 output files, but 1 format" in found.err


def test_rules_lists_all_and_explains_one(analyzer: Run) -> None:
    listed = analyzer("rules", source=False)
    assert listed.code == 0
    assert "  SGM101  warning  Term added" in listed.out.splitlines()
    assert "max_total_num_tokens" in listed.out
    explained = analyzer("rules", "sgm104", source=False).out
    assert all(heading in explained for heading in ("Factor added", "Why it matters", "What to do", "Example"))
    assert "mem_fraction_static * 0.95" in explained
    assert "What one token of KV cache costs" in analyzer("rules", "cell_size", source=False).out
    mistyped = analyzer("rules", "cell_sise", source=False)
    assert (mistyped.code, mistyped.out) == (2, "")
    assert "did you mean cell_size" in mistyped.err


def test_a_baseline_accepts_what_it_has(analyzer: Run, tmp_path: Path) -> None:
    assert analyzer("diff", "v0.4.0", "v0.5.0", "--format", "json", "-o", "base.json").code == 1
    for _ in range(2):
        found = analyzer("diff", "v0.4.0", "v0.5.0", "--baseline", "base.json", "--format", "json", "-o", "base.json")
        assert found.code == 0
    document = json.loads((tmp_path / "base.json").read_text())
    assert (document["verdict"], document["changes"]) == ("identical", [])
    assert {item["reason"] for item in document["accepted"]} == {"in the baseline"}
    text = analyzer("diff", "v0.4.0", "v0.5.0", "--baseline", "base.json").out
    assert "identical: Nothing else changed; " in text
    assert "why: in the baseline" in text


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"changes": [{}]}', '{"changes": [{"fingerprint": 1}]}'])
def test_a_baseline_that_is_none_is_a_mistake(analyzer: Run, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "base.json").write_text(content)
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--baseline", "base.json")
    assert (found.code, found.out) == (2, "")
    assert "base.json" in found.err
    assert "--format json" in found.err


def test_settings_decide_scenarios_formats_and_threshold(analyzer: Run, tmp_path: Path) -> None:
    settings = tmp_path / "analyzer.toml"
    settings.write_text('scenarios = ["mha"]\n')
    assert analyzer("diff", "v0.4.0", "v0.5.0").code == 0
    assert analyzer("diff", "v0.4.0", "v0.5.0", "--scenario", "mla").code == 1
    settings.write_text('fail_on = "lost"\nformats = ["github"]\n')
    found = analyzer("diff", "v0.4.0", "v0.5.0", "-q")
    assert found.code == 0
    assert found.out.startswith("::notice ")
    assert analyzer("diff", "v0.4.0", "v0.5.0", "--fail-on", "semantic", "--format", "json").code == 1
    settings.write_text("formts = 1\n")
    found = analyzer("diff", "v0.4.0", "v0.5.0")
    assert (found.code, found.out) == (2, "")
    assert "unknown key 'formts'" in found.err


SERVER = """
[[server]]
name = "chat \\u001b[31m"
scenario = "mla"
inputs = { available_gpu_memory = 21.71, pre_model_load_memory = 94.04, mem_fraction_static = 0.88, num_layers = 61 }
"""


def test_a_gate_by_effect_fails_for_the_servers_in_the_settings(analyzer: Run, tmp_path: Path) -> None:
    settings = tmp_path / "analyzer.toml"
    settings.write_text(SERVER)
    limits = "--fail-if", "max_total_num_tokens < -1%"
    found = analyzer("diff", "v0.4.0", "v0.5.0", *limits)
    assert found.code == 1
    assert "fails: max_total_num_tokens < -1%" in found.out
    assert "keeps today's tokens" in found.out
    shown = json.loads(analyzer("diff", "v0.4.0", "v0.5.0", *limits, "--format", "json").out)
    assert [effect["broken"] for effect in shown["effects"]] == [["max_total_num_tokens < -1%"]]
    assert "### Your servers" in analyzer("diff", "v0.4.0", "v0.5.0", *limits, "--format", "markdown").out
    annotations = analyzer("diff", "v0.4.0", "v0.5.0", *limits, "--format", "github").out
    assert "::error title=SGLang memory of chat" in annotations
    assert "\x1b" not in found.out + annotations
    # A change of meaning that does not matter to this server passes; asked for, the kind counts as well.
    harmless = "--fail-if", "max_total_num_tokens < -50%"
    assert analyzer("diff", "v0.4.0", "v0.5.0", *harmless).code == 0
    assert analyzer("diff", "v0.4.0", "v0.5.0", *harmless, "--fail-on", "semantic").code == 1
    settings.write_text(f'fail_if = ["max_total_num_tokens < -50%"]\n{SERVER}')
    assert analyzer("diff", "v0.4.0", "v0.5.0").code == 0
    assert analyzer("diff", "v0.4.0", "v0.5.0", *limits).code == 1


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("max_total_num_tokens", "is not a limit"),
        ("tokens < -1%", "unknown quantity 'tokens'"),
        ("max_total_num_tokens < -1%", "no server in the settings"),
    ],
)
def test_a_limit_that_cannot_be_judged_is_a_mistake(analyzer: Run, limit: str, message: str) -> None:
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--fail-if", limit)
    assert (found.code, found.out) == (2, "")
    assert message in found.err


def test_servers_that_a_scenario_leaves_out_are_named(analyzer: Run, tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text(SERVER)
    limit = "--fail-if", "max_total_num_tokens < -1%"
    found = analyzer("diff", "v0.4.0", "v0.5.0", "--scenario", "dsv4", *limit)
    assert (found.code, found.out) == (2, "")
    assert "no server in the settings is of dsv4" in found.err
    assert "described are chat" in found.err


def test_the_report_says_which_rule_fails_it(analyzer: Run, tmp_path: Path) -> None:
    settings = tmp_path / "analyzer.toml"
    settings.write_text(f'fail_on = "semantic"\nfail_if = ["max_total_num_tokens < -50%"]\n{SERVER}')
    found = analyzer("diff", "v0.4.0", "v0.5.0")
    assert found.code == 1
    assert "fails: the verdict is semantic, and fail_on in " in " ".join(found.out.split())
    passing = analyzer("diff", "v0.4.0", "v0.5.0", "--fail-on", "lost")
    assert (passing.code, "fails:" in passing.out) == (0, False)


def test_a_limit_is_for_the_servers_in_the_settings(analyzer: Run) -> None:
    limit = "--fail-if", "max_total_num_tokens < -1%"
    found = analyzer("diff", "v0.4.0", "v0.5.0", *limit, "--gpu-memory", "79")
    assert (found.code, found.out) == (2, "")
    assert "--fail-if judges the servers in the settings" in found.err


def test_check_fails_by_effect_against_what_was_accepted(analyzer: Run, tmp_path: Path) -> None:
    limit = "--fail-if", "max_total_num_tokens < -1%"
    assert "--fail-if has nothing to compare with" in analyzer("check", "v0.5.0", *limit).err
    analyzer("check", "v0.4.0", "--against", "accepted", "--update")
    assert "no server in the settings" in analyzer("check", "v0.5.0", "--against", "accepted", *limit).err
    settings = tmp_path / "analyzer.toml"
    settings.write_text(SERVER)
    failing = analyzer("check", "v0.5.0", "--against", "accepted", *limit)
    assert failing.code == 1
    assert "fails: max_total_num_tokens < -1%" in failing.out
    assert analyzer("check", "v0.5.0", "--against", "accepted", "--fail-if", "max_total_num_tokens < -50%").code == 0
    settings.write_text(f'fail_if = ["max_total_num_tokens < -1%"]\n{SERVER}')
    assert analyzer("check", "v0.5.0").code == 0
    assert analyzer("check", "v0.5.0", "--against", "accepted").code == 1
    assert analyzer("check", "v0.5.0", "--against", "accepted", "--update").code == 0
    assert analyzer("check", "v0.5.0", "--against", "accepted").code == 0


def test_check_accepts_shows_and_fails(analyzer: Run, tmp_path: Path) -> None:
    nothing = analyzer("check", "v0.4.0", "--against", "accepted")
    assert (nothing.code, nothing.out) == (2, "")
    assert "--update" in nothing.err
    accepted = analyzer("check", "v0.4.0", "--against", "accepted", "--update")
    assert accepted.code == 0
    assert (tmp_path / "accepted" / "v0.4.0.json").is_file()
    assert analyzer("check", "v0.4.0", "--against", "accepted").code == 0
    differs = analyzer("check", "v0.5.0", "--against", "accepted")
    assert differs.code == 1
    assert "Compared with what was accepted" in differs.out
    assert "semantic: " in differs.out
    assert analyzer("check", "v0.5.0", "--against", "accepted", "--scenario", "mha").code == 0
    assert analyzer("check", "v0.5.0", "--against", "accepted", "--fail-on", "lost").code == 0
    updated = analyzer("check", "v0.5.0", "--against", "accepted", "--update")
    assert updated.code == 0
    assert "semantic: " in updated.out
    assert analyzer("check", "v0.5.0", "--against", "accepted").code == 0
    assert analyzer("check", "v0.4.0", "--against", "accepted").code == 0


def test_an_accepted_snapshot_that_is_damaged_or_old_says_how_to_renew_it(analyzer: Run, tmp_path: Path) -> None:
    analyzer("check", "v0.4.0", "--against", "accepted", "--update")
    file = tmp_path / "accepted" / "v0.4.0.json"
    for content, said in (
        ("{", "damaged"),
        (file.read_text().replace(f'"schema_version":{SCHEMA_VERSION}', '"schema_version":0'), "0"),
    ):
        file.write_text(content)
        found = analyzer("check", "v0.4.0", "--against", "accepted")
        assert (found.code, found.out) == (2, "")
        assert said in found.err
        assert "analyzer snapshot v0.4.0 -o accepted" in found.err
        assert analyzer("check", "v0.4.0", "--against", "accepted", "--update").code == 0
        assert analyzer("check", "v0.4.0", "--against", "accepted").code == 0


def test_a_snapshot_made_with_other_rules_is_noted(analyzer: Run, tmp_path: Path) -> None:
    analyzer("check", "v0.4.0", "--against", "accepted", "--update")
    file = tmp_path / "accepted" / "v0.4.0.json"
    file.write_text(file.read_text().replace("d" * 64, "e" * 64))
    assert "made with other rules" in analyzer("check", "v0.4.0", "--against", "accepted").out


def test_update_needs_a_folder(analyzer: Run) -> None:
    found = analyzer("check", "v0.4.0", "--update")
    assert (found.code, found.out) == (2, "")
    assert "--against DIR" in found.err


def test_cache_says_where_and_how_large_and_clears(analyzer: Run, tmp_path: Path) -> None:
    prepare_cache(tmp_path / "cache")
    (tmp_path / "cache" / "wheels").mkdir()
    (tmp_path / "cache" / "wheels" / "a.whl").write_bytes(b"x" * 2048)
    shown = analyzer("cache", source=False)
    assert shown.out.splitlines() == [
        f"{tmp_path / 'cache'}: 2.0 KiB",
        "     2.0 KiB  releases from the package index (wheels), 1 file",
    ]
    assert analyzer("cache", "--clear", source=False).out == "2.0 KiB freed\n"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["CACHEDIR.TAG"]


def test_cache_clears_no_folder_of_somebody_else(analyzer: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "thesis.txt").write_text("precious")
    found = analyzer("cache", "--clear", source=False)
    assert (found.code, found.out) == (2, "")
    assert "not a cache that analyzer made" in found.err
    assert (tmp_path / "cache" / "thesis.txt").exists()


def test_pins_name_the_versions_and_the_line_to_annotate(analyzer: Run, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("sglang==0.4.0\n")
    (tmp_path / "Dockerfile").write_text("FROM scratch\nFROM lmsysorg/sglang:v0.5.0-cu126\n")
    files = ("diff", "--pins", "old.txt", "Dockerfile", "--format", "github", "--format", "sarif", "-o", "r.sarif")
    found = analyzer(*files)
    assert found.code == 1
    lines = found.out.splitlines()
    assert lines[0].startswith("::notice file=Dockerfile,line=2,title=SGLang memory%3A semantic::v0.4.0 (")
    assert all("file=Dockerfile,line=2," in line for line in lines)
    assert "note: old.txt, line 1: sglang v0.4.0" in found.err
    [run] = json.loads((tmp_path / "r.sarif").read_text())["runs"]
    [place] = run["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "Dockerfile"}
    assert run["results"][0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"]
    assert analyzer("diff", "--pins", "old.txt", "old.txt").code == 0
    (tmp_path / "old.txt").write_text("sglang>=0.4.0\n")
    found = analyzer("diff", "--pins", "old.txt", "Dockerfile")
    assert (found.code, found.out) == (2, "")
    assert "is not one version" in found.err


def test_stderr_holds_no_workflow_command_either(analyzer: Run, tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text('"::error::x" = 1\n"##[error]y" = 1\n')
    found = analyzer("diff", "v0.4.0", "v0.5.0")
    assert found.code == 2
    assert "##[" not in found.err
    assert not any(line.lstrip().startswith("::") for line in found.err.splitlines())
