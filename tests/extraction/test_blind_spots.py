"""What is not looked into: followed as far as it can be, and each unknown counted once, under its own name."""

from __future__ import annotations

from typing import Any, Final

import pytest

from analyzer.adapters.snapshot_source import SnapshotSource
from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from tests.support.project import COUNT, MACHINE, RUNNER, WORKER, extract_project, extracted, minimal_project, outcome

STORED: Final = "\nself.max_total_num_tokens = n"
# From here on the contract holds; the releases before it are read as they were.
_SINCE: Final = "v0.5.9"
_MOST: Final = 8


def project(pool: str, **parts: str) -> Extraction:
    return extracted(pool=COUNT + pool + STORED, **parts)


def plain() -> int:
    found = outcome(extracted(), **MACHINE)
    assert isinstance(found, int)
    return found


# ---- questions about an input ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dict", "Wide", "(Wide, dict)", "(int, Wide)"])
def test_whether_an_option_is_of_a_class_is_a_question_about_the_option(kind: str) -> None:
    extraction = project(
        f"n = n - 5 if isinstance(self.server_args.shape, {kind}) else n",
        module="class Wide:\n    pass",
        fields="    shape: object = None",
    )
    assert extraction.coverage.opaque_calls == ()
    assert "isinstance(shape, " in to_text(extraction.quantities["max_total_num_tokens"].term)
    given = {shape: outcome(extraction, **MACHINE, shape=shape) for shape in ("text", 3, None)}
    assert given == {"text": plain(), None: plain(), 3: plain() - 5 * ("int" in kind)}


def test_a_dict_is_a_dict_and_no_object_is_one() -> None:
    extraction = project(
        "for x in ({}, {'k': 1}, Wide(), [], 3):\n    n -= 10 if isinstance(x, dict) else 1",
        module="class Wide:\n    pass",
    )
    assert outcome(extraction, **MACHINE) == plain() - 23


@pytest.mark.parametrize("question", ["hasattr(self.spare, 'k')", "isinstance(self.spare, dict)"])
def test_a_question_about_what_is_not_there_fails_as_reading_it_does(question: str) -> None:
    pool = f"if self.tp_size > 1:\n    self.spare = 4\nn = n - 5 if {question} else n"
    extraction = project(pool)
    assert calls(extraction) == ()
    assert outcome(extraction, **MACHINE) == "raises AttributeError"
    assert outcome(extraction, **{**MACHINE, "tp_size": 2}) == plain()


# ---- one unknown, one name ------------------------------------------------------------------


def calls(extraction: Extraction) -> tuple[str, ...]:
    return extraction.coverage.opaque_calls


def test_a_method_has_its_own_name() -> None:
    pool = "n = n - json.loads(self.server_args.extra).pop('k', 2)"
    extraction = project(pool, imports="import json", fields="    extra: str = ''")
    text = to_text(extraction.quantities["max_total_num_tokens"].term)
    assert ".pop(json.loads(extra), 'k', 2)" in text
    assert calls(extraction) == ("json.loads",)


def test_what_is_asked_of_an_unknown_is_the_same_unknown() -> None:
    pool = """found = json.loads(self.server_args.extra)
n = n - 5 if isinstance(found, Wide) else n
n = n - 7 if hasattr(found, 'k') else n
n = n - len(found[1:3])"""
    extraction = project(pool, imports="import json", fields="    extra: str = ''", module="class Wide:\n    pass")
    assert calls(extraction) == ("json.loads",)
    other = project(
        pool.replace("found[1:3]", "re.match('a', found)"), imports="import json, re", module="class Wide: 0"
    )
    assert calls(other) == ("json.loads", "re.match")


def test_a_loop_that_is_not_followed_is_one_gap_with_what_it_runs_over() -> None:
    pool = """kept = {}
for name, rows in json.loads(self.server_args.extra).items():
    for row in rows.items():
        kept[int(name)] = row
for row in kept.values():
    n = n * 2 - row"""
    extraction = project(pool, imports="import json", fields="    extra: str = ''")
    assert len(extraction.gaps) == 1
    assert extraction.gaps[0].reason == "a loop over a sequence of unknown length"
    assert calls(extraction) == ()


def test_what_a_dict_holds_shows_which_dict_it_is() -> None:
    pool = """kept = {{}}
kept.update(json.loads(self.server_args.{name}))
n = n - sum(kept.values())"""
    one, other = (
        project(pool.format(name=name), imports="import json", fields="    extra: str = ''\n    more: str = ''")
        for name in ("extra", "more")
    )
    texts = {to_text(found.quantities["max_total_num_tokens"].term) for found in (one, other)}
    assert len(texts) == 2


# ---- what can be followed -------------------------------------------------------------------


def test_a_configuration_made_of_a_dict_has_its_items() -> None:
    pool = """part = self.model_config.hf_config.part
if isinstance(part, dict):
    part = PretrainedConfig(**part)
n = n - part.extra"""
    extraction = project(pool, imports="from transformers import PretrainedConfig")
    assert calls(extraction) == ()
    given: dict[str, Any] = {**MACHINE, "hf_config.part.extra": 9}
    assert outcome(extraction, **given) == plain() - 9


def test_a_loop_that_lowers_a_number_until_it_fits_is_followed() -> None:
    pool = """n = n // self.page_size * self.page_size
while n > 0 and n * 3 + self.tp_size > {most}:
    n -= self.page_size"""
    for most in (500_000, 0):
        extraction = project(pool.format(most=most))
        assert extraction.gaps == ()
        n = plain() // 64 * 64
        while n > 0 and n * 3 + 1 > most:
            n -= 64
        assert outcome(extraction, **{**MACHINE, "page_size": 64, "tp_size": 1}) == n


@pytest.mark.parametrize("step", ["n // 2", "self.page_size + (n > 7)"])
def test_a_loop_whose_step_changes_is_a_gap(step: str) -> None:
    extraction = project(f"while n > 0 and n * 3 > 500000:\n    n -= {step}")
    assert len(extraction.gaps) == 1


def test_a_member_of_an_enum_computes_its_properties() -> None:
    module = """
import enum
class Layout(str, enum.Enum):
    WIDE = "wide"
    SLIM = "slim"
    @property
    def row(self):
        return {Layout.WIDE: 576, Layout.SLIM: 512}[self]
    def page(self, size):
        return -(-size // self.row) * self.row
    @classmethod
    def parse(cls, value):
        return value if isinstance(value, Layout) else cls(value)
"""
    extraction = project(
        "layout = Layout.parse(Layout.SLIM if self.tp_size > 1 else Layout.WIDE)\nn = n - layout.page(600)",
        module=module,
    )
    assert calls(extraction) == ()
    given = {size: outcome(extraction, **{**MACHINE, "tp_size": size}) for size in (1, 2)}
    assert given == {1: plain() - 1152, 2: outcome(extracted(), **{**MACHINE, "tp_size": 2}) - 1024}


def test_a_function_that_has_some_arguments_already_is_that_function() -> None:
    module = """
from functools import lru_cache, partial
def cost(rows, width, scale=1):
    return rows * width * scale
wide = double = lru_cache(maxsize=1)(partial(cost, 3, scale=2))
"""
    extraction = project("n = n - wide(self.tp_size) - double(5)", module=module)
    assert calls(extraction) == ()
    assert outcome(extraction, **{**MACHINE, "tp_size": 1}) == plain() - 36


def test_positions_that_only_lead_to_elements_are_the_elements() -> None:
    by_position = "own = {4: [i for i in range(self.start, self.end) if kinds[i] == 4]}\nn -= len(own[4])"
    by_element = "n -= sum(1 for kind in kinds[self.start:self.end] if kind == 4)"
    init = "kinds = self.model_config.hf_config.kinds\nself.start, self.end = self.tp_size, self.page_size\n"
    terms = {project(init + lines).quantities["max_total_num_tokens"].term for lines in (by_position, by_element)}
    assert len(terms) == 1


def test_what_is_there_on_some_ways_is_summed_where_it_is() -> None:
    pool = """found = {}
for kind in (1, 2):
    if self.page_size > kind:
        found[kind] = kind * 10
n -= sum(kind + size for kind, size in found.items())"""
    given = {size: outcome(project(pool), **{**MACHINE, "page_size": size}) for size in (1, 2, 3)}
    assert given == {size: plain() - cost for size, cost in ((1, 0), (2, 11), (3, 33))}


def test_a_field_without_a_default_is_what_is_set_afterwards() -> None:
    module = """
from dataclasses import dataclass, field
@dataclass
class Box:
    k: int
    wide: object = field(init=False)
    def __post_init__(self):
        self.wide = self.k * 2
@dataclass
class Empty:
    wide: object = field(init=False)
"""
    extraction = project("n = n - Box(3).wide\nn = n - 5 if hasattr(Empty, 'wide') else n", module=module)
    assert "no default" not in to_text(extraction.quantities["max_total_num_tokens"].term)
    assert calls(extraction) == ()


# ---- other backends -------------------------------------------------------------------------

MODULE: Final = "sglang.srt.model_executor.model_runner"
OTHER_RUNNER: Final = """

class OtherRunner(ModelRunner):
    def __init__(self, *args, **kwargs):
        self.extra = 1
        super().__init__(*args, **kwargs)

    def profile_max_num_token(self, before):
        return 50
"""


def two_backends() -> Extraction:
    """A project whose worker makes another runner under an option."""
    files = minimal_project(fields="    other: bool = False", worker_imports=f"from {MODULE} import OtherRunner")
    made = "self.model_runner = ModelRunner("
    assert made in files[WORKER]
    handed = "config=self.model_config, fraction=0.5, gpu_id=gpu_id, server_args=server_args"
    other = f"            self.model_runner = OtherRunner({handed})"
    choice = f"if server_args.other:\n{other}\n        else:\n            {made}"
    files[WORKER] = files[WORKER].replace(made, choice)
    files[RUNNER] += OTHER_RUNNER
    return extract_project(files)


def test_where_a_server_makes_another_runner_there_is_no_formula_and_elsewhere_it_is_the_same() -> None:
    extraction = two_backends()
    assert outcome(extraction, **MACHINE, other=False) == plain()
    assert outcome(extraction, **MACHINE, other=True) == "off not set"
    assert "OtherRunner" not in to_text(extraction.quantities["max_total_num_tokens"].term)
    assert to_text(extraction.quantities["cell_size"].term) == to_text(extracted().quantities["cell_size"].term)


# ---- the releases ---------------------------------------------------------------------------


_SOURCE: Final = SnapshotSource()
_RELEASES: Final = list(_SOURCE.releases())


@pytest.mark.parametrize("release", _RELEASES[_RELEASES.index(_SINCE) :])
def test_a_release_has_few_blind_spots(release: str) -> None:
    found = _SOURCE.load(release).extraction
    formulas = found.quantities.keys() | found.definitions.keys()
    gaps = [gap.construct for gap in found.gaps if not formulas.isdisjoint(gap.affects)]
    names = [*gaps, *found.coverage.opaque_calls]
    assert len(names) <= _MOST
