"""What runs when: effects in another method, on another object, before or after; errors; what only feeds a log."""

from __future__ import annotations

import pytest

from analyzer.compare import Comparison
from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from analyzer.domain.report import Kind
from analyzer.domain.terms import constant, symbols_of
from tests.support.comparing import compare_extractions
from tests.support.project import (
    COUNT,
    MACHINE,
    RUNNER,
    SERVER_ARGS,
    TOKENS,
    WORKER,
    disagreements,
    extract_project,
    extracted,
    minimal_project,
    outcome,
    shipped_rules,
)

FRACTION = "int((available_gpu_memory - pre_model_load_memory * (1 - {})) * GIB // cell)"

ADJUSTED = {
    "on the runner, before it is used": ("self.mem_fraction_static *= 0.85", "mem_fraction_static * 0.85"),
    "by plain assignment": ("self.mem_fraction_static = self.mem_fraction_static * 0.85", "mem_fraction_static * 0.85"),
    "on the options, after the copy was taken": ("self.server_args.mem_fraction_static *= 0.85", "mem_fraction_static"),
    "under a condition": (
        "if self.model_config.context_len > 8192:\n    self.mem_fraction_static *= 0.85",
        "(mem_fraction_static * 0.85 if context_len > 8192 else mem_fraction_static)",
    ),
    "twice": (
        "self.mem_fraction_static *= 0.9\nself.mem_fraction_static *= 0.5",
        "(mem_fraction_static * 0.9 * 0.5)",
    ),
    "over the user's value": ("self.mem_fraction_static = 0.8", "0.8"),
    "capped": ("self.mem_fraction_static = min(self.mem_fraction_static, 0.7)", "min(mem_fraction_static, 0.7)"),
}


@pytest.mark.parametrize("name", ADJUSTED)
@pytest.mark.parametrize("place", ["method", "constructor", "loader"])
def test_the_fraction_is_adjusted(name: str, place: str) -> None:
    lines, fraction = ADJUSTED[name]
    start = "before = self.init_torch_distributed()\nself.init_memory_pool(before)"
    adjust = "def adjust(self):\n    " + lines.replace("\n", "\n    ")
    init = {"method": f"self.adjust()\n{start}", "constructor": f"{lines}\n{start}", "loader": start}[place]
    profile = "self.adjust()\n" if place == "loader" else ""
    extraction = extracted(
        init=init,
        methods=adjust,
        profile=profile + "after = get_available_gpu_memory(self.device, self.gpu_id)\n"
        "left = after - before * (1 - self.mem_fraction_static)\n"
        "return int(left * (1 << 30) // self.bytes_per_token())",
    )
    assert disagreements(extraction, FRACTION.format(fraction)) == []
    assert disagreements(extraction, fraction, "effective_mem_fraction_static") == []


def test_a_factor_that_reaches_nobody_is_no_change_and_the_one_that_does_is() -> None:
    def release(line: str) -> Extraction:
        start = "before = self.init_torch_distributed()\nself.init_memory_pool(before)"
        return extracted(init=f"if self.model_config.context_len > 8192:\n    {line}\n{start}")

    def changed(base: Extraction, head: Extraction) -> Comparison:
        names = tuple(base.quantities)
        return compare_extractions(base, head, shipped_rules(), scenarios=("mha",), quantities=names)

    none, dead = release("pass"), release("self.server_args.mem_fraction_static *= 0.95")
    live = release("self.mem_fraction_static *= 0.95")
    assert changed(none, dead).verdict <= Kind.MOVED
    found = changed(dead, live)
    assert found.verdict is Kind.SEMANTIC
    (change,) = [change for change in found.changes if change.kind >= Kind.ROUNDING]
    assert (change.quantity, change.kind) == ("effective_mem_fraction_static", Kind.SEMANTIC)
    assert change.after is not None
    assert "mem_fraction_static * 0.95" in change.after.text
    assert change.witness is not None
    assert change.witness.after == pytest.approx(0.95 * float(str(change.witness.before)))


BOX = """
class Box:
    def __init__(self, k):
        self.k = k
    def set(self, k):
        self.k = k
    def more(self):
        self.k += 1
        return self
class Wide(Box):
    def __init__(self, k):
        super().__init__(k)
        self.k += 64
"""
METHODS_CALLED = {
    "a method of a local object": ("b = Box(1)\nb.set(7)\nn -= b.k", "tokens - 7"),
    "a method of an attribute": ("self.box = Box(1)\nself.box.set(7)\nn -= self.box.k", "tokens - 7"),
    "a method that returns the object": ("b = Box(1).more().more()\nn -= b.k", "tokens - 3"),
    "a method under a condition": (
        "b = Box(1)\nif self.page_size > 1:\n    b.set(7)\nn -= b.k",
        "tokens - (7 if page_size > 1 else 1)",
    ),
    "a constructor that extends its base's": ("n -= Wide(1).k", "tokens - 65"),
    "a nested function": ("def go():\n    self.extra = 3\ngo()\nn -= self.extra", "tokens - 3"),
    "a bound method as a value": ("go = self.raise_extra\ngo()\nn -= self.extra", "tokens - 3"),
    "a function given the object": ("b = Box(1)\nfill(b)\nn -= b.k", "tokens - 9"),
    "a static method given the object": ("b = Box(1)\nself.fill(b)\nn -= b.k", "tokens - 8"),
    "a dict's update": ("d = {'k': 1}\nd.update(k=4)\nn -= d['k']", "tokens - 4"),
    "a list's extend": ("x = [1]\nx.extend([2, 3])\nn -= len(x)", "tokens - 3"),
    "a cached function": ("n -= cached(4)", "tokens - 5"),
}


@pytest.mark.parametrize("name", METHODS_CALLED)
def test_what_a_called_method_writes_is_seen(name: str) -> None:
    lines, expression = METHODS_CALLED[name]
    functions = (
        "def fill(box):\n    box.k = 9\nimport functools\n@functools.lru_cache\ndef cached(k):\n    return k + 1\n"
    )
    methods = "def raise_extra(self):\n    self.extra = 3\n@staticmethod\ndef fill(box):\n    box.k = 8"
    pool = COUNT + lines + "\nself.max_total_num_tokens = n"
    assert disagreements(extracted(module=BOX + functions, methods=methods, pool=pool), expression) == []


def test_a_change_after_the_use_is_dead() -> None:
    extraction = extracted(pool=COUNT + "self.mem_fraction_static = 0.1\nself.max_total_num_tokens = n")
    assert disagreements(extraction, "tokens") == []


def test_options_that_change_before_the_runner_copies_them_are_live() -> None:
    extraction = extracted(worker="server_args.mem_fraction_static *= 0.5")
    assert disagreements(extraction, FRACTION.format("(mem_fraction_static * 0.5)")) == []


def test_the_model_configuration_changes_before_the_use() -> None:
    extraction = extracted(
        init=(
            "self.model_config.hf_config.num_key_value_heads = 8\n"
            "before = self.init_torch_distributed()\nself.init_memory_pool(before)"
        ),
        cell="return self.model_config.hf_config.num_key_value_heads * 100",
    )
    assert disagreements(extraction, "int(budget * GIB // 800)") == []


REQUESTS = "rows = max(n // 512, 1)"
CAP = "n = min(n, self.server_args.max_total_tokens or n)"


@pytest.mark.parametrize(
    ("lines", "expression"),
    [
        ((REQUESTS, CAP), "max(tokens // 512, 1)"),
        ((CAP, REQUESTS), "max(min(tokens, max_total_tokens or tokens) // 512, 1)"),
    ],
    ids=["requests before the cap", "cap before the requests"],
)
def test_the_order_of_requests_and_cap(lines: tuple[str, str], expression: str) -> None:
    extraction = extracted(
        module="class ReqToTokenPool:\n    def __init__(self, size, width):\n        self.size = size",
        pool=COUNT + "\n".join(lines) + "\nself.max_total_num_tokens = n\n"
        "self.req_to_token_pool = ReqToTokenPool(size=rows + 1, width=4)",
    )
    assert disagreements(extraction, expression, "max_num_reqs") == []


ERRORS = [
    ("if n <= 0: raise RuntimeError('Not enough memory')", "tokens if tokens > 0 else 'raises RuntimeError'"),
    ("assert self.page_size == 1", "tokens if page_size == 1 else 'raises AssertionError'"),
    (
        "assert self.page_size == 1 and self.tp_size < 4, 'no'",
        "tokens if page_size == 1 and tp_size < 4 else 'raises AssertionError'",
    ),
    (
        "if self.tp_size > 2:\n    raise ValueError('x') from None\nelse:\n    n -= 1",
        "tokens - 1 if tp_size <= 2 else 'raises ValueError'",
    ),
    (
        "if self.tp_size > 2:\n    if self.page_size > 1:\n        raise KeyError\n    n -= 1",
        "tokens if tp_size <= 2 else 'raises KeyError' if page_size > 1 else tokens - 1",
    ),
    ("self.check(n)", "tokens if tokens > 300000 else 'raises MemoryError'"),
    (
        "if self.page_size > 1:\n    self.check(n)",
        "tokens if tokens > 300000 or page_size <= 1 else 'raises MemoryError'",
    ),
    (
        "if self.page_size > 1:\n    if n <= 300000: raise ValueError\nn = self.checked(n)",
        "tokens - 1 if tokens > 300000 else 'raises ValueError' if page_size > 1 else 'raises MemoryError'",
    ),
    ("n = self.checked(n)", "tokens - 1 if tokens > 300000 else 'raises MemoryError'"),
    ("try:\n    self.check(n)\nexcept MemoryError:\n    n = 5", "tokens if tokens > 300000 else 5"),
    (
        "if n <= 0: raise RuntimeError\nassert self.page_size == 1",
        "'raises RuntimeError' if tokens <= 0 else tokens if page_size == 1 else 'raises AssertionError'",
    ),
    ("n = n // (self.page_size - 1)", "tokens // (page_size - 1)"),
    ("if self.tp_size > 2: n += {'one': 1}['two']", "tokens if tp_size <= 2 else 'raises KeyError'"),
]


SHAPES = {
    "the constructor sizes": {},
    "the worker sizes": {
        "init": "self.reading = self.init_torch_distributed()",
        "after": "self.model_runner.init_memory_pool(self.model_runner.reading)",
    },
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lines", "expression"), ERRORS)
def test_errors_before_the_count_are_outcomes(lines: str, expression: str, shape: str) -> None:
    methods = """
        def check(self, n):
            if n <= 300000:
                raise MemoryError("too small")
        def checked(self, n):
            self.check(n)
            return n - 1
    """
    extraction = extracted(pool=COUNT + lines + "\nself.max_total_num_tokens = n", methods=methods, **SHAPES[shape])
    assert disagreements(extraction, expression) == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("lines", "expression"),
    [
        (
            "if self.max_total_num_tokens <= 0: raise RuntimeError('Not enough memory')",
            "tokens if tokens > 0 else 'raises RuntimeError'",
        ),
        (
            "if self.max_total_num_tokens < self.page_size * 4000: raise ValueError",
            "tokens if tokens >= page_size * 4000 else 'raises ValueError'",
        ),
        ("if self.gpu_id == 77: raise OSError", "tokens"),
    ],
)
def test_errors_after_the_count_matter_when_the_memory_decides(lines: str, expression: str, shape: str) -> None:
    pool = f"self.max_total_num_tokens = self.profile_max_num_token(before)\n{lines}"
    extraction = extracted(pool=pool, **SHAPES[shape])
    assert disagreements(extraction, expression) == []


DECOYS = {
    "a log line": "logger.info(f'free: {get_available_gpu_memory(self.device, self.gpu_id):.2f} GB')",
    "a value that is only logged": (
        "free = get_available_gpu_memory(self.device, self.gpu_id)\nlogger.info('free %s', free)"
    ),
    "an attribute that nobody reads": "self.free_after = get_available_gpu_memory(self.device, self.gpu_id)",
    "an imbalance check": "if get_available_gpu_memory(self.device, self.gpu_id) < before * 0.9: logger.warning('low')",
}


@pytest.mark.parametrize("place", ["before", "after", "between"])
@pytest.mark.parametrize("name", DECOYS)
def test_a_measurement_that_only_feeds_a_log_changes_nothing(name: str, place: str) -> None:
    lines = [
        "before = 0\n" + DECOYS[name] if place == "before" else "",
        "before = self.init_torch_distributed()",
        DECOYS[name] if place == "between" else "",
        "self.init_memory_pool(before)",
        DECOYS[name] if place == "after" else "",
    ]
    plain, extraction = extracted(), extracted(init="\n".join(lines))
    assert extraction.quantities[TOKENS].term is plain.quantities[TOKENS].term
    assert disagreements(extraction, "tokens") == []
    assert [(h.kind, h.callee, h.target) for h in extraction.hops] == [(h.kind, h.callee, h.target) for h in plain.hops]


def test_a_method_of_the_same_name_in_another_class_is_not_the_sink() -> None:
    other = "class Lora:\n    def init_memory_pool(self, before):\n        self.max_total_num_tokens = 7\n"
    extraction = extracted({"sglang/srt/managers/lora.py": other})
    assert disagreements(extraction, "tokens") == []


DEVICES = """
if device == "cuda":
    free = torch.cuda.mem_get_info(gpu_id)[0]
elif device == "xpu":
    free = torch.xpu.get_device_properties(gpu_id).total_memory - torch.xpu.memory_allocated(gpu_id)
elif device == "cpu":
    free = 64 << 30
return free / (1 << 30)
"""


def test_devices_are_branches_of_the_measurement() -> None:
    formula = to_text(extracted(measure=DEVICES).quantities["pre_model_load_memory"].term)
    assert "torch.cuda.mem_get_info" in formula
    assert "torch.xpu.memory_allocated" in formula
    assert "device == 'cpu'" in formula


def test_a_device_without_a_branch_is_an_unbound_name() -> None:
    extraction = extracted(measure=DEVICES)
    assert outcome(extraction, "pre_model_load_memory", device="cpu") == 64.0
    assert outcome(extraction, "pre_model_load_memory", device="npu") == "raises UnboundLocalError"


@pytest.mark.parametrize("call", ["op=torch.distributed.ReduceOp.MIN", "torch.distributed.ReduceOp.MIN"])
@pytest.mark.parametrize("returns", ["return t.item() / (1 << 30)", "free = t.item()"])
def test_the_minimum_over_ranks_is_in_the_measurement(call: str, returns: str) -> None:
    measure = f"""
        free = torch.cuda.mem_get_info(gpu_id)[0]
        if distributed:
            t = torch.tensor(free, dtype=torch.float32)
            torch.distributed.all_reduce(t, {call})
            {returns}
        return free / (1 << 30)
    """
    formula = to_text(extracted(measure=measure).quantities["pre_model_load_memory"].term)
    assert "rank_min(float32(" in formula
    assert "tp_size > 1" in formula


def test_the_minimum_over_stages_is_in_the_count() -> None:
    lines = (
        "t = torch.tensor(n, dtype=torch.int64)\n"
        "torch.distributed.all_reduce(t, op=torch.distributed.ReduceOp.MIN)\nn = t.item()\n"
    )
    extraction = extracted(pool=COUNT + lines + "self.max_total_num_tokens = n")
    assert "rank_min" in to_text(extraction.quantities[TOKENS].term)
    assert disagreements(extraction, "tokens") == []


def test_units_at_the_source_are_told() -> None:
    scaled = "get_available_gpu_memory(self.device, self.gpu_id) * (1 << 30)"
    extraction = extracted(
        init=f"self.init_memory_pool({scaled})",
        profile=(
            f"left = {scaled} - before * (1 - self.mem_fraction_static)\nreturn int(left // self.bytes_per_token())"
        ),
    )
    assert extraction.quantities["rest_memory"].source_unit == "byte"
    assert extracted().quantities["rest_memory"].source_unit == "GiB"


def test_a_default_of_an_option_is_an_input_of_its_own() -> None:
    pool = COUNT + "self.max_total_num_tokens = n - self.server_args.reserve"
    extraction = extracted(fields="reserve: int = 5", pool=pool)
    assert disagreements(extraction, "tokens - 5") == []
    assert disagreements(extraction, "tokens - 9", machines=[{**MACHINE, "reserve": 9}]) == []


@pytest.mark.parametrize(
    ("declared", "default"),
    [("int = 5", 5), ("A[int, Arg(help='x', fallback=0)] = 7", 7), ("A[int, Arg('x', fallback=4)] = None", 4)],
)
def test_options_may_be_declared_by_classes_that_their_module_lists(declared: str, default: int) -> None:
    files = minimal_project(pool=COUNT + "self.max_total_num_tokens = n - self.server_args.reserve")
    fields = f"from sglang.utils import A, Arg\nclass Schedule:\n    reserve: {declared}\n"
    files["sglang/srt/fields.py"] = fields
    files[SERVER_ARGS] += "\nfrom sglang.srt.fields import Schedule\n_INPUT_NAMESPACES = [Schedule]\n"
    extraction = extract_project(files)
    assert extraction.inputs["reserve"].default is constant(default)
    assert disagreements(extraction, f"tokens - {default}") == []
    assert disagreements(extraction, "tokens - 9", machines=[{**MACHINE, "reserve": 9}]) == []


def test_symbols_are_recognised_by_where_they_come_from() -> None:
    names = symbols_of(*(f.term for f in extracted().quantities.values()))
    assert {"num_kv_heads", "head_dim", "num_hidden_layers", "mem_fraction_static"} <= names


def test_a_worker_built_by_another_driver_is_found() -> None:
    scheduler = """
        from sglang.srt.managers.tp_worker import TpModelWorker
        class Scheduler:
            def __init__(self, server_args):
                self.worker = TpModelWorker(server_args, 0)
    """
    extraction = extracted({"sglang/srt/managers/scheduler.py": scheduler})
    assert disagreements(extraction, "tokens") == []


def test_places_are_lines_of_the_repository() -> None:
    extraction = extracted()
    lines = minimal_project()[RUNNER].splitlines()
    line = lines.index("        budget = after - before * (1 - self.mem_fraction_static)") + 1
    places = {(span.path, span.line) for span in extraction.quantities["rest_memory"].locations}
    assert places == {(f"python/{RUNNER}", line)}
    assert extraction.entry == "TpModelWorker.__init__"
    assert extraction.manifest[WORKER] is not None


def test_the_value_path_in_order() -> None:
    hops = [(hop.kind, hop.target) for hop in extracted().hops]
    wanted = [("measure", "get_available_gpu_memory"), ("argument", "before"), ("assign", "budget"), ("sink", TOKENS)]
    positions = [hops.index(hop) for hop in wanted if hop in hops]
    assert len(positions) == len(wanted)
    assert positions == sorted(positions)
