"""The default fraction of made-up option classes: what their own code computes, and what is extracted from it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from textwrap import dedent, indent
from typing import Any

import pytest

from analyzer.application.extract import extract
from analyzer.domain.binding import Binding
from analyzer.domain.errors import AnchorNotFoundError
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import OPTIONS
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION, outcome
from analyzer.domain.semantics import RaisedError
from tests.support.project import SERVER_ARGS, draw, shipped_rules

HEADER = """
from dataclasses import dataclass, field
from typing import Optional

GPU_MEM = None

def get_device_memory_capacity(device=None):
    return GPU_MEM
"""
FIELDS = """
    model_path: str = "some-model"
    mem_fraction_static: Optional[float] = None
    tp_size: int = 1
    dp_size: int = 1
    chunked_prefill_size: Optional[int] = None
    cuda_graph_max_bs: Optional[int] = None
    enable_dp_attention: bool = False
    speculative_algorithm: Optional[str] = None
    disaggregation_mode: str = "null"
"""
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"chunked_prefill_size": 2048},
    {"chunked_prefill_size": 8192, "cuda_graph_max_bs": 80, "enable_dp_attention": True, "dp_size": 2},
    {"speculative_algorithm": "EAGLE", "disaggregation_mode": "decode"},
)
MACHINES = [
    {"gpu_mem": memory, "tp_size": ranks, **options}
    for memory, ranks, options in product((24564, 81559, 143771, None), (1, 8), CHOICES)
]


def source(methods: str, before: str = "", fields: str = "") -> str:
    """The text of an option class with `methods`; `before` stands above it."""
    body = indent(dedent(methods), "    ")
    return (
        f"{HEADER}\n{dedent(before)}\n\n@dataclass\nclass ServerArgs:{FIELDS}{indent(dedent(fields), '    ')}\n{body}"
    )


def extracted(text: str) -> Extraction:
    """The formulas of the options in `text`."""
    return extract(draw({SERVER_ARGS: text}), shipped_rules(), OPTIONS)


def executed(text: str, machine: Mapping[str, Any]) -> float | str:
    """What the code in `text` computes itself, or the exception that stops it."""
    module: dict[str, Any] = {"__name__": "made_up"}
    exec(compile(text, "made_up", "exec", dont_inherit=True), module)  # noqa: S102 - a text of this file
    module["GPU_MEM"] = machine["gpu_mem"]
    options = {name: value for name, value in machine.items() if name != "gpu_mem"}
    try:
        found: float = module["ServerArgs"](**options).mem_fraction_static
    except (TypeError, ValueError, ZeroDivisionError) as error:
        return type(error).__name__
    return found


def evaluated(extraction: Extraction, machine: Mapping[str, Any], name: str = DEFAULT_FRACTION) -> float | str:
    """What the extracted formula gives."""
    binding = Binding(extraction, shipped_rules(), {}, machine)
    try:
        formula = extraction.quantities.get(name) or extraction.definitions[name]
        found: float = binding.value(outcome(formula))
    except RaisedError as error:
        return error.exception
    return found


PIPELINES = {
    "a ladder": (
        """
        def __post_init__(self):
            if self.mem_fraction_static is None:
                if self.tp_size >= 8:
                    self.mem_fraction_static = 0.81
                else:
                    self.mem_fraction_static = 0.88
        """,
        "",
    ),
    "an error on an unknown machine": (
        """
        def __post_init__(self):
            memory = get_device_memory_capacity()
            self.mem_fraction_static = 0.8 if memory < 30_000 else round((memory - 13 * 1024) / memory, 3)
        """,
        "",
    ),
    "an error that only the options beside it meet": (
        """
        def __post_init__(self):
            if self.mem_fraction_static is None:
                self.mem_fraction_static = 0.81 if self.tp_size >= 8 else 0.88
            memory = get_device_memory_capacity()
            if self.chunked_prefill_size is None:
                self.chunked_prefill_size = 2048 if memory < 25_000 else 8192
        """,
        "",
    ),
    "an option beside it that is switched off and then divided": (
        """
        def __post_init__(self):
            if self.chunked_prefill_size is not None and self.chunked_prefill_size > 4096:
                self.chunked_prefill_size = None
            if self.mem_fraction_static is None:
                self.mem_fraction_static = 0.88
            memory = get_device_memory_capacity()
            if self.chunked_prefill_size is not None and memory is not None and memory < 25_000:
                self.chunked_prefill_size = self.chunked_prefill_size // 4
            elif self.speculative_algorithm is None and memory is not None and memory > 90_000:
                self.cuda_graph_max_bs = None
            if memory is not None and (self.tp_size < 8 or memory > 100_000):
                self.cuda_graph_max_bs = min(160 if self.tp_size < 8 else None, 8)
        """,
        "",
    ),
    "steps whose order decides": (
        """
        def __post_init__(self):
            memory = get_device_memory_capacity()
            self._sizes(memory)
            self._fraction(memory)
            self._split()

        def _split(self):
            if self.enable_dp_attention:
                self.chunked_prefill_size //= self.dp_size

        def _fraction(self, memory):
            if self.mem_fraction_static is None:
                reserve = 512 + 1.5 * max(self.chunked_prefill_size, 2048) + 2 * self.cuda_graph_max_bs
                self.mem_fraction_static = 0.88 if memory is None else round((memory - reserve) / memory, 3)

        def _sizes(self, memory):
            small = memory is not None and memory < 35 * 1024
            if self.chunked_prefill_size is None:
                self.chunked_prefill_size = 2048 if small else 8192
            if self.cuda_graph_max_bs is None:
                self.cuda_graph_max_bs = (24 if self.tp_size < 4 else 80) if small else 256
        """,
        "",
    ),
    "a nested object under another name": (
        """
        def __post_init__(self):
            def put(phase, key, value):
                setattr(getattr(self.graphs, phase), key, value)

            decode = self.graphs.decode
            if self.cuda_graph_max_bs is not None:
                put("decode", "limit", self.cuda_graph_max_bs)
            if decode.limit is None:
                decode.limit = 160
            self.mem_fraction_static = 0.9 - self.graphs.decode.limit / 10_000
        """,
        """
        @dataclass
        class Phase:
            on: bool = False
            limit: Optional[int] = None

        @dataclass
        class Graphs:
            decode: Phase = field(default_factory=lambda: Phase(on=True))
            prefill: Phase = field(default_factory=Phase)
        """,
    ),
    "a table of predicates": (
        """
        def __post_init__(self):
            self.graph = True
            rules = [
                ("many ranks", lambda: self.tp_size > 4),
                ("speculation", lambda: self.speculative_algorithm is not None),
            ]
            for name, applies in rules:
                if applies():
                    self.graph = False
                    break
            self.mem_fraction_static = 0.85 if self.graph else 0.9
        """,
        "",
    ),
    "what was locked stays": (
        """
        def __post_init__(self):
            locked = set()
            if self.enable_dp_attention:
                locked.add(("prefill", "on"))
            if self.disaggregation_mode == "decode":
                locked.add(("decode", "on"))
            if ("prefill", "on") in locked:
                self.mem_fraction_static = 0.7
            elif ("decode", "on") not in locked:
                self.mem_fraction_static = 0.8
            else:
                self.mem_fraction_static = 0.9
        """,
        "",
    ),
    "buckets counted": (
        """
        def __post_init__(self):
            limit = self.chunked_prefill_size or 4096
            sizes = list(range(4, 33, 4)) + list(range(64, 1025, 64)) + list(range(1280, limit + 1, 256))
            sizes = [size for size in sizes if size <= limit]
            aligned = sorted({(size + 7) // 8 * 8 for size in sizes})
            self.mem_fraction_static = 0.95 - 8 * len(sizes) / 4096 - len(aligned) / 1e4 - aligned[-1] / 1e6
        """,
        "",
    ),
    "declared, then applied": (
        """
        def __post_init__(self):
            self._declared = []
            run_pass(self, _graphs)
            run_pass(self, _speculation)
            if Seen(self, overlay(self)).cuda_graph_max_bs > 100:
                declare(self, "memory", mem_fraction_static=0.8)
            else:
                declare(self, "memory", mem_fraction_static=0.9)
            run_pass(self, _unrelated)
            for _, values in self._declared:
                for name, value in values.items():
                    setattr(self, name, value)
        """,
        """
        PASSES = []

        def register(function):
            PASSES.append(function)
            return function

        class Seen:
            def __init__(self, options, values):
                object.__setattr__(self, "_options", options)
                object.__setattr__(self, "_values", values)

            def __getattr__(self, name):
                values = object.__getattribute__(self, "_values")
                if name in values:
                    return values[name]
                return getattr(object.__getattribute__(self, "_options"), name)

        def overlay(options):
            values = {}
            for _, declared in options._declared:
                values.update(declared)
            return values

        def declare(options, origin, **values):
            options._declared.append((origin, dict(values)))

        def run_pass(options, function):
            declared = function(Seen(options, overlay(options)))
            if declared:
                options._declared.append((function.__name__, dict(declared)))

        @register
        def _graphs(seen):
            if seen.cuda_graph_max_bs is None:
                return {"cuda_graph_max_bs": 160}
            return {}

        @register
        def _speculation(seen):
            return {"cuda_graph_max_bs": 64} if seen.speculative_algorithm else {}

        @register
        def _unrelated(seen):
            return {"model_path": "another"}
        """,
    ),
    "a hook that is handed over": (
        """
        def __post_init__(self):
            run_hook(memory_hook, self)
        """,
        """
        def run_hook(hook, server_args):
            return hook(server_args)

        def memory_hook(server_args):
            values = {"mem_fraction_static": 0.75 if server_args.tp_size > 1 else 0.85}
            apply(server_args, **values)

        def apply(server_args, **values):
            for name, value in values.items():
                setattr(server_args, name, value)
        """,
    ),
    "a foreign configuration with defaults": (
        """
        def __post_init__(self):
            base = self.mem_fraction_static = 0.88
            vision = Vision(16)
            layers = getattr(vision, "layers", 24)
            width = getattr(vision, "width", 1024)
            factor = max(0.8, min(1.05, 1.0 - 0.1 * (layers * width**2 / (24 * 1024**2) - 1.0)))
            self.mem_fraction_static = base * 0.95 * factor
        """,
        """
        class Vision:
            def __init__(self, layers):
                self.layers = layers
        """,
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_the_formula_gives_what_the_code_computes(name: str) -> None:
    text = source(*PIPELINES[name], fields="graphs: Graphs = field(default_factory=Graphs)" * ("nested" in name))
    extraction = extracted(text)
    wanted = [executed(text, machine) for machine in MACHINES]
    assert [evaluated(extraction, machine) for machine in MACHINES] == wanted
    assert len(set(wanted)) > 1 or "foreign" in name


def test_a_users_fraction_and_the_default_are_told_apart() -> None:
    extraction = extracted(
        source("""
        def __post_init__(self):
            if self.mem_fraction_static is None:
                self.mem_fraction_static = 0.88
            if self.tp_size > 4:
                self.mem_fraction_static *= 0.85
        """)
    )
    assert evaluated(extraction, {"tp_size": 8}) == 0.88 * 0.85
    assert evaluated(extraction, {"tp_size": 8}, GIVEN_FRACTION) == 0.88 * 0.85
    assert evaluated(extraction, {"tp_size": 8, "user_mem_fraction_static": 0.5}, GIVEN_FRACTION) == 0.5 * 0.85
    assert evaluated(extraction, {"tp_size": 1, "user_mem_fraction_static": 0.5}, GIVEN_FRACTION) == 0.5


def test_a_write_that_comes_too_late_changes_nothing() -> None:
    lines = """
        def __post_init__(self):
            if self.cuda_graph_max_bs is None:
                self.cuda_graph_max_bs = 160
            self.mem_fraction_static = 0.9 - self.cuda_graph_max_bs / 10_000
            self._late()

        def _late(self):
            {}
    """
    plain, changed = (
        extracted(source(lines.format(late))).quantities[DEFAULT_FRACTION].term
        for late in ("pass", "self.cuda_graph_max_bs = 8")
    )
    assert plain is changed


def test_options_outside_their_class_are_found_by_who_sets_the_fraction() -> None:
    files = {
        SERVER_ARGS: source(""),
        "sglang/srt/launch.py": """
            def prepare(server_args):
                adjust(server_args)

            def adjust(server_args):
                if server_args.mem_fraction_static is None:
                    server_args.mem_fraction_static = 0.7
        """,
    }
    extraction = extract(draw(files), shipped_rules(), OPTIONS)
    assert extraction.entry == "prepare"
    assert evaluated(extraction, {}) == 0.7


def test_options_that_nobody_decides_are_an_error_that_says_where_it_looked() -> None:
    with pytest.raises(AnchorNotFoundError, match="nothing sets mem_fraction_static of ServerArgs"):
        extracted(source(""))
