"""Units: what is a conversion, what is a mixture, and what the measuring function returns."""

from __future__ import annotations

import pytest

from analyzer.compare import Comparison
from analyzer.domain.extraction import Extraction
from analyzer.domain.unit import ONE, parse_unit
from tests.support.comparing import compare_extractions
from tests.support.project import MACHINE, RUNNER, UTILS, disagreements, extracted, shipped_rules

BUDGET = "after = get_available_gpu_memory(self.device, self.gpu_id)\nbudget = after - before * 0.12\n"


def conversions(extraction: Extraction) -> list[tuple[str, str, str]]:
    """What is converted, from what and to what."""
    return [(item.expression, item.from_unit, item.to_unit) for item in extraction.unit_conversions]


def profiled(code: str, **parts: str) -> Extraction:
    """The project whose budget is turned into tokens by `code`."""
    return extracted(profile=BUDGET + code, **parts)


@pytest.mark.parametrize("text", ["byte", "GiB", "MB", "byte/token", "1", "token"])
def test_a_unit_is_written_as_it_is_read(text: str) -> None:
    assert str(parse_unit(text)) == text


def test_units_multiply_and_cancel() -> None:
    assert str(parse_unit("byte/token").times(parse_unit("token"))) == "byte"
    assert parse_unit("GiB").over(parse_unit("GiB")) == ONE
    assert not parse_unit("GiB").over(parse_unit("byte/token")).same_step(ONE)


def test_the_conversions_of_the_plain_project() -> None:
    extraction = extracted()
    assert conversions(extraction) == [
        ("rest_memory * 2**30", "GiB", "byte"),
        ("item(torch.cuda.mem_get_info, 0) / 2**30", "byte", "GiB"),
    ]
    assert [place.location.path for place in extraction.unit_conversions] == [f"python/{RUNNER}", f"python/{UTILS}"]
    assert extraction.unit_findings == ()


@pytest.mark.parametrize(
    "factor", ["(1 << 30)", "1024**3", "1024 * 1024 * 1024", "1073741824", "2**30", "float(1 << 30)"]
)
def test_a_factor_is_recognised_however_it_is_written(factor: str) -> None:
    extraction = profiled(f"return int(budget * {factor} // self.bytes_per_token())")
    assert ("GiB", "byte") in {(before, after) for _, before, after in conversions(extraction)}


def test_a_conversion_in_two_steps_is_one() -> None:
    measure = "return torch.cuda.mem_get_info(gpu_id)[0] / 1024 / 1024 / 1024"
    assert ("byte", "GiB") in {(before, after) for _, before, after in conversions(extracted(measure=measure))}


def test_an_unknown_operand_is_known_by_what_it_is_added_to() -> None:
    extraction = profiled(
        "budget -= self.model.state_bytes() / (1 << 30)\nreturn int(budget * (1 << 30) // self.bytes_per_token())"
    )
    assert [(before, after) for text, before, after in conversions(extraction) if "state_bytes" in text] == [
        ("byte", "GiB")
    ]


MIXED = [
    ("return int((budget - 2 * torch.cuda.memory_reserved()) * (1 << 30) // self.bytes_per_token())", "byte"),
    ("return int(max(budget, torch.cuda.memory_reserved() / (1 << 20)) * (1 << 30) // self.bytes_per_token())", "MiB"),
    ("if budget < torch.cuda.memory_reserved() >> 20:\n    return 0\nreturn int(budget * (1 << 30) // 64)", "MiB"),
    ("return int(budget // self.bytes_per_token())", "without a conversion"),
    ("return int(budget * 1e9 // self.bytes_per_token())", "GiB converted"),
    ("return int(budget * (1 << 30) * (1 << 30) // self.bytes_per_token())", "taken for GiB"),
    ("return int(budget * (1 << 20) // self.bytes_per_token())", "without a conversion"),
]


@pytest.mark.parametrize(("code", "words"), MIXED)
def test_a_mixture_of_units_is_found_where_it_is(code: str, words: str) -> None:
    cell = "return self.model_config.head_dim * torch._utils._element_size(self.kv_cache_dtype)"
    init = "self.kv_cache_dtype = self.model_config.dtype\nself.init_memory_pool(self.init_torch_distributed())"
    findings = profiled(code, cell=cell, init=init).unit_findings
    assert [words in item.message for item in findings] == [True]
    assert findings[0].location.path == f"python/{RUNNER}"


def test_one_condition_that_compares_like_with_like_is_no_mixture() -> None:
    code = "if torch.cuda.memory_reserved() / 1024**3 > budget:\n    return 0\n"
    assert profiled(code + "return int(budget * (1 << 30) // self.bytes_per_token())").unit_findings == ()


SOURCE_UNITS = [("", "byte"), (" / (1 << 20)", "MiB"), (" / (1 << 30)", "GiB"), (" / 1024", "KiB")]


@pytest.mark.parametrize(("divided", "unit"), SOURCE_UNITS)
def test_the_measuring_function_may_return_any_unit(divided: str, unit: str) -> None:
    scale = {"byte": "", "MiB": " * (1 << 20)", "GiB": " * (1 << 30)", "KiB": " * 1024"}[unit]
    extraction = extracted(
        measure=f"return torch.cuda.mem_get_info(gpu_id)[0]{divided}",
        profile=f"""
            after = get_available_gpu_memory(self.device, self.gpu_id)
            budget = after - before * (1 - self.mem_fraction_static)
            return int(budget{scale} // self.bytes_per_token())
        """,
    )
    assert extraction.quantities["available_gpu_memory"].source_unit == unit
    assert extraction.unit_findings == ()
    assert disagreements(extraction, "int(budget * GIB // cell)", machines=[MACHINE]) == []


def test_a_budget_that_is_given_replaces_the_one_in_bytes() -> None:
    extraction = extracted(
        init="self.init_memory_pool(self.init_torch_distributed() * (1 << 30))",
        profile="""
            after = get_available_gpu_memory(self.device, self.gpu_id) * (1 << 30)
            return int((after - before * (1 - self.mem_fraction_static)) // self.bytes_per_token())
        """,
    )
    assert extraction.quantities["rest_memory"].source_unit == "byte"
    given = [{**MACHINE, "rest_memory": 10.0}]
    assert disagreements(extraction, "int(rest_memory * GIB // cell)", machines=given) == []


def compared(base: Extraction, head: Extraction) -> Comparison:
    """What changed in every quantity of a dense model."""
    return compare_extractions(base, head, shipped_rules(), scenarios=("mha",), quantities=tuple(head.quantities))


def test_a_unit_that_moves_is_a_change_of_unit_and_no_more() -> None:
    base = extracted(
        init="""
            before = self.init_torch_distributed() * (1 << 30)
            self.load_model()
            self.init_memory_pool(before)
        """,
        profile="""
            after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1) * (1 << 30)
            return int((after - before * (1 - self.mem_fraction_static)) // self.bytes_per_token())
        """,
    )
    found = compared(base, extracted())
    assert found.verdict.label == "unit"
    (change,) = [change for change in found.changes if change.kind.label == "unit"]
    assert change.quantity == "rest_memory"
    assert change.before is not None
    assert change.after is not None
    assert (change.before.unit, change.after.unit) == ("byte", "GiB")
    assert "in GiB and no longer in byte" in change.summary


EMPTIED = """
free, _ = torch.cuda.mem_get_info(gpu_id)
return free / (1 << 30)
"""
HELPER = "def empty_device_cache(device):\n    device.empty_cache()"


@pytest.mark.parametrize("call", ["torch.cuda.empty_cache()", "empty_device_cache(torch.cuda)"])
def test_giving_the_reserve_back_before_measuring_changes_the_measurement(call: str) -> None:
    base, head = extracted(measure=EMPTIED), extracted(measure=f"{call}\n{EMPTIED}", utils=HELPER)
    assert compared(base, head).verdicts["available_gpu_memory"]["mha"].label == "semantic"
    assert compared(head, extracted(measure=f"if gpu_id is not None: {call}\n{EMPTIED}")).verdict.label != "identical"
    assert compared(base, extracted(measure=f"{EMPTIED}\n{call}")).verdict.label == "identical"
