"""What is read off a finished interpretation: quantities, definitions, inputs, places."""

from __future__ import annotations

import pytest

from analyzer.domain.notation import to_text
from analyzer.domain.terms import Constant, Handle, Raise, walk
from tests.support.project import COUNT, MACHINE, disagreements, extracted, outcome


def text(quantity: str, **parts: str) -> str:
    """A quantity of a varied project, written down."""
    return to_text(extracted(**parts).quantities[quantity].term)


@pytest.mark.parametrize(
    ("quantity", "formula"),
    [
        ("rest_memory", "available_gpu_memory - pre_model_load_memory * (1 - effective_mem_fraction_static)"),
        ("cell_size", "num_kv_heads * head_dim * num_hidden_layers * 2 * 2"),
        ("max_total_num_tokens", "int(rest_memory * 2**30 // cell_size)"),
        ("effective_mem_fraction_static", "mem_fraction_static"),
    ],
)
def test_the_quantities_of_the_plain_project(quantity: str, formula: str) -> None:
    assert text(quantity) == formula


def test_definitions_say_where_a_symbol_comes_from() -> None:
    definitions = extracted().definitions
    assert to_text(definitions["num_kv_heads"].term) == "max(1, num_key_value_heads // tp_size)"
    assert to_text(definitions["num_hidden_layers"].term) == "hf_config.num_hidden_layers"


BUDGETS = {
    "subtracted in place": "left = after - before * (1 - self.mem_fraction_static)\nleft -= 2",
    "subtracted at once": "left = after - before * (1 - self.mem_fraction_static) - 2",
    "the product first": "keep = (1 - self.mem_fraction_static) * before\nleft = after - keep - 2",
}


@pytest.mark.parametrize("name", BUDGETS)
def test_the_budget_holds_every_reservation(name: str) -> None:
    after = "after = get_available_gpu_memory(self.device, self.gpu_id)\n"
    profile = after + BUDGETS[name] + "\nreturn int(left * (1 << 30) // self.bytes_per_token())"
    assert disagreements(extracted(profile=profile), "budget - 2", "rest_memory") == []


DIVISIONS = [
    "int(left * (1 << 30) // c)",
    "int(left * (1 << 30)) // c",
    "int(left * 1024**3 // c)",
    "int((1 << 30) * left / c)",
    "int(max(int(left * (1 << 30)) - 0, 0) / c)",
    "max(int(left * (1 << 30) // c), 0)",
    "int(left * (1 << 30) // c) // self.page_size * self.page_size",
    "int(left * (1 << 30) // c) if self.page_size > 1 else int(left * (1 << 30) // c) + 1",
]


@pytest.mark.parametrize("division", DIVISIONS)
def test_the_budget_is_found_by_shape(division: str) -> None:
    profile = f"""
        after = get_available_gpu_memory(self.device, self.gpu_id)
        left = after - before * (1 - self.mem_fraction_static)
        c = self.bytes_per_token()
        return {division}
    """
    extraction = extracted(profile=profile)
    assert disagreements(extraction, "budget", "rest_memory") == []
    assert disagreements(extraction, "cell", "cell_size") == []


def test_branches_of_the_cell_are_one_quantity() -> None:
    cell = "if self.page_size > 1:\n    return self.model_config.head_dim * 3\nreturn self.model_config.head_dim * 5"
    assert disagreements(extracted(cell=cell), "head_dim * 3 if page_size > 1 else head_dim * 5", "cell_size") == []


@pytest.mark.parametrize(
    ("lines", "expression"),
    [
        ("self.req_to_token_pool = ReqToTokenPool(size=64 + 1, width=4)", "64"),
        ("self.req_to_token_pool = ReqToTokenPool(64, 4)", "64"),
        ("rows = min(n // 8, 4096)\nself.req_to_token_pool = ReqToTokenPool(rows + 1, 4)", "min(tokens // 8, 4096)"),
        (
            (
                "if self.page_size > 1: self.req_to_token_pool = ReqToTokenPool(32, 4)\n"
                "else: self.req_to_token_pool = ReqToTokenPool(64, 4)"
            ),
            "32 if page_size > 1 else 64",
        ),
        (
            (
                "rows = self.server_args.max_running_requests or 77\n"
                "self.req_to_token_pool = ReqToTokenPool(size=rows, width=n)"
            ),
            "max_running_requests or 77",
        ),
    ],
)
def test_request_slots_are_what_the_pool_is_given(lines: str, expression: str) -> None:
    module = "class ReqToTokenPool:\n    def __init__(self, size, width):\n        self.size = size"
    extraction = extracted(module=module, pool=COUNT + "self.max_total_num_tokens = n\n" + lines)
    assert disagreements(extraction, expression, "max_num_reqs") == []


def test_pools_of_a_hybrid_model() -> None:
    lines = (
        "self.max_total_num_tokens = n\nself.full_max_total_num_tokens = n // 2\n"
        "self.swa_max_total_num_tokens = n - n // 2"
    )
    extraction = extracted(pool=COUNT + lines)
    assert disagreements(extraction, "tokens // 2", "full_max_total_num_tokens") == []
    assert disagreements(extraction, "tokens - tokens // 2", "swa_max_total_num_tokens") == []


def test_a_quantity_that_a_version_lacks_is_absent() -> None:
    assert "swa_max_total_num_tokens" not in extracted().quantities


@pytest.mark.parametrize(("default", "value"), [("7", 7), ("None", None), ("1 + 1", 2), ("field(default=9)", 9)])
def test_an_input_carries_the_default_of_the_release(default: str, value: object) -> None:
    extraction = extracted(
        fields=f"reserve: Optional[int] = {default}",
        pool=COUNT + "self.max_total_num_tokens = n - (self.server_args.reserve or 3)",
    )
    found = extraction.inputs["reserve"].default
    assert isinstance(found, Constant)
    assert found.value == value
    assert extraction.inputs["reserve"].source_names == ("server_args.reserve",)


def test_an_option_without_a_default_has_none() -> None:
    assert extracted().inputs["num_kv_heads"].default is None


def test_nothing_of_the_interpreter_leaks_into_a_formula() -> None:
    extraction = extracted(
        pool=COUNT + "if n < 1: raise RuntimeError\nself.max_total_num_tokens = n - self.model.size(self, n)"
    )
    formulas = [*extraction.quantities.values(), *extraction.definitions.values()]
    terms = [term for f in formulas for root in (f.term, f.error) if root is not None for term in walk(root)]
    assert not [term for term in terms if isinstance(term, Handle)]
    assert not [term for term in terms if isinstance(term, Raise) and "@" in term.exception]


def test_an_unknown_function_is_named_and_counted() -> None:
    extraction = extracted(
        imports="import accelerator", pool=COUNT + "self.max_total_num_tokens = n - accelerator.reserve(n, 2)"
    )
    assert "accelerator.reserve" in extraction.coverage.opaque_calls
    assert "accelerator.reserve(" in to_text(extraction.quantities["max_total_num_tokens"].term)


@pytest.mark.parametrize(("condition", "decided", "undecided"), [("self.page_size > 1", 0, 1), ("2 > 1", 1, 0)])
def test_guards_are_counted(condition: str, decided: int, undecided: int) -> None:
    plain = extracted().coverage
    more = extracted(pool=COUNT + f"if {condition}: n -= 1\nself.max_total_num_tokens = n").coverage
    assert more.guards_decided == plain.guards_decided + decided
    assert more.guards_undecided == plain.guards_undecided + undecided


def test_a_formula_is_the_same_object_however_often_it_is_read() -> None:
    assert extracted().quantities["cell_size"].term is extracted().quantities["cell_size"].term


DTYPES = [
    ("torch.float16", 2),
    ("torch.bfloat16", 2),
    ("torch.float8_e4m3fn", 1),
    ("torch.uint8", 1),
    ("torch.float32", 4),
]


@pytest.mark.parametrize(("dtype", "size"), DTYPES)
@pytest.mark.parametrize("read", ["torch._utils._element_size({})", "{}.itemsize"])
def test_bytes_per_element_of_a_dtype(dtype: str, size: int, read: str) -> None:
    assert disagreements(extracted(cell=f"return 64 * {read.format(dtype)}"), f"64 * {size}", "cell_size") == []


def test_the_element_size_of_the_cache_is_a_symbol() -> None:
    init = "self.kv_cache_dtype = self.model_config.dtype\nself.init_memory_pool(self.init_torch_distributed())"
    extraction = extracted(
        init=init, cell="return self.model_config.head_dim * torch._utils._element_size(self.kv_cache_dtype)"
    )
    assert to_text(extraction.quantities["cell_size"].term) == "head_dim * kv_element_size"
    assert outcome(extraction, "cell_size", **MACHINE) == 256


def test_the_layers_of_a_stage_are_a_symbol() -> None:
    init = (
        "self.start_layer = getattr(self.model, 'start_layer', 0)\n"
        "self.end_layer = getattr(self.model, 'end_layer', self.model_config.num_hidden_layers)\n"
        "self.num_effective_layers = self.end_layer - self.start_layer\n"
        "self.init_memory_pool(self.init_torch_distributed())"
    )
    assert text("cell_size", init=init, cell="return 64 * self.num_effective_layers") == "64 * num_layers"
