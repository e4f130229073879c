"""What made-up option classes make of the options that the sizing reads, before a runner gets them."""

from __future__ import annotations

import pytest

from analyzer.application.extract import extract
from analyzer.domain.notation import to_text
from analyzer.domain.rules import SETTINGS
from tests.support.project import draw, minimal_project, shipped_rules

BUDGET = """
def __post_init__(self):
    if self.mem_fraction_static is None:
        self.mem_fraction_static = 0.88
"""


def settings(methods: str, fields: str = "", files: dict[str, str] | None = None) -> dict[str, str]:
    """What each option is set to, as text; the constructor sets the fraction and runs `_adjust`."""
    body = f"{BUDGET}    self._adjust()\n\n{methods}"
    project = minimal_project(files, config_methods=body, fields=fields)
    found = extract(draw(project), shipped_rules(), SETTINGS).settings
    return {name: to_text(formula.term) for name, formula in found.items()}


WAYS = {
    "in the constructor": """
def _adjust(self):
    if self.max_running_requests is None and self.speculative_algorithm == "EAGLE":
        self.max_running_requests = 48
""",
    "by the method that the launcher calls": """
def _adjust(self):
    pass

def check_server_args(self):
    if self.max_running_requests is None and self.speculative_algorithm == "EAGLE":
        self.max_running_requests = 48
""",
    "by names that are declared first": """
def _adjust(self):
    self._declared = []
    self._declare()
    for source, values in self._declared:
        for name, value in values.items():
            setattr(self, name, value)

def _declare(self):
    if self.max_running_requests is None and self.speculative_algorithm == "EAGLE":
        self._declared.append(("speculation", {"max_running_requests": 48}))
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_an_option_is_what_it_is_set_to(way: str) -> None:
    found = settings(WAYS[way], fields="speculative_algorithm: Optional[str] = None")
    condition = "max_running_requests is None and speculative_algorithm == 'EAGLE'"
    assert found["max_running_requests"] == f"48 if {condition} else max_running_requests"


def test_an_option_that_nobody_sets_is_what_the_user_gives() -> None:
    assert settings("def _adjust(self):\n    pass")["page_size"] == "page_size"


def test_a_start_that_fails_is_no_setting() -> None:
    methods = """
def _adjust(self):
    if self.page_size > 64:
        raise ValueError(self.page_size)
    self.page_size = {1: 16, 2: 32}[self.tp_size]
"""
    assert settings(methods)["page_size"] == "16 if tp_size == 1 else 32"


def test_the_model_is_asked_under_the_name_that_the_sizing_has_for_it() -> None:
    methods = """
def _adjust(self):
    from sglang.srt.hf_transformers_utils import get_config

    if "Gemma" in get_config(self.model_path).architectures[0]:
        self.page_size = 64
"""
    config = (
        "def get_config(path):\n    import transformers\n    return transformers.AutoConfig.from_pretrained(path)\n"
    )
    found = settings(methods, files={"sglang/srt/hf_transformers_utils.py": config})
    assert found["page_size"] == "64 if 'Gemma' in item(architectures, 0) else page_size"


def test_no_other_option_is_followed() -> None:
    methods = "def _adjust(self):\n    self.tokenizer_workers = 4\n"
    assert "tokenizer_workers" not in settings(methods, fields="tokenizer_workers: int = 1")


def test_a_launched_method_that_the_constructor_calls_runs_once() -> None:
    methods = """
def _adjust(self):
    self.check_server_args()

def check_server_args(self):
    self.page_size = self.page_size * 2
"""
    assert settings(methods)["page_size"] == "page_size * 2"


TABLE = """
TABLE = {}
RULES = []


def register(*names):
    def enter(function):
        for name in names:
            TABLE.setdefault(name, []).append(function)
        return function

    return enter


def register_rule(condition):
    def enter(function):
        RULES.append((condition, function))
        return function

    return enter


def late(function):
    return register("Gemma")(function)


@register("Gemma", "Llama")
def small_pages(server_args):
    return {"page_size": 16, "tokenizer_workers": 2}


@register_rule(lambda name: "Draft" in name)
def fewer_requests(server_args):
    if server_args.max_running_requests is None:
        return {"max_running_requests": 8}
    return {}


@late
def larger_pages(server_args):
    values = {}
    if server_args.enable_multimodal:
        values["page_size"] = 32
    return values


def declared(server_args, name):
    values = []
    for function in TABLE.get(name, ()):
        found = function(server_args)
        if found:
            values.append(dict(found))
    for condition, function in RULES:
        if condition(name):
            values.append(function(server_args))
    return values
"""
_APPLIED = """
def _adjust(self):
    from sglang.srt.overrides import declared

    for values in declared(self, self.model_path):
        for name, value in values.items():
            setattr(self, name, value)
"""


def test_functions_that_decorators_enter_into_tables_set_options() -> None:
    found = settings(_APPLIED, "enable_multimodal: bool = False", {"sglang/srt/overrides.py": TABLE})
    gemma = "32 if model_path == 'Gemma' and enable_multimodal else 16 if model_path == 'Gemma' else page_size"
    assert found["page_size"] == f"16 if model_path == 'Llama' else {gemma}"
    unset = "'Draft' in model_path and max_running_requests is None"
    assert found["max_running_requests"] == f"8 if {unset} else max_running_requests"


def test_a_table_that_calls_fill_sets_options() -> None:
    table = TABLE.replace("@late\ndef larger_pages", "def larger_pages") + '\n\nregister("Qwen")(larger_pages)\n'
    found = settings(_APPLIED, "enable_multimodal: bool = False", {"sglang/srt/overrides.py": table})
    assert "32 if model_path == 'Qwen' and enable_multimodal else " in found["page_size"]


def test_a_decorator_that_enters_nothing_is_not_asked() -> None:
    table = TABLE.replace("@late", "def _plain(function):\n    return function\n\n\n@_plain")
    found = settings(_APPLIED, "enable_multimodal: bool = False", {"sglang/srt/overrides.py": table})
    assert found["page_size"] == "16 if model_path == 'Llama' or model_path == 'Gemma' else page_size"


def test_what_is_not_followed_in_a_setting_is_a_gap_of_that_option() -> None:
    methods = """
def _adjust(self):
    while self.page_size < self.tp_size:
        self.page_size = self.page_size * 2
"""
    body = f"{BUDGET}    self._adjust()\n\n{methods}"
    found = extract(draw(minimal_project(config_methods=body)), shipped_rules(), SETTINGS)
    assert [gap.affects for gap in found.setting_gaps] == [("page_size",)]
