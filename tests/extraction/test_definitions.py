"""Symbols that the rules keep have a formula of their own, whatever computes their value and whenever it was asked."""

from __future__ import annotations

from analyzer.domain.extraction import Extraction
from analyzer.domain.report import Kind
from tests.support.comparing import compare_extractions
from tests.support.project import MACHINE, extracted, outcome, shipped_rules

FACTOR = """
after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)
share = self.mem_fraction_static * 0.9 if self.model_config.is_multimodal else self.mem_fraction_static
return int((after - before * (1 - share)) * (1 << 30) // self.bytes_per_token())
"""


def seeing(*architectures: str) -> Extraction:
    """A project in which a function over a list tells which models see pictures."""
    listing = (
        f"SEEING = {list(architectures)!r}\n\n\n"
        "def is_multimodal_model(names):\n    return any(n in SEEING for n in names)\n"
    )
    return extracted(
        {"sglang/srt/configs/kinds.py": listing},
        model_init=(
            "from sglang.srt.configs.kinds import is_multimodal_model\n"
            "self.is_multimodal = is_multimodal_model(self.hf_config.architectures)"
        ),
        profile=FACTOR,
    )


def test_a_list_that_gains_a_member_changes_the_models_on_it_and_no_other() -> None:
    found = compare_extractions(
        seeing("Old"), seeing("Old", "NewForCausalLM"), shipped_rules(), scenarios=("mha",), quantities=()
    )
    (change,) = found.changes
    assert (change.quantity, change.kind) == ("multimodal", Kind.SEMANTIC)
    assert change.guard == "architectures == ('NewForCausalLM',)"
    assert change.witness is not None
    assert (change.witness.before, change.witness.after) == (False, True)


def test_the_models_on_the_list_get_the_factor() -> None:
    extraction = seeing("Old")
    plain, factored = (outcome(extraction, architectures=(name,), **MACHINE) for name in ("Other", "Old"))
    assert isinstance(plain, int)
    assert isinstance(factored, int)
    assert factored < plain


PADDED = """
    heads = self.model_config.get_total_num_kv_heads()
    if self.device == "cpu":
        self.model_config.num_key_value_heads = -(-heads // self.tp_size) * self.tp_size
    before = self.init_torch_distributed()
    self.init_memory_pool(before)
"""


def test_what_is_written_after_the_first_call_is_in_the_formula_of_the_call() -> None:
    extraction = extracted(
        init=PADDED,
        model_methods="def get_total_num_kv_heads(self):\n    return self.num_key_value_heads",
        cell="return self.model_config.get_total_num_kv_heads() // self.tp_size * 1024",
    )
    given = {name: value for name, value in MACHINE.items() if name != "num_key_value_heads"}
    heads = {"hf_config.num_key_value_heads": 6, "tp_size": 4}
    sizes = [outcome(extraction, "cell_size", **{**given, **heads, "device": device}) for device in ("cuda", "cpu")]
    assert sizes == [6 // 4 * 1024, 8 // 4 * 1024]


def test_the_types_of_isinstance_are_told_apart() -> None:
    sides = [
        extracted(
            model_init=f"width = self.hf_config.width\nself.scale = 2 if isinstance(width, {kind}) else 1",
            cell="return self.model_config.scale * 1024",
        )
        for kind in ("int", "str")
    ]
    for side, sizes in zip(sides, ((2048, 1024), (1024, 2048)), strict=True):
        values = [outcome(side, "cell_size", **{**MACHINE, "hf_config.width": value}) for value in (7, "wide")]
        assert tuple(values) == sizes
    found = compare_extractions(sides[0], sides[1], shipped_rules(), scenarios=("mha",), quantities=())
    assert found.verdict is Kind.SEMANTIC


LOADER = """
class Loader:
    kept_bytes: int = {kept}


def get_model_loader() -> Loader:
    return open("loader")
"""
KEEPING = """
after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)
return int((after - before * 0.1) * (1 << 30) - get_model_loader().kept_bytes) // self.bytes_per_token()
"""


def keeping(kept: str) -> Extraction:
    """A project that asks a loader, which nobody can follow, for what it has kept."""
    return extracted(
        {"sglang/srt/loader.py": LOADER.format(kept=kept)},
        imports="from sglang.srt.loader import get_model_loader",
        profile=KEEPING,
    )


def test_what_a_function_says_to_return_has_the_fields_of_that_class() -> None:
    nothing, some, given = (
        outcome(extraction, **{**MACHINE, **inputs})
        for extraction, inputs in (
            (keeping("0"), {}),
            (keeping("1 << 30"), {}),
            (keeping("0"), {"Loader.kept_bytes": 1 << 30}),
        )
    )
    assert isinstance(nothing, int)
    assert nothing > some == given


def test_none_where_a_number_must_be_is_no_formula() -> None:
    extraction = extracted(model_init="self.head_dim = None")
    assert "head_dim" not in extraction.definitions
    assert outcome(extraction, **MACHINE) == outcome(extracted(), **MACHINE)


EARLY = """
    if self.model_config.get_num_kv_heads(4) == 16:
        self.mem_fraction_static *= 0.9
    before = self.init_torch_distributed()
    self.init_memory_pool(before)
"""


def test_a_symbol_is_what_the_sizing_asks_for_not_what_is_asked_before() -> None:
    plain, asked = extracted(), extracted(init=EARLY)
    assert asked.definitions["num_kv_heads"].term is plain.definitions["num_kv_heads"].term
