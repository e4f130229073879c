"""Options that SGLang sets in another way: which changes of the code that sets them are changes of the sizing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.application.extract import extract
from analyzer.compare import Comparison
from analyzer.domain.build import conditional
from analyzer.domain.extraction import Extraction, Formula, with_settings
from analyzer.domain.report import Change, Kind
from analyzer.domain.rules import RUNNER, SETTINGS
from analyzer.domain.terms import UNSET, symbol
from tests.support.comparing import compare_extractions
from tests.support.project import draw, minimal_project, shipped_rules
from tests.support.terms import extraction, formula

FRACTION = """
def __post_init__(self):
    if self.mem_fraction_static is None:
        self.mem_fraction_static = 0.88
    self._adjust()

"""
FIELDS = """
speculative_algorithm: Optional[str] = None
tokenizer_workers: int = 1
attention_backend: Optional[str] = None
"""
POOL = """
tokens = self.profile_max_num_token(before)
if self.server_args.max_total_tokens is not None:
    tokens = min(tokens, self.server_args.max_total_tokens)
self.max_total_num_tokens = tokens // self.page_size * self.page_size
"""
BEFORE = """
def _adjust(self):
    if self.speculative_algorithm == "EAGLE" and self.max_total_tokens is None:
        self.max_total_tokens = 32_000
    if self.speculative_algorithm == "EAGLE":
        self.page_size = 16
    self.tokenizer_workers = 2
"""


def _extracted(methods: str) -> Extraction:
    files = minimal_project(config_methods=FRACTION + methods, fields=FIELDS, pool=POOL)
    sizing, settings = (extract(draw(files), shipped_rules(), root) for root in (RUNNER, SETTINGS))
    return with_settings(sizing, settings)


def _compared(after: str, before: str = BEFORE) -> Comparison:
    return compare_extractions(
        _extracted(before), _extracted(after), shipped_rules(), scenarios=("mha", "mla"), quantities=()
    )


def _only(found: Comparison) -> Change:
    (change,) = found.changes
    return change


QUIET = {
    "the same": BEFORE,
    "split into methods": """
def _adjust(self):
    if self.speculative_algorithm == "EAGLE":
        self._speculate()
    self.tokenizer_workers = 2

def _speculate(self):
    self.page_size = 16
    self.max_total_tokens = self.max_total_tokens if self.max_total_tokens is not None else 32 * 1000
""",
    "moved to where the server is launched": """
def _adjust(self):
    self.tokenizer_workers = 2

def check_server_args(self):
    if self.speculative_algorithm != "EAGLE":
        return
    if self.max_total_tokens is None:
        self.max_total_tokens = 32_000
    self.page_size = 16
""",
    "an option that no sizing reads": BEFORE.replace("self.tokenizer_workers = 2", "self.tokenizer_workers = 8"),
    "a check that only raises": f"{BEFORE}    assert self.tp_size < 64, self.tp_size\n",
}


@pytest.mark.parametrize("way", QUIET)
def test_nothing_is_reported_where_the_runner_gets_the_same(way: str) -> None:
    found = _compared(QUIET[way])
    assert (found.verdict, found.changes) == (Kind.IDENTICAL, ())


def test_an_option_that_is_set_otherwise_is_a_change_of_what_reads_it() -> None:
    change = _only(_compared(BEFORE.replace("32_000", "64_000")))
    assert (change.rule, change.kind, change.quantity) == ("SGM135", Kind.SEMANTIC, "max_total_num_tokens")
    assert change.scenarios == ("mha", "mla")
    assert change.summary == "max_total_num_tokens: SGLang sets max_total_tokens to 64000, before to 32000"
    assert change.guard == "speculative_algorithm == 'EAGLE'"
    assert change.witness is not None
    assert (change.witness.before, change.witness.after) == (32_000, 64_000)
    assert change.witness.unset == ("max_total_tokens",)


def test_the_formula_itself_stays_what_it_is() -> None:
    found = _compared(BEFORE.replace("32_000", "64_000"))
    assert found.verdict is Kind.SEMANTIC
    assert set(found.verdicts["max_total_num_tokens"].values()) == {Kind.IDENTICAL}


def test_where_the_option_is_set_is_named() -> None:
    change = _only(_compared(BEFORE.replace("32_000", "64_000")))
    for side in (change.before, change.after):
        assert side is not None
        assert {span.path for span in side.locations} == {"python/sglang/srt/server_args.py"}


def test_a_method_that_the_launcher_calls_sets_options_too() -> None:
    launched = '\ndef check_server_args(self):\n    if self.device == "npu":\n        self.max_total_tokens = 1_000\n'
    change = _only(_compared(BEFORE + launched))
    assert (change.kind, change.quantity) == (Kind.SEMANTIC, "max_total_num_tokens")
    assert "device == 'npu'" in change.guard


def test_other_pages_are_a_matter_of_rounding() -> None:
    change = _only(_compared(BEFORE.replace("page_size = 16", "page_size = 64")))
    assert (change.kind, change.quantity) == (Kind.ROUNDING, "max_total_num_tokens")
    assert change.before is not None
    assert change.after is not None
    condition = "speculative_algorithm == 'EAGLE' else page_size"
    assert (change.before.text, change.after.text) == (f"16 if {condition}", f"64 if {condition}")


def test_the_other_way_round_is_the_opposite() -> None:
    after = BEFORE.replace("32_000", "64_000")
    change = _only(_compared(BEFORE, after))
    assert change.summary == "max_total_num_tokens: SGLang sets max_total_tokens to 32000, before to 64000"


def test_two_options_set_to_the_same_values_are_two_changes() -> None:
    after = BEFORE.replace("32_000", "64_000").replace("page_size = 16", "page_size = 64")
    found = _compared(after)
    assert len({change.fingerprint for change in found.changes}) == len(found.changes) == 2


def test_what_could_not_be_decided_about_a_setting_is_a_note() -> None:
    text = """
def _adjust(self):
    import vendor

    if vendor.is_new(self.model_path):
        self.max_total_tokens = 32_000
"""
    found = _compared(text.replace("is_new", "is_old"), text)
    assert (found.verdict, found.changes) == (Kind.IDENTICAL, ())
    assert found.notes == ("what SGLang sets these to is written otherwise, and may be another: max_total_tokens",)


def test_an_option_that_the_runner_resolves_later_decides_nothing() -> None:
    text = f'{BEFORE}    if self.attention_backend == "new":\n        self.max_total_tokens = 1_000\n'
    assert _compared(text).changes == ()


def test_what_a_server_without_a_model_gets_is_no_matter() -> None:
    text = BEFORE.replace(
        "def _adjust(self):", 'def _adjust(self):\n    if self.model_path.lower() == "none":\n        return'
    )
    assert _compared(text).changes == ()


def test_an_option_that_only_one_side_follows_says_nothing() -> None:
    base, head = _extracted(BEFORE), _extracted(BEFORE.replace("32_000", "64_000"))
    sizing = extract(
        draw(minimal_project(config_methods=FRACTION + BEFORE, fields=FIELDS, pool=POOL)), shipped_rules(), RUNNER
    )
    found = compare_extractions(sizing, head, shipped_rules(), scenarios=("mha",), quantities=())
    assert base.settings
    assert found.changes == ()


def test_what_only_some_models_set_does_not_hide_a_setting() -> None:
    rank = Formula(conditional(symbol("is_one_of_them"), symbol("hf_text_config.kv_lora_rank"), UNSET), "1", "1")
    tokens = "max_total_tokens // (kv_lora_rank * 2) // page_size * page_size"
    base, head = (
        replace(
            extraction({"max_total_num_tokens": tokens}, {"kv_lora_rank": rank}),
            settings={"page_size": formula(f"{pages} if device == 'hip' else page_size")},
        )
        for pages in (1, 64)
    )
    change = _only(compare_extractions(base, head, shipped_rules(), scenarios=("mla",), quantities=()))
    assert change.kind is Kind.ROUNDING
    assert change.witness is not None
    assert "kv_lora_rank" in change.witness.inputs
