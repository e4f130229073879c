"""What a name stands for besides its definition: decorators, class bodies that bind it again, patches, hooks."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Extraction
from analyzer.domain.terms import constant
from tests.support.project import MODEL_CONFIG, RUNNER, TOKENS, UTILS, WORKER, disagreements, extracted, minimal_project

WRAPPERS = """
import functools

def ninety(f):
    def g(self, *a, **k):
        return f(self, *a, **k) * 9 // 10
    return g

def halving(f):
    def g(self, *a, **k):
        self.mem_fraction_static /= 2
        return f(self, *a, **k)
    return g

def scaled(by):
    def outer(f):
        @functools.wraps(f)
        def g(*a, **k):
            return f(*a, **k) * by
        return g
    return outer

class Twice:
    def __init__(self, f):
        self.f = f
    def __get__(self, instance, kind=None):
        return lambda *a: self.f(instance, *a) * 2

class Called:
    def __init__(self, f):
        self.f = f
    def __call__(self, *a):
        return self.f(*a) + 1

def seven(cls):
    cls.bytes_per_token = lambda self: 7
    return cls
"""
PROFILE, POOL, CLASS = "    def profile_max_num_token", "    def init_memory_pool", "class ModelRunner"
HALVED = "int((available_gpu_memory - pre_model_load_memory * (1 - mem_fraction_static / 2)) * GIB // cell)"


def varied(path: str, old: str, new: str, more: dict[str, str] | None = None) -> Extraction:
    """The project with a piece of one file replaced, and the wrappers in its runner."""
    files = minimal_project(module=WRAPPERS)
    assert old in files[path]
    return extracted(files | {path: files[path].replace(old, new, 1)} | (more or {}))


DECORATED = {
    "a function": (PROFILE, "ninety", "tokens * 9 // 10"),
    "what a call returns": (PROFILE, "scaled(3)", "tokens * 3"),
    "one over the other": (PROFILE, "ninety\n    @scaled(3)", "tokens * 3 * 9 // 10"),
    "one that sets an attribute": (POOL, "halving", HALVED),
    "one that binds itself": (PROFILE, "Twice", "tokens * 2"),
    "one that changes nothing": (PROFILE, "torch.no_grad()", "tokens"),
}


@pytest.mark.parametrize(("place", "decorator", "expression"), DECORATED.values(), ids=DECORATED)
def test_a_method_is_what_its_decorator_returns(place: str, decorator: str, expression: str) -> None:
    extraction = varied(RUNNER, place, f"    @{decorator}\n{place}")
    assert disagreements(extraction, expression) == []
    assert extraction.gaps == ()


def test_an_instance_stands_for_a_function() -> None:
    files = {"module": WRAPPERS + "\n@Called\ndef count(left, cell):\n    return int(left * (1 << 30) // cell)\n"}
    files["profile"] = """
        after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)
        return count(after - before * (1 - self.mem_fraction_static), self.bytes_per_token())
    """
    extraction = extracted(**files)
    assert disagreements(extraction, "tokens + 1") == []
    assert extraction.gaps == ()


def test_a_class_is_what_its_decorator_makes_of_it() -> None:
    extraction = varied(RUNNER, CLASS, f"@seven\n{CLASS}")
    assert disagreements(extraction, "int(budget * GIB // 7)") == []
    assert extraction.gaps == ()


def test_a_nested_function_is_what_its_decorator_returns() -> None:
    extraction = extracted(
        module=WRAPPERS,
        pool="@scaled(2)\ndef size():\n    return self.profile_max_num_token(before)\n"
        "self.max_total_num_tokens = size()",
    )
    assert disagreements(extraction, "tokens * 2") == []
    assert extraction.gaps == ()


def test_the_measuring_function_is_what_its_decorator_returns() -> None:
    scaled = "def ninth(f):\n    def g(*a, **k):\n        return f(*a, **k) / 9\n    return g\n\n@ninth\n"
    plain, changed = extracted(), varied(UTILS, "def get_available", f"{scaled}def get_available")
    assert changed.quantities["available_gpu_memory"].term != plain.quantities["available_gpu_memory"].term


@pytest.mark.parametrize("place", [PROFILE, CLASS], ids=["method", "class"])
def test_a_decorator_that_is_not_followed_is_a_gap(place: str) -> None:
    margin = " " * (len(place) - len(place.lstrip()))
    extraction = varied(RUNNER, place, f"{margin}@torch.magic\n{place}")
    assert any(gap.construct == "@torch.magic" and TOKENS in gap.affects for gap in extraction.gaps)


REBOUND = {
    "a function around it": ("    profile_max_num_token = ninety(profile_max_num_token)\n", "tokens * 9 // 10"),
    "a function with an effect": ("    init_memory_pool = halving(init_memory_pool)\n", HALVED),
    "a lambda": ("    bytes_per_token = lambda self: 7 * self.tp_size\n", "int(budget * GIB // (7 * tp_size))"),
    "a static method": ("    bytes_per_token = staticmethod(lambda: 7)\n", "int(budget * GIB // 7)"),
}


@pytest.mark.parametrize(("line", "expression"), REBOUND.values(), ids=REBOUND)
def test_the_last_binding_in_a_class_body_counts(line: str, expression: str) -> None:
    files = minimal_project(module=WRAPPERS)
    extraction = extracted(files | {RUNNER: files[RUNNER].rstrip() + "\n\n" + line})
    assert disagreements(extraction, expression) == []
    assert extraction.gaps == ()


def test_a_function_that_a_class_body_takes_over_is_a_method() -> None:
    helper = """\
        def bytes_per_token(self):
            heads = self.model_config.get_num_kv_heads(self.tp_size)
            return heads * self.model_config.head_dim * self.model_config.num_hidden_layers * 4
    """
    files = minimal_project(imports="from sglang.srt.cell import bytes_per_token")
    taken = files[RUNNER].replace(
        "    def bytes_per_token(self):", "    bytes_per_token = bytes_per_token\n\n    def unused(self):", 1
    )
    extraction = extracted(files | {RUNNER: taken, "sglang/srt/cell.py": helper})
    assert disagreements(extraction, "tokens") == []
    assert extraction.gaps == ()


PATCHES = {
    "a function": ("def cell(self):\n    return 7\n\nModelRunner.bytes_per_token = cell", "int(budget * GIB // 7)"),
    "by name": (
        "def cell(self):\n    return 7\n\nsetattr(ModelRunner, 'bytes_per_token', cell)",
        "int(budget * GIB // 7)",
    ),
    "around what was there": (
        (
            "before = ModelRunner.profile_max_num_token\n"
            "ModelRunner.profile_max_num_token = lambda self, t: before(self, t) // 2"
        ),
        "tokens // 2",
    ),
    "with an effect": (
        (
            "before = ModelRunner.load_model\n\n"
            "def load(self):\n    self.mem_fraction_static /= 2\n    before(self)\n\n"
            "ModelRunner.load_model = load"
        ),
        HALVED,
    ),
    "in a branch": (
        "if True:\n    ModelRunner.bytes_per_token = lambda self: 7",
        "int(budget * GIB // 7)",
    ),
}


@pytest.mark.parametrize("path", [RUNNER, WORKER], ids=["its own module", "another module"])
@pytest.mark.parametrize(("patch", "expression"), PATCHES.values(), ids=PATCHES)
def test_what_a_module_sets_on_a_class_counts(path: str, patch: str, expression: str) -> None:
    files = minimal_project()
    extraction = extracted(files | {path: f"{files[path].rstrip()}\n\n\n{patch}\n"})
    assert disagreements(extraction, expression) == []
    assert extraction.gaps == ()


def test_what_a_module_sets_on_its_variable_counts() -> None:
    module = "class Sizes:\n    def __init__(self):\n        self.cell = 1\n\nsizes = Sizes()\nsizes.cell = 7"
    extraction = extracted(module=module, cell="return sizes.cell")
    assert disagreements(extraction, "int(budget * GIB // 7)") == []
    assert extraction.gaps == ()


def test_a_name_imported_before_or_after_it_is_replaced_is_a_gap() -> None:
    files = minimal_project()
    patch = "import sglang.srt.utils as u\n\ndef free(*a, **k):\n    return 5.0\n\nu.get_available_gpu_memory = free\n"
    extraction = extracted(files | {RUNNER: f"{files[RUNNER].rstrip()}\n\n\n{patch}"})
    assert any("get_available_gpu_memory" in gap.construct and gap.affects for gap in extraction.gaps)


COUNT = "self.max_total_num_tokens = self.profile_max_num_token(before)"
HALF = "self.mem_fraction_static / 2"
BY_NAME = {
    "an item": {"pool": f"self.__dict__['mem_fraction_static'] = {HALF}\n{COUNT}"},
    "an item in a branch": {
        "pool": f"if self.tp_size > 0:\n    self.__dict__['mem_fraction_static'] = {HALF}\n{COUNT}"
    },
    "an update": {"pool": f"vars(self).update(mem_fraction_static={HALF})\n{COUNT}"},
    "an update in another method": {
        "pool": f"self.lower()\n{COUNT}",
        "methods": f"def lower(self):\n    self.__dict__.update({{'mem_fraction_static': {HALF}}})",
    },
    "an item in a function": {
        "pool": f"lower(self)\n{COUNT}",
        "module": "def lower(runner):\n    vars(runner)['mem_fraction_static'] = runner.mem_fraction_static / 2",
    },
}


@pytest.mark.parametrize("parts", BY_NAME.values(), ids=BY_NAME)
def test_an_item_of_the_namespace_is_an_attribute(parts: dict[str, str]) -> None:
    extraction = extracted(**parts)
    assert disagreements(extraction, HALVED) == []
    assert extraction.gaps == ()


NOT_FOLLOWED = {
    "unknown attributes": {"pool": f"self.__dict__.update(torch.load('x'))\n{COUNT}"},
    "a global by its name": {
        "module": "scale = 1\n\ndef set_scale():\n    globals()['scale'] = 2",
        "pool": f"set_scale()\n{COUNT} * scale",
    },
    "a global by a computed name": {
        "module": "scale = 1\n\ndef change(name):\n    globals()[name] = 2",
        "pool": f"change('sca' + 'le')\n{COUNT} * scale",
    },
    "a function that is bound again": {
        "module": "def scale():\n    return 1\n\ndef change():\n    global scale\n    scale = lambda: 2",
        "pool": f"change()\n{COUNT} * scale()",
    },
}


@pytest.mark.parametrize("parts", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
def test_what_nobody_can_name_is_a_gap(parts: dict[str, str]) -> None:
    assert extracted(**parts).gaps != ()


def test_what_a_function_does_besides_what_its_symbol_stands_for() -> None:
    files = minimal_project()
    head = "    def get_num_kv_heads(self, ranks):\n"
    changed = files[MODEL_CONFIG].replace(head, f"{head}        self.head_dim = 256\n")
    assert extracted(files | {MODEL_CONFIG: changed}).definitions["head_dim"].term is constant(256)


HOOKS = {
    "the setter of a property": {
        "methods": "@property\ndef mem_fraction_static(self):\n    return self._kept\n\n"
        "@mem_fraction_static.setter\ndef mem_fraction_static(self, value):\n    self._kept = value / 2"
    },
    "__setattr__": {
        "methods": "def __setattr__(self, name, value):\n"
        "    if name == 'mem_fraction_static':\n        value = value / 2\n"
        "    object.__setattr__(self, name, value)"
    },
    "__getattribute__": {
        "methods": "def __getattribute__(self, name):\n    found = object.__getattribute__(self, name)\n"
        "    return found / 2 if name == 'mem_fraction_static' else found"
    },
}


@pytest.mark.parametrize("parts", HOOKS.values(), ids=HOOKS)
def test_hooks_of_attributes_are_run(parts: dict[str, str]) -> None:
    extraction = extracted(**parts)
    assert disagreements(extraction, HALVED) == []
    assert extraction.gaps == ()


def test_what_a_class_does_to_those_that_inherit_from_it() -> None:
    base = "class Base:\n    def __init_subclass__(cls):\n        cls.bytes_per_token = lambda self: 7"
    extraction = extracted(bases="(Base)", module=base)
    assert disagreements(extraction, "int(budget * GIB // 7)") == []
    assert extraction.gaps == ()


@pytest.mark.parametrize(
    "again",
    [
        "try:\n    from sglang.srt.other import get_available_gpu_memory\nexcept ImportError:\n    pass",
        "if os.environ.get('OTHER'):\n    from sglang.srt.other import get_available_gpu_memory",
    ],
    ids=["try", "if"],
)
def test_a_name_that_is_imported_again_under_a_condition_is_a_gap(again: str) -> None:
    other = "from sglang.srt.utils import get_available_gpu_memory as g\n\n"
    other += "def get_available_gpu_memory(*a, **k):\n    return g(*a, **k) * 0.9\n"
    extraction = extracted({"sglang/srt/other.py": other}, module=again)
    assert any("get_available_gpu_memory" in gap.construct and gap.affects for gap in extraction.gaps)
