"""Values that travel through attributes, classes, factories and configuration."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Extraction
from tests.support.project import (
    COUNT,
    MACHINE,
    RUNNER,
    SERVER_ARGS,
    disagreements,
    extract_project,
    extracted,
    minimal_project,
)

HALVED = "self.max_total_num_tokens = self.profile_max_num_token(before) // 2"


def agrees(extraction: Extraction, expression: str) -> None:
    """The count is what `expression` says, and nothing was left out."""
    assert disagreements(extraction, expression) == []
    assert extraction.gaps == ()


HAND_OFFS = {
    "one more hop": {
        "init": "free = self.init_torch_distributed()\nself.initialize(free)",
        "methods": "def initialize(self, lowest):\n    self.init_memory_pool(lowest)",
    },
    "by keyword": {"init": "self.init_memory_pool(before=self.init_torch_distributed())"},
    "an attribute": {
        "init": "self.reading = self.init_torch_distributed()\nself.init_memory_pool(None)",
        "pool": "self.max_total_num_tokens = self.profile_max_num_token(self.reading)",
    },
    "an attribute read in another method": {
        "init": "self.start()\nself.init_memory_pool(0)",
        "methods": "def start(self):\n    self.reading = self.init_torch_distributed()",
        "pool": "self.max_total_num_tokens = self.profile_max_num_token(self.reading)",
    },
    "a dataclass": {
        "module": "from dataclasses import dataclass, field\n@dataclass\nclass Reading:\n"
        "    free: float\n    rank: int = 0\n"
        "    names: list = field(default_factory=list)",
        "init": "self.init_memory_pool(Reading(self.init_torch_distributed()))",
        "pool": "self.max_total_num_tokens = self.profile_max_num_token(before.free)",
    },
    "a struct made by a free function": {
        "module": "import msgspec\nclass Started(msgspec.Struct, frozen=True, kw_only=True):\n"
        "    rank: int\n    free: float\n"
        "def start(runner) -> Started:\n"
        "    return Started(free=get_available_gpu_memory(runner.device, runner.gpu_id), rank=3)",
        "init": "started = start(self)\nself.reading = started.free\nself.init_memory_pool(self.reading)",
    },
    "a named tuple": {
        "module": "from typing import NamedTuple\nclass Reading(NamedTuple):\n    rank: int\n    free: float",
        "init": "rank, free = Reading(0, self.init_torch_distributed())\nself.init_memory_pool(free)",
    },
    "a tuple from a helper": {
        "methods": "def both(self):\n    return self.gpu_id, self.init_torch_distributed()",
        "init": "_, free = self.both()\nself.init_memory_pool(free)",
    },
    "a dict": {
        "init": "start = {'free': self.init_torch_distributed()}\nself.init_memory_pool(start['free'])",
    },
    "a property": {
        "init": "self._free = self.init_torch_distributed()\nself.init_memory_pool(self.free)",
        "methods": "@property\ndef free(self):\n    return self._free",
    },
    "a static method": {
        "init": "self.init_memory_pool(self.read(self.device, self.gpu_id))",
        "methods": "@staticmethod\ndef read(device, gpu):\n    return get_available_gpu_memory(device, gpu)",
    },
    "a class method": {
        "init": "self.init_memory_pool(ModelRunner.read(self.device, self.gpu_id))",
        "methods": "@classmethod\ndef read(cls, device, gpu):\n    return cls.again(device, gpu)\n"
        "@staticmethod\ndef again(device, gpu):\n    return get_available_gpu_memory(device, gpu)",
    },
    "a closure": {
        "init": "before = self.init_torch_distributed()\ndef go():\n    self.init_memory_pool(before)\ngo()",
    },
    "a bound method as a value": {
        "init": "read = self.init_torch_distributed\nself.init_memory_pool(read())",
    },
    "the worker calls the pool": {
        "init": "self.reading = self.init_torch_distributed()",
        "after": "self.model_runner.init_memory_pool(self.model_runner.reading)",
    },
    "a context manager": {
        "init": (
            "with torch.inference_mode():\n    before = self.init_torch_distributed()\n"
            "    self.init_memory_pool(before)"
        ),
    },
}


@pytest.mark.parametrize("name", HAND_OFFS)
def test_the_reading_reaches_the_count_through(name: str) -> None:
    agrees(extracted(**HAND_OFFS[name]), "tokens")


def test_methods_of_a_mixin_read_the_class_that_mixes_it_in() -> None:
    path = "sglang/srt/model_executor/runner_mixin.py"
    mixin = """
        from __future__ import annotations
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from sglang.srt.model_executor.model_runner import ModelRunner

        class PoolMixin:
            def shrink(self: ModelRunner, count: int):
                return count // 2 - self.page_size + self.model_config.context_len
    """
    runner = {
        "imports": "from sglang.srt.model_executor.runner_mixin import PoolMixin",
        "bases": "(PoolMixin)",
        "pool": COUNT + "self.max_total_num_tokens = self.shrink(n)",
    }
    agrees(extracted({path: mixin}, **runner), "tokens // 2 - page_size + context_len")


FACTORY = """
from abc import ABC

class Sizer(ABC):
    def __init__(self, runner):
        self.cost = runner.bytes_per_token() + self.extra()

    def extra(self):
        return 0

    def size(self, budget):
        raise NotImplementedError

class Plain(Sizer):
    def size(self, budget):
        return int(budget * (1 << 30) // self.cost)

class Padded(Plain):
    def __init__(self, runner):
        super().__init__(runner)
        self.cost += 64

    def extra(self):
        return 7

    def size(self, budget):
        return super().size(budget) - 1

    @staticmethod
    def wanted(runner) -> bool:
        return runner.page_size > 1

def create(runner) -> Sizer:
    if runner.tp_size > 2:
        return Padded(runner)
    if Padded.wanted(runner):
        return Plain(runner)
    kind = Padded if runner.server_args.max_total_tokens else Plain
    return kind(runner)
"""
CREATED = "int(budget * GIB // (cell + 71)) - 1 if tp_size > 2 or (page_size <= 1 and max_total_tokens) else tokens"


def test_a_factory_of_several_classes() -> None:
    profile = """
        after = get_available_gpu_memory(self.device, self.gpu_id)
        left = after - before * (1 - self.mem_fraction_static)
        from sglang.srt.model_executor.sizer import create
        return create(self).size(left)
    """
    agrees(extracted({"sglang/srt/model_executor/sizer.py": FACTORY}, profile=profile), CREATED)


def test_a_class_that_is_chosen_by_name() -> None:
    module = "class One:\n    k = 1\nclass Two(One):\n    k = 2\nKINDS = {'one': One, 'two': Two}"
    agrees(extracted(module=module, pool=COUNT + "self.max_total_num_tokens = n - KINDS['two'].k"), "tokens - 2")


def test_instances_are_told_apart_by_class() -> None:
    module = """
        class Wide:
            pass
        class Narrow(Wide):
            pass
        def factor(x):
            if isinstance(x, (Narrow, str)):
                return 3
            return 2 if isinstance(x, Wide) else 1
    """
    pool = COUNT + "self.max_total_num_tokens = n - factor(Wide()) * 10 - factor(Narrow()) * 100 - factor(4)"
    agrees(extracted(module=module, pool=pool), "tokens - 20 - 300 - 1")


def test_the_second_instance_has_attributes_of_its_own() -> None:
    module = (
        "class Box:\n    def __init__(self, k):\n        self.k = k\n    def grow(self):\n"
        "        self.k += 1\n        return self"
    )
    pool = COUNT + "a, b = Box(1), Box(10)\na.grow().grow()\nself.max_total_num_tokens = n - a.k - b.k"
    agrees(extracted(module=module, pool=pool), "tokens - 3 - 10")


def test_two_names_of_one_object() -> None:
    module = "class Box:\n    k = 1"
    pool = COUNT + "a = Box()\nb = a\nb.k = 5\nself.max_total_num_tokens = n - a.k - Box.k"
    agrees(extracted(module=module, pool=pool), "tokens - 5 - 1")


def test_a_dataclass_that_completes_itself() -> None:
    module = """
        from dataclasses import dataclass, field
        @dataclass(kw_only=True)
        class Layers:
            first: int = 0
            last: int
            held: int = field(init=False)
            def __post_init__(self):
                self.held = self.last - self.first
                if self.held <= 0:
                    raise ValueError("none")
    """
    pool = COUNT + "self.layers = Layers(last=self.page_size + 3)\nself.max_total_num_tokens = n - self.layers.held"
    agrees(extracted(module=module, pool=pool), "tokens - (page_size + 3)")


def test_a_config_object_whose_fields_are_set_later() -> None:
    module = (
        "from dataclasses import dataclass\nfrom typing import Optional\n@dataclass\n"
        "class Sizes:\n    tokens: int\n    rows: Optional[int] = None"
    )
    pool = (
        COUNT + "s = Sizes(tokens=n)\ns.rows = s.tokens // 8\ns.tokens -= s.rows\nself.max_total_num_tokens = s.tokens"
    )
    agrees(extracted(module=module, pool=pool), "tokens - tokens // 8")


@pytest.mark.parametrize("library", ["dataclasses", "msgspec.structs"])
def test_replacing_a_field_makes_a_copy(library: str) -> None:
    module = (
        f"import dataclasses\nimport msgspec\nreplace = {library}.replace\n"
        f"@dataclasses.dataclass\nclass Sizes:\n    tokens: int\n    rows: int = 2"
    )
    pool = COUNT + "a = Sizes(n)\nb = replace(a, rows=7)\nself.max_total_num_tokens = b.tokens - b.rows - a.rows * 10"
    agrees(extracted(module=module, pool=pool), "tokens - 7 - 20")


ENUM = """
from enum import Enum, auto

class Kind(Enum):
    NONE = "none"
    EAGLE = "eagle"

    @classmethod
    def from_text(cls, text):
        return cls.NONE if text is None else cls(text.lower())

    def is_eagle(self):
        return self == Kind.EAGLE
"""


@pytest.mark.parametrize(
    ("read", "expression"),
    [
        ("3 if Kind.EAGLE == Kind('eagle') else 4", "3"),
        ("3 if Kind('none').is_eagle() else 4", "4"),
        ("3 if Kind.from_text(None) is Kind.NONE else 4", "3"),
        ("3 if Kind.from_text('EAGLE').is_eagle() else 4", "3"),
        ("3 if Kind['EAGLE'].value == 'eagle' else 4", "3"),
        ("len(Kind.NONE.name)", "4"),
        ("len([k for k in Kind])", "2"),
    ],
)
def test_enums(read: str, expression: str) -> None:
    pool = COUNT + f"self.max_total_num_tokens = n - ({read})"
    agrees(extracted(module=ENUM, pool=pool), f"tokens - {expression}")


def test_an_enum_made_from_an_option() -> None:
    pool = (
        COUNT + "kind = Kind.from_text(self.server_args.speculative_algorithm)\n"
        "self.max_total_num_tokens = n - (3 if kind.is_eagle() else 4)"
    )
    extraction = extracted(module=ENUM, fields="speculative_algorithm: Optional[str] = None", pool=pool)
    machines = [{"speculative_algorithm": value} for value in (None, "EAGLE", "eagle")]
    expression = "tokens - (3 if (speculative_algorithm or '').lower() == 'eagle' else 4)"
    assert disagreements(extraction, expression, machines=[{**MACHINE, **m} for m in machines]) == []


CONTEXT = """
from sglang.srt.server_args import ServerArgs

class _ConfigBag:
    pass

class Context:
    def override(self, label, **values):
        for name, value in values.items():
            setattr(self, name, value)

_context = Context()

def get_context() -> Context:
    return _context

def get_schedule() -> _ConfigBag:
    return _context.schedule

def get_server_args() -> ServerArgs:
    return _context.server_args
"""
WRITES = {
    "assignment": "self.server_args.max_mamba_cache_size = n // 3",
    "keyword write on the options": "self.server_args.override('why', max_mamba_cache_size=n // 3)",
    "keyword write on the context": "get_context().override('why', max_mamba_cache_size=n // 3)",
    "setattr": "setattr(self.server_args, 'max_mamba_cache_size', n // 3)",
    "assignment to an alias": "args = self.server_args\nargs.max_mamba_cache_size = n // 3",
    "assignment through the getter": "get_server_args().max_mamba_cache_size = n // 3",
}
READS = {
    "the option": "self.server_args.max_mamba_cache_size",
    "the bag": "get_schedule().max_mamba_cache_size",
    "the getter": "get_server_args().max_mamba_cache_size",
    "getattr": "getattr(self.server_args, 'max_mamba_cache_size', None)",
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("read", READS)
def test_an_option_written_on_the_way_is_read_back(write: str, read: str) -> None:
    files = {"sglang/srt/context.py": CONTEXT}
    imports = "from sglang.srt.context import get_context, get_schedule, get_server_args"
    config = (
        "def override(self, label, **values):\n    for name, value in values.items():\n"
        "        setattr(self, name, value)"
    )
    pool = COUNT + f"{WRITES[write]}\nself.max_total_num_tokens = n - {READS[read]}"
    agrees(extracted(files, imports=imports, config_methods=config, pool=pool), "tokens - tokens // 3")


def test_the_fraction_read_from_a_bag() -> None:
    profile = """
        from sglang.srt.context import get_schedule
        after = get_available_gpu_memory(self.device, self.gpu_id)
        left = after - before * (1 - get_schedule().mem_fraction_static)
        return int(left * (1 << 30) // self.bytes_per_token())
    """
    agrees(extracted({"sglang/srt/context.py": CONTEXT}, profile=profile), "tokens")


def test_an_undeclared_option_is_read_by_another_method() -> None:
    pool = COUNT + "self.server_args.reserve = n // 4\nself.max_total_num_tokens = self.rest(n)"
    agrees(
        extracted(pool=pool, methods="def rest(self, n):\n    return n - self.server_args.reserve"),
        "tokens - tokens // 4",
    )


def test_methods_and_properties_of_the_options() -> None:
    config = (
        "@property\ndef cap(self):\n    return self.max_total_tokens or 9\n"
        "def twice(self, k):\n    return k * 2 + self.page_size"
    )
    pool = COUNT + "self.max_total_num_tokens = n - self.server_args.cap - self.server_args.twice(4)"
    agrees(extracted(config_methods=config, pool=pool), "tokens - (max_total_tokens or 9) - (8 + page_size)")


def test_options_inherit_fields() -> None:
    files = minimal_project(pool=COUNT + "self.max_total_num_tokens = n - self.server_args.reserve")
    files[SERVER_ARGS] = files[SERVER_ARGS].replace(
        "class ServerArgs:", "class Base:\n    reserve: int = 12\n\n@dataclass\nclass ServerArgs(Base):"
    )
    agrees(extract_project(files), "tokens - 12")


def test_a_subclass_drives_the_same_runner() -> None:
    runner = minimal_project(
        methods="def factor(self):\n    return 2", pool=COUNT + "self.max_total_num_tokens = n - self.factor()"
    )
    draft = runner[RUNNER] + "\n\nclass OtherRunner(ModelRunner):\n    def factor(self):\n        return 50\n"
    agrees(extract_project(runner | {RUNNER: draft}), "tokens - 2")


def test_a_quantity_that_is_set_on_some_ways_only_does_not_exist_on_the_others() -> None:
    pool = (
        COUNT + "if self.server_args.max_total_tokens:\n    self.swa_max_total_num_tokens = n // 4\n"
        "self.max_total_num_tokens = n"
    )
    found = extracted(pool=pool).quantities["swa_max_total_num_tokens"]
    assert "raise" not in repr(found.term)
    assert repr(found.term).endswith("else not set())")
