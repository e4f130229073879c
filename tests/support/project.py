"""A small made-up project of SGLang's shape, held in memory: one part is varied, its formula is read."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from textwrap import dedent, indent

from analyzer.adapters.rules import load_rules
from analyzer.application.extract import extract
from analyzer.domain.binding import Binding
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RUNNER as RUNNER_ROOT
from analyzer.domain.rules import Domain, RuleSet
from analyzer.domain.semantics import MissingInputError, Off, RaisedError, Value
from analyzer.domain.source import Revision, SourceFile
from analyzer.domain.terms import symbols_of

SERVER_ARGS = "sglang/srt/server_args.py"
UTILS = "sglang/srt/utils.py"
MODEL_CONFIG = "sglang/srt/configs/model_config.py"
WORKER = "sglang/srt/managers/tp_worker.py"
RUNNER = "sglang/srt/model_executor/model_runner.py"

TOKENS = "max_total_num_tokens"

_FILES = {
    SERVER_ARGS: """\
from dataclasses import dataclass, field
from typing import Optional


@dataclass
class ServerArgs:
    model_path: str
    mem_fraction_static: Optional[float] = None
    tp_size: int = 1
    dp_size: int = 1
    page_size: int = 1
    max_total_tokens: Optional[int] = None
    max_running_requests: Optional[int] = None
    max_mamba_cache_size: Optional[int] = None
    device: str = "cuda"
$fields

$config_methods
""",
    UTILS: """\
import torch

$utils

def get_available_gpu_memory(device, gpu_id, distributed=False):
$measure
""",
    MODEL_CONFIG: """\
from transformers import AutoConfig


class ModelConfig:
    def __init__(self, path):
        self.hf_config = AutoConfig.from_pretrained(path)
        self.num_hidden_layers = self.hf_config.num_hidden_layers
        self.head_dim = self.hf_config.head_dim
        self.num_key_value_heads = self.hf_config.num_key_value_heads
        self.context_len = self.hf_config.max_position_embeddings
$model_init

    def get_num_kv_heads(self, ranks):
        return max(1, self.num_key_value_heads // ranks)

$model_methods
""",
    WORKER: """\
from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.model_executor.model_runner import ModelRunner
from sglang.srt.server_args import ServerArgs
$worker_imports


class TpModelWorker:
    def __init__(self, server_args: ServerArgs, gpu_id: int):
        self.server_args = server_args
        self.model_config = ModelConfig(server_args.model_path)
$worker
        self.model_runner = ModelRunner(
            config=self.model_config,
            fraction=server_args.mem_fraction_static,
            gpu_id=gpu_id,
            server_args=server_args,
        )
$after
""",
    RUNNER: """\
import logging
import os

import torch

from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.server_args import ServerArgs
from sglang.srt.utils import get_available_gpu_memory
$imports

logger = logging.getLogger(__name__)

$module


class ModelRunner$bases:
    def __init__(self, config: ModelConfig, fraction: float, gpu_id: int, server_args: ServerArgs):
        self.model_config = config
        self.mem_fraction_static = fraction
        self.gpu_id = gpu_id
        self.server_args = server_args
        self.device = server_args.device
        self.tp_size = server_args.tp_size
        self.page_size = server_args.page_size
$init

    def init_torch_distributed(self):
        return get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)

    def load_model(self):
        self.dtype = self.model_config.dtype

    def bytes_per_token(self):
$cell

    def profile_max_num_token(self, before):
$profile

    def init_memory_pool(self, before):
$pool

$methods
""",
}

_INDENT = {
    "imports": 0,
    "module": 0,
    "utils": 0,
    "bases": 0,
    "worker_imports": 0,
    "fields": 4,
    "config_methods": 4,
    "methods": 4,
    "model_methods": 4,
    "measure": 4,
}

_PARTS = {
    "fields": "",
    "config_methods": "",
    "utils": "",
    "measure": """
        free = torch.cuda.mem_get_info(gpu_id)[0] / (1 << 30)
        if distributed:
            reading = torch.tensor(free, dtype=torch.float32)
            torch.distributed.all_reduce(reading, op=torch.distributed.ReduceOp.MIN)
            free = reading.item()
        return free
    """,
    "model_init": "",
    "model_methods": "",
    "worker_imports": "",
    "worker": "",
    "after": "",
    "imports": "",
    "module": "",
    "bases": "",
    "init": """
        before = self.init_torch_distributed()
        self.load_model()
        self.init_memory_pool(before)
    """,
    "cell": """
        heads = self.model_config.get_num_kv_heads(self.tp_size)
        return heads * self.model_config.head_dim * self.model_config.num_hidden_layers * 2 * 2
    """,
    "profile": """
        after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)
        budget = after - before * (1 - self.mem_fraction_static)
        return int(budget * (1 << 30) // self.bytes_per_token())
    """,
    "pool": "self.max_total_num_tokens = self.profile_max_num_token(before)",
    "methods": "",
}


def minimal_project(files: Mapping[str, str] | None = None, /, **parts: str) -> dict[str, str]:
    """The project with some `parts` of its files replaced, and whole `files` added or replaced."""
    unknown = parts.keys() - _PARTS.keys()
    assert not unknown, f"no such part: {unknown}"
    filled = {name: _block(text, _INDENT.get(name, 8)) for name, text in (_PARTS | parts).items()}
    return {path: Template(text).substitute(filled) for path, text in _FILES.items()} | dict(files or {})


def _block(text: str, columns: int) -> str:
    return indent(dedent(text).strip("\n"), " " * columns)


@dataclass(frozen=True)
class DrawnTree:
    """A source tree drawn as a dict of path to text."""

    files: Mapping[str, bytes]

    @property
    def revision(self) -> Revision:
        """A made-up commit."""
        return Revision("drawn", "drawn", "0" * 40)

    def paths(self) -> Sequence[str]:
        """Every path, sorted."""
        return sorted(self.files)

    def blob(self, path: str) -> str | None:
        """A digest of the content at `path`."""
        return hashlib.sha256(self.files[path]).hexdigest() if path in self.files else None

    def read(self, path: str) -> SourceFile | None:
        """The file at `path`."""
        blob = self.blob(path)
        return None if blob is None else SourceFile(path, blob, self.files[path])

    def display_path(self, path: str) -> str:
        """`path` below the folder that a repository keeps it in."""
        return f"python/{path}"


def draw(files: Mapping[str, str | bytes]) -> DrawnTree:
    """The tree of `files`; text is dedented and encoded."""
    return DrawnTree({path: text if isinstance(text, bytes) else dedent(text).encode() for path, text in files.items()})


@cache
def shipped_rules() -> RuleSet:
    """The rules that ship with the package."""
    return load_rules()


def extract_project(files: Mapping[str, str | bytes]) -> Extraction:
    """The formulas of the project drawn as `files`."""
    return extract(draw(files), shipped_rules(), RUNNER_ROOT)


def extracted(files: Mapping[str, str] | None = None, /, **parts: str) -> Extraction:
    """The formulas of the minimal project with `parts` and `files` replaced."""
    return extract_project(minimal_project(files, **parts))


# The statement of a pool that counts its tokens.
COUNT = "n = self.profile_max_num_token(before)\n"

MACHINE: Mapping[str, Value] = {
    "available_gpu_memory": 61.37,
    "pre_model_load_memory": 78.52,
    "mem_fraction_static": 0.88,
    "num_hidden_layers": 32,
    "num_layers": 32,
    "num_key_value_heads": 8,
    "num_kv_heads": 8,
    "head_dim": 128,
    "context_len": 32768,
    "page_size": 1,
    "tp_size": 1,
    "dp_size": 1,
    "max_total_tokens": None,
    "max_running_requests": None,
    "user_max_mamba_cache_size": None,
    "device": "cuda",
}
"""One server, every input that the minimal project reads."""

MACHINES: tuple[Mapping[str, Value], ...] = (
    MACHINE,
    {
        **MACHINE,
        "available_gpu_memory": 120.5,
        "pre_model_load_memory": 139.25,
        "num_kv_heads": 1,
        "num_hidden_layers": 61,
    },
    {**MACHINE, "mem_fraction_static": 0.55, "page_size": 64, "tp_size": 4, "dp_size": 2, "max_running_requests": 64},
    {**MACHINE, "available_gpu_memory": 5.5, "mem_fraction_static": 0.98, "max_total_tokens": 16384},
    {**MACHINE, "available_gpu_memory": 4.0},
    {**MACHINE, "context_len": 8192, "head_dim": 64, "max_total_tokens": 100001, "page_size": 16},
)
"""Servers that take different branches: one without room, a capped one, a paged one."""


def outcome(extraction: Extraction, quantity: str = TOKENS, **inputs: Value) -> Value:
    """What `quantity` is worth under `inputs`; ``raises X`` and ``missing x`` are outcomes too."""
    formula = extraction.quantities[quantity]
    binding = Binding(extraction, shipped_rules(), {}, inputs)
    try:
        if formula.error is not None:
            _check(binding, extraction, quantity)
        value = binding.value(formula.term)
    except RaisedError as raised:
        return f"raises {raised.exception}"
    except MissingInputError as missing:
        return f"missing {missing.name}"
    return f"off {value.name}" if isinstance(value, Off) else value


def _check(binding: Binding, extraction: Extraction, quantity: str) -> None:
    """Raise what the source would raise on purpose before the value exists."""
    error = extraction.quantities[quantity].error
    assert error is not None
    try:
        binding.value(error)
    except RaisedError as raised:
        if raised.deliberate:
            raise
    except MissingInputError:
        return


def expected(expression: str, machine: Mapping[str, Value]) -> Value:
    """What Python makes of `expression` over the inputs of `machine`.

    `budget`, `cell` and `tokens` stand for the values of the unchanged project.
    """
    known = {**machine, "GIB": 1 << 30, "math": math}
    known["budget"] = known["available_gpu_memory"] - known["pre_model_load_memory"] * (
        1 - known["mem_fraction_static"]
    )
    known["cell"] = known["num_kv_heads"] * known["head_dim"] * known["num_hidden_layers"] * 2 * 2
    known["tokens"] = int(known["budget"] * (1 << 30) // known["cell"])
    try:
        return eval(expression, known)  # noqa: S307 - the expressions are written in the tests
    except ArithmeticError as error:
        return f"raises {type(error).__name__}"


def disagreements(
    extraction: Extraction, expression: str, quantity: str = TOKENS, machines: Iterable[Mapping[str, Value]] = MACHINES
) -> list[str]:
    """Where the formula and `expression` differ, value or type; empty when they agree on every machine."""
    found = []
    for number, machine in enumerate(machines):
        wanted, got = expected(expression, machine), outcome(extraction, quantity, **machine)
        if wanted != got or type(wanted) is not type(got):
            found.append(f"machine {number}: expected {wanted!r}, got {got!r}")
    return found


def random_machines(*extractions: Extraction, count: int = 200, seed: int = 7) -> Iterator[dict[str, Value]]:
    """Random values for every declared symbol that the extractions read, with telling ones more often."""
    rng = random.Random(seed)  # noqa: S311 - reproducible test data, no secret
    roots = [f.term for e in extractions for f in (*e.quantities.values(), *e.definitions.values())]
    names = sorted(symbols_of(*roots) & shipped_rules().symbols.keys())
    domains = {name: shipped_rules().symbols[name].domain for name in names}
    for _ in range(count):
        yield {name: _draw(domain, rng) for name, domain in domains.items() if domain.kind != "object"}


def _draw(domain: Domain, rng: random.Random) -> Value:
    if domain.optional and rng.random() < 0.3:
        return None
    if domain.kind == "boolean":
        return rng.random() < 0.5
    if domain.choices and (domain.kind == "choice" or rng.random() < 0.5):
        return rng.choice(domain.choices)
    if domain.kind == "integer":
        return rng.randint(int(domain.low), int(domain.high))
    return round(rng.uniform(domain.low, domain.high), 4)


def differences(left: Extraction, right: Extraction, quantity: str = TOKENS, count: int = 200) -> list[str]:
    """The random machines on which `quantity` is not the same in both."""
    found = []
    for machine in random_machines(left, right, count=count):
        one, other = outcome(left, quantity, **machine), outcome(right, quantity, **machine)
        if one != other or type(one) is not type(other):
            found.append(f"{machine}: {one!r} and {other!r}")
    return found
