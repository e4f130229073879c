"""The settings of a project: where they are found, and that every mistake in them is reported at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.adapters.settings import load_settings
from analyzer.domain.effect import Server, parse_limit
from analyzer.domain.errors import SettingsError
from analyzer.domain.report import Kind
from analyzer.domain.settings import Ignore, Settings
from tests.support.terms import rule_set

FORMATS = ("text", "json", "sarif")
WHOLE = """
scenarios = ["mla", "mha+hip"]
quantities = ["cell_size"]
repository = "../sglang"
formats = ["text", "sarif"]
fail_on = "semantic"
fail_if = ["max_total_num_tokens < -1%"]

[[{prefix}server]]
name = "chat"
scenario = "mla"
inputs = {{ num_layers = 61 }}

[{prefix}levels]
SGM101 = "error"

[[{prefix}ignore]]
rule = "SGM107"
reason = "no vision models here"
until = "0.5.12"
quantities = ["cell_size"]

[[{prefix}ignore]]
rule = "SGM123"
reason = "reviewed"
"""


def load(folder: Path) -> Settings:
    """The settings that hold in `folder`."""
    return load_settings(folder, rule_set(), FORMATS)


def wrong(folder: Path) -> str:
    """What is said about the settings in `folder`."""
    with pytest.raises(SettingsError) as caught:
        load(folder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "head", "prefix"),
    [("analyzer.toml", "", ""), ("pyproject.toml", "[tool.sglang-analyzer]", "tool.sglang-analyzer.")],
)
def test_every_key_is_read(name: str, head: str, prefix: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(head + WHOLE.format(prefix=prefix))
    assert load(tmp_path) == Settings(
        scenarios=("mla", "mha+hip"),
        quantities=("cell_size",),
        levels={"SGM101": "error"},
        ignores=(
            Ignore("SGM107", "no vision models here", ("cell_size",), "0.5.12"),
            Ignore("SGM123", "reviewed"),
        ),
        repository=tmp_path / "../sglang",
        formats=("text", "sarif"),
        fail_on=Kind.SEMANTIC,
        fail_if=(parse_limit("max_total_num_tokens < -1%"),),
        servers=(Server("chat", "mla", {"num_layers": 61}),),
        place=str(tmp_path / name),
    )


def test_they_are_found_above_but_not_outside_the_repository(tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text('scenarios = ["mla"]')
    inner = tmp_path / "repository" / "folder"
    inner.mkdir(parents=True)
    assert load(inner).scenarios == ("mla",)
    (tmp_path / "repository" / ".git").mkdir()
    assert load(inner) == Settings()


def test_a_pyproject_of_something_else_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert load(tmp_path) == Settings()
    (tmp_path / "pyproject.toml").write_text("[project\n")
    assert load(tmp_path) == Settings()


def test_two_places_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.sglang-analyzer]\nscenarios = ['mla']\n")
    assert "keep one of them" in wrong(tmp_path)


MISTAKES = """\
scenarios = ["mlaa"]
formts = ["text"]
formats = ["sarf"]
fail_on = "big"
quantities = "cell_size"
[levels]
SGM999 = "error"
SGM101 = "loud"
[[ignore]]
rule = "SGM107"
reason = " "
[[ignore]]
rule = "SGM10"
until = "soon"
quantity = ["cell_size"]
"""


def test_every_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text(MISTAKES)
    said = wrong(tmp_path)
    for part in (
        "12 problems in the settings",
        "analyzer.toml:1: unknown scenario 'mlaa'",
        "analyzer.toml:2: unknown key 'formts'",
        "analyzer.toml:3: formats has the unknown name 'sarf'; did you mean 'sarif'",
        "analyzer.toml:4: fail_on is 'big'",
        "analyzer.toml:5: quantities must be a list of strings",
        "analyzer.toml:7: unknown rule 'SGM999'",
        "analyzer.toml:8: SGM101 is 'loud'",
        "analyzer.toml:11: reason is empty",
        "analyzer.toml:12: reason is missing",
        "analyzer.toml:13: rule has the unknown name 'SGM10'",
        "analyzer.toml:14: until is 'soon'",
        "analyzer.toml:15: unknown key 'quantity'",
    ):
        assert part in said


SERVER_MISTAKES = """\
fail_if = ["tokens < -1%", "much"]
[[server]]
scenario = "mlaa"
[[server]]
name = "a"
inputs = { num_layer = 3 }
[[server]]
name = "a"
"""


def test_mistakes_about_servers_and_limits_have_their_line_too(tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text(SERVER_MISTAKES)
    said = wrong(tmp_path)
    for part in (
        "6 problems in the settings",
        "analyzer.toml:1: fail_if has the unknown name 'tokens'",
        "analyzer.toml:1: 'much' is not a limit",
        "analyzer.toml:2: name is missing",
        "analyzer.toml:3: unknown scenario 'mlaa'",
        "analyzer.toml:6: inputs has the unknown name 'num_layer'; did you mean 'num_layers'",
        "analyzer.toml:8: two servers have the name 'a'",
    ):
        assert part in said


@pytest.mark.parametrize("text", ["[", "ignore = 3", "ignore = [1]", "levels = 3", "\x00", 'repository = ["a"]'])
def test_broken_files_are_errors(text: str, tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text(text)
    assert "analyzer.toml" in wrong(tmp_path)


def test_what_is_known_includes_what_the_file_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "analyzer.toml").write_text("senarios = []\n")
    said = wrong(tmp_path)
    assert "unknown key 'senarios'" in said
    assert "fail_if, fail_on, formats" in said
