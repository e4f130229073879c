"""Changing the text leaves the formula as it is; changing the formula does not."""

from __future__ import annotations

import re

import pytest

from analyzer.adapters.snapshots import decode_snapshot, encode_snapshot
from analyzer.domain.snapshot import Snapshot
from tests.support.project import MODEL_CONFIG, RUNNER, TOKENS, differences, extract_project, extracted, minimal_project
from tests.support.samples import REVISION

PROFILE = """
after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)
headroom = before * (1 - self.mem_fraction_static)
budget = after - headroom
if self.model_config.context_len > 8192:
    budget -= 0.5
cost = self.bytes_per_token()
count = int(budget * (1 << 30) // cost)
return count
"""
POOL = """
count = self.profile_max_num_token(before)
if self.server_args.max_total_tokens is not None:
    if self.server_args.max_total_tokens > count:
        logger.warning("the cap is larger than what was measured")
    count = min(count, self.server_args.max_total_tokens)
count = count // self.page_size * self.page_size
if count <= 0:
    raise RuntimeError("Not enough memory")
self.max_total_num_tokens = count
"""
BASE = minimal_project(
    profile=PROFILE,
    pool=POOL,
    # A write that reaches beyond the runner keeps its constructor on the path.
    init="""
        before = self.init_torch_distributed()
        self.load_model()
        if self.model_config.context_len > 100_000:
            self.server_args.page_size = 1
        self.init_memory_pool(before)
    """,
)
BASE_FORMULA = extract_project(BASE)


def edited(path: str, *changes: tuple[str, str]) -> dict[str, str]:
    """The project after replacing text in one file; each replacement must hit."""
    text = BASE[path]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return BASE | {path: text}


METHODS = {"profile_max_num_token": "measure", "bytes_per_token": "cost_of_one", "init_memory_pool": "alloc_pool"}


def renamed(names: dict[str, str]) -> dict[str, str]:
    """The project after renaming identifiers in every file."""
    pattern = re.compile(rf"(?<![\w'\"])({'|'.join(names)})\b")
    return {path: pattern.sub(lambda found: names[found[1]], text) for path, text in BASE.items()}


HELPERS = "sglang/srt/model_executor/sizing.py"
_METHOD = re.compile(r"    def bytes_per_token\(self\):\n((?:        .*\n|\n)+)")


def moved_function() -> dict[str, str]:
    """The cost of a token computed by a function in another module."""
    body = _METHOD.search(BASE[RUNNER]).group(1)  # type: ignore[union-attr]  # the method is there
    helper = "def bytes_per_token(runner):\n" + body.replace("self.", "runner.").replace("        ", "    ")
    runner = _METHOD.sub("", BASE[RUNNER]).replace("self.bytes_per_token()", "bytes_per_token(self)")
    runner = runner.replace(
        "import torch\n", "import torch\nfrom sglang.srt.model_executor.sizing import bytes_per_token\n", 1
    )
    return BASE | {RUNNER: runner, HELPERS: helper}


def moved_class(path: str, old_module: str) -> dict[str, str]:
    """One class kept in another file."""
    new = path.replace(".py", "_impl.py")
    module = new.removesuffix(".py").replace("/", ".")
    files = {name: text.replace(f"from {old_module} import", f"from {module} import") for name, text in BASE.items()}
    files[new] = files.pop(path)
    return files


def reexported(path: str) -> dict[str, str]:
    """One file turned into a package that hands its names on."""
    new = path.replace(".py", "_impl.py")
    module = new.removesuffix(".py").replace("/", ".")
    return BASE | {new: BASE[path], path: f"from {module} import *\nfrom {module} import ModelRunner\n"}


SAME = {
    "nothing": BASE,
    "comments and blank lines": {
        path: re.sub("\n", "  # why\n\n", text) if path == RUNNER else text for path, text in BASE.items()
    },
    "locals renamed": renamed({"budget": "rest", "count": "number", "cost": "bytes_each", "headroom": "slack"}),
    "parameters renamed": renamed({"before": "lowest_free", "gpu_id": "index", "fraction": "share"}),
    "methods renamed": renamed(METHODS),
    "an attribute renamed": edited(RUNNER, ("self.mem_fraction_static", "self.static_share")),
    "an if inverted": edited(
        RUNNER,
        (
            "if self.model_config.context_len > 8192:\n            budget -= 0.5",
            "if not self.model_config.context_len > 8192:\n            pass\n        else:\n            budget -= 0.5",
        ),
    ),
    "a comparison turned around": edited(
        RUNNER, ("self.model_config.context_len > 8192", "8192 < self.model_config.context_len")
    ),
    "a return instead of an else": edited(
        RUNNER,
        (
            "        count = int(budget * (1 << 30) // cost)\n        return count",
            (
                "        if cost:\n            return int(budget * (1 << 30) // cost)\n"
                "        return int(budget * (1 << 30) // cost)"
            ),
        ),
    ),
    "a conditional expression": edited(
        RUNNER,
        (
            "if self.model_config.context_len > 8192:\n            budget -= 0.5",
            "budget = budget - 0.5 if self.model_config.context_len > 8192 else budget",
        ),
    ),
    "a helper extracted": edited(
        RUNNER,
        (
            "        headroom = before * (1 - self.mem_fraction_static)\n        budget = after - headroom",
            "        budget = self._rest(after, before)",
        ),
        (
            "    def init_memory_pool(self",
            (
                "    def _rest(self, now, start):\n        slack = start * (1 - self.mem_fraction_static)\n"
                "        return now - slack\n\n    def init_memory_pool(self"
            ),
        ),
    ),
    "a variable inlined": edited(
        RUNNER,
        (
            (
                "        cost = self.bytes_per_token()\n        count = int(budget * (1 << 30) // cost)\n"
                "        return count"
            ),
            "        return int(budget * (1 << 30) // self.bytes_per_token())",
        ),
    ),
    "a function moved": moved_function(),
    "the runner's file moved": moved_class(RUNNER, "sglang.srt.model_executor.model_runner"),
    "the configuration's file moved": moved_class(MODEL_CONFIG, "sglang.srt.configs.model_config"),
    "the runner handed on by another module": reexported(RUNNER),
    "an import with another name": edited(
        RUNNER,
        ("import get_available_gpu_memory", "import get_available_gpu_memory as free_memory"),
        ("        after = get_available_gpu_memory(", "        after = free_memory("),
        ("return get_available_gpu_memory(", "return free_memory("),
    ),
    "an import of the module": edited(
        RUNNER,
        ("from sglang.srt.utils import get_available_gpu_memory", "from sglang.srt import utils"),
        ("get_available_gpu_memory(", "utils.get_available_gpu_memory("),
    ),
    "an import inside the function": edited(
        RUNNER,
        ("        after = get_", "        from sglang.srt.utils import get_available_gpu_memory\n        after = get_"),
    ),
    "the power written out": edited(RUNNER, ("(1 << 30)", "1073741824")),
    "a log line": edited(
        RUNNER, ("        return count", "        logger.info('count %d', count)\n        return count")
    ),
    "a nested function": edited(
        RUNNER,
        (
            "        count = int(budget * (1 << 30) // cost)",
            (
                "        def to_tokens(x):\n            return int(x * (1 << 30) // cost)\n"
                "        count = to_tokens(budget)"
            ),
        ),
    ),
    "keywords for positions": edited(
        RUNNER, ("self.profile_max_num_token(before)", "self.profile_max_num_token(before=before)")
    ),
    "a constant named": edited(
        RUNNER,
        ("budget -= 0.5", "budget -= RESERVE"),
        ("\n\nclass ModelRunner", "\nRESERVE = 0.5\n\nclass ModelRunner"),
    ),
    "a property": edited(
        RUNNER,
        ("    def bytes_per_token", "    @property\n    def bytes_per_token"),
        ("self.bytes_per_token()", "self.bytes_per_token"),
    ),
    "a staged assignment": edited(
        RUNNER,
        (
            "self.max_total_num_tokens = count",
            "self.max_total_num_tokens = 0\n        self.max_total_num_tokens = count",
        ),
    ),
    "a mixin": edited(
        RUNNER,
        ("class ModelRunner:", "class PoolMixin:"),
        ("    def profile_max_num_token", "    pass\n\nclass ModelRunner(PoolMixin):\n    def profile_max_num_token"),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_change_of_the_text_alone_changes_no_value(name: str) -> None:
    extraction = extract_project(SAME[name])
    for quantity in (TOKENS, "cell_size"):
        assert differences(BASE_FORMULA, extraction, quantity) == []
    assert extraction.gaps == ()


DIFFERENT = {
    "coefficient": (("* 2 * 2", "* 2 * 3"),),
    "sign": (("after - headroom", "after + headroom"),),
    "complement": (("(1 - self.mem_fraction_static)", "self.mem_fraction_static"),),
    "unit": (("(1 << 30)", "1000**3"),),
    "scale": (("(1 << 30)", "(1 << 20)"),),
    "guard": (("context_len > 8192", "context_len > 4096"),),
    "guard's edge": (("context_len > 8192", "context_len >= 8192"),),
    "guard removed": (
        ("if self.model_config.context_len > 8192:\n            budget", "if True:\n            budget"),
    ),
    "reserve": (("-= 0.5", "-= 0.25"),),
    "another rounding": (("int(budget * (1 << 30) // cost)", "int(budget) * (1 << 30) // cost"),),
    "floor to true division": (("count // self.page_size", "count / self.page_size"),),
    "swapped arguments": (
        ("min(count, self.server_args.max_total_tokens)", "min(self.server_args.max_total_tokens, 4)"),
    ),
    "clamp dropped": (("            count = min(count, self.server_args.max_total_tokens)\n", "            pass\n"),),
    "clamp turned": (("count = min(count,", "count = max(count,"),),
    "page rounding dropped": (("        count = count // self.page_size * self.page_size\n", ""),),
    "error dropped": (('        if count <= 0:\n            raise RuntimeError("Not enough memory")\n', ""),),
    "another error": (("raise RuntimeError", "raise ValueError"),),
    "error's edge": (("if count <= 0:", "if count <= 4096:"),),
    "another input": (("self.model_config.head_dim *", "self.model_config.num_hidden_layers *"),),
    "measured once": (
        ("after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)", "after = before"),
    ),
    "fraction changed elsewhere": (
        ("        self.load_model()", "        self.mem_fraction_static *= 0.85\n        self.load_model()"),
    ),
    "fraction changed in another method": (
        ("self.dtype = self.model_config.dtype", "self.mem_fraction_static *= 0.85"),
    ),
    "option changed elsewhere": (("self.dtype = self.model_config.dtype", "self.server_args.max_total_tokens = 100"),),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_change_of_the_formula_is_seen(name: str) -> None:
    changed = extract_project(edited(RUNNER, *DIFFERENT[name]))
    assert differences(BASE_FORMULA, changed) != []


def test_the_order_of_fields_and_files_does_not_matter() -> None:
    backwards = dict(reversed(BASE.items()))
    assert extract_project(backwards) == BASE_FORMULA


def test_extracting_twice_gives_the_same() -> None:
    assert extract_project(BASE) == BASE_FORMULA
    assert extract_project(BASE).quantities[TOKENS].term is BASE_FORMULA.quantities[TOKENS].term


def test_the_other_formula_of_a_project_is_untouched_by_a_neighbour() -> None:
    neighbour = extracted({"sglang/srt/managers/other.py": "def f():\n    get_available_gpu_memory('cuda', 0)\n"})
    assert neighbour.quantities[TOKENS].term is extracted().quantities[TOKENS].term


def test_a_stored_extraction_has_the_order_of_a_fresh_one() -> None:
    fresh = extracted()
    stored = decode_snapshot(encode_snapshot(Snapshot(REVISION, fresh, "0", "digest"))).extraction
    for name in ("quantities", "definitions", "inputs"):
        assert list(getattr(fresh, name)) == list(getattr(stored, name))
