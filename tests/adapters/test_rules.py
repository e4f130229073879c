"""Reading rule folders, right and wrong ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analyzer.adapters.expressions import ExpressionError, parse_expression
from analyzer.adapters.rules import default_folder, load_rules
from analyzer.domain.errors import RuleFileError
from analyzer.domain.notation import to_text
from tests.support.samples import write_rules


def problems(folder: Path) -> list[str]:
    """The problems that loading `folder` reports."""
    with pytest.raises(RuleFileError) as caught:
        load_rules(folder)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def test_a_folder_is_read_completely(tmp_path: Path) -> None:
    rules = load_rules(write_rules(tmp_path))
    assert rules.anchors["measure"] == ("get_available_gpu_memory",)
    assert rules.units == {"torch.cuda.mem_get_info()": "byte"}
    assert rules.quantities["default_mem_fraction_static"].scenario_free
    assert rules.symbols["tp_size"].domain.choices == (1, 8)
    assert rules.symbols["available_gpu_memory"].sources == ("get_available_gpu_memory()",)
    assert to_text(rules.origins["is_mla()"]) == "use_mla_backend"
    assert rules.scenarios["+eagle"].values == {"tp_size": 8}
    assert [rule.id for rule in rules.changes] == ["coefficient-changed"]


def test_the_digest_follows_content_and_place_not_the_folder(tmp_path: Path) -> None:
    first = load_rules(write_rules(tmp_path / "a")).digest
    assert load_rules(write_rules(tmp_path / "b")).digest == first
    changed = load_rules(write_rules(tmp_path / "c", {"units.toml": '[units]\n"a()" = "byte"\n'})).digest
    assert changed != first
    shutil.move(tmp_path / "b/symbols/memory.toml", tmp_path / "b/symbols/other.toml")
    assert load_rules(tmp_path / "b").digest != first


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("symbols/x.toml", '[symbol.a]\nunit = "1"\n', "symbols/x.toml:1: domain is missing"),
        (
            "symbols/x.toml",
            '[symbol.a]\nunit = 1\ndescription = "d"\ndomain = { kind = "integer" }\n',
            "symbols/x.toml:2: unit must be a string",
        ),
        (
            "symbols/x.toml",
            '[symbol.a]\nunit = "1"\ndescription = "d"\ndomain = { kind = "whole" }\n',
            "symbols/x.toml:4: kind is 'whole'; it must be one of integer, real, boolean, choice, memory",
        ),
        (
            "symbols/x.toml",
            '[symbol.a]\nunit = "1"\ndescription = "d"\ndomain = { kind = "real", low = 2, high = 1 }\n',
            "symbols/x.toml:4: low 2 is above high 1",
        ),
        (
            "symbols/x.toml",
            '[symbol.tp_size]\nunit = "1"\ndescription = "d"\ndomain = { kind = "real" }\n',
            "symbols/x.toml:1: symbol 'tp_size' is defined twice",
        ),
        (
            "symbols/x.toml",
            '[symbol.a]\nunit = "1"\ndescription = "d"\ndomain = { kind = "real" }\ndefault = "tp_sise * 2"\n',
            "symbols/x.toml:5: unknown symbol 'tp_sise'; did you mean 'tp_size' or 'page_size'?",
        ),
        (
            "symbols/x.toml",
            '[symbol.a]\nunit = "1"\ndescription = "d"\ndomain = { kind = "real" }\ndefault = "open(1)"\n',
            "symbols/x.toml:5: not allowed in a rule: 'open(1)'",
        ),
        (
            "symbols/x.toml",
            '[symbol.a]\nunit = "1"\ndescription = "d"\ndomain = { kind = "real" }\nsources = ["is_mla()"]\n',
            "symbols/x.toml:5: source 'is_mla()' is claimed by [origin] too",
        ),
        ("symbols/x.toml", '[origin]\n"f()" = "nothing"\n', "symbols/x.toml:2: unknown symbol 'nothing'"),
        ("symbols/x.toml", "[symbol\n", "symbols/x.toml: not TOML:"),
        ("scenarios/x.toml", 'name = "mha"\ntitle = "t"\nwho = "w"\n', "scenarios/x.toml:1: 'mha' is defined twice"),
        (
            "scenarios/x.toml",
            'name = "x"\ntitle = "t"\nwho = "w"\n[values]\ntp_sizes = 1\n',
            "scenarios/x.toml:5: unknown symbol 'tp_sizes'; did you mean 'tp_size'",
        ),
        (
            "quantities/x.toml",
            'name = "y"\nunit = "1"\ntitle = "t"\ndescription = "d"\n',
            "quantities/x.toml:1: name is 'y'; it must be one of x",
        ),
        ("changes/x.toml", 'id = "y"\n', "changes/x.toml:1: id is 'y', but the file name does not begin with it"),
        ("anchors.toml", "[anchors]\na = 1\n", "anchors.toml:2: a must be a list of strings"),
        ("units.toml", "[units]\n[more]\n", "units.toml:2: unknown key 'more'; known are units"),
        ("other/x.toml", "", "other/x.toml:1: not a place for a rule file"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, name: str, text: str, expected: str) -> None:
    found = problems(write_rules(tmp_path, {name: text}))
    assert any(line.startswith(expected) for line in found), found


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    wrong = {"symbols/x.toml": "[symbol.a]\nunit = 1\nmore = 2\n", "anchors.toml": "[anchors]\na = 1\n"}
    found = problems(write_rules(tmp_path, wrong))
    assert {line.split(":")[0] for line in found} == {"symbols/x.toml", "anchors.toml"}
    assert len(found) >= 4


def test_a_folder_that_is_none_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match="no such rules folder"):
        load_rules(tmp_path / "absent")
    assert problems(tmp_path) == ["anchors.toml:1: missing"]


def test_the_rules_of_this_program_are_right() -> None:
    assert load_rules(default_folder()).symbols


@pytest.mark.parametrize(
    "text",
    ["", "a +", "lambda: 1", "a.b", "f(x=1)", "[x for x in y]", "a @ b", "~a", "'%s' % b.c", "b'x'", "x := 1", "1j"],
)
def test_other_python_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)
