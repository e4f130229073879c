"""A model's configuration becomes scenario and inputs by the rules of the release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.adapters.model_config import read_model_config
from analyzer.application.evaluate import evaluate_cases
from analyzer.application.model import Model, read_model
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Case, Value
from analyzer.domain.extraction import Extraction
from tests.support.project import extracted, shipped_rules

DENSE: Mapping[str, Any] = {
    "architectures": ["SomeForCausalLM"],
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 32,
    "head_dim": 128,
    "num_key_value_heads": 8,
    "max_position_embeddings": 4096,
}
START: Mapping[str, Value] = {"available_gpu_memory": 40.0, "pre_model_load_memory": 80.0, "mem_fraction_static": 0.75}


def model(config: Mapping[str, Any], extraction: Extraction | None = None, **arguments: Any) -> Model:
    """What `config` means to the minimal project, or to `extraction`."""
    return read_model(config, arguments, extraction or extracted(), shipped_rules())


def cost(config: Mapping[str, Any], extraction: Extraction | None = None, **arguments: Any) -> Value:
    """The bytes per token of a model."""
    found = extraction or extracted()
    meant = model(config, found, **arguments)
    case = meant.case(Case(dict(START), meant.scenario))
    [result] = evaluate_cases(found, shipped_rules(), [case], ("cell_size",))
    return result.quantities["cell_size"].value


def test_bytes_per_token_come_out_of_a_configuration() -> None:
    assert cost(DENSE) == 8 * 128 * 32 * 4
    assert cost(DENSE, tp_size=4) == 2 * 128 * 32 * 4
    assert cost(DENSE, tp_size=16) == 1 * 128 * 32 * 4


def test_the_release_reads_the_configuration_by_its_own_rules() -> None:
    init = "self.head_dim = getattr(self.hf_config, 'kv_width', 64)"
    own = extracted(model_init=init)
    assert cost(DENSE, own) == 8 * 64 * 32 * 4
    assert cost({**DENSE, "kv_width": 96}, own) == 8 * 96 * 32 * 4


def test_the_text_part_of_a_nested_configuration_counts() -> None:
    nested = {"architectures": ["SomeForConditionalGeneration"], "text_config": {**DENSE, "num_hidden_layers": 40}}
    own = extracted(model_init="self.num_hidden_layers = self.hf_config.text_config.num_hidden_layers")
    meant = model(nested, own)
    assert meant.inputs.facts["hf_text_config.num_hidden_layers"] == 40
    assert meant.inputs.facts["hf_config.text_config.num_hidden_layers"] == 40
    assert "multimodal" not in meant.inputs.values, "this release does not ask for it"


def test_the_family_is_that_of_the_configuration() -> None:
    assert model(DENSE).scenario == "mha"
    latent = model({**DENSE, "kv_lora_rank": 512, "qk_rope_head_dim": 64})
    assert latent.scenario == "mla"
    assert latent.why == "the configuration has kv_lora_rank"
    assert latent.assumptions(["mla"])["scenario mla"] == latent.why
    assert "scenario mla" not in latent.assumptions(["mha"])


def test_what_the_user_gives_counts_more() -> None:
    meant = model(DENSE, page_size=64, some_option=3)
    assert meant.inputs.values["page_size"] == 64
    assert meant.inputs.facts["some_option"] == 3
    case = meant.case(Case({"page_size": 16, "head_dim": 8}))
    assert (case.inputs["page_size"], case.inputs["head_dim"]) == (16, 8)


def test_stages_of_a_pipeline_share_the_layers() -> None:
    meant = model({**DENSE, "num_hidden_layers": 61}, pp_size=4)
    assert meant.inputs.values["num_layers"] == 16


@pytest.mark.parametrize(
    "config", [{}, {"architectures": 3, "text_config": [1]}, {"num_hidden_layers": "x", "a": [[1]]}]
)
def test_any_object_can_be_given(config: Mapping[str, Any]) -> None:
    assert model(config).scenario == "mha"


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_configuration_is_one_line(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="configuration of the model"):
        read_model_config(file)


def test_the_window_comes_from_the_configuration_where_the_release_does_not_compute_it() -> None:
    pool = "assert self.sliding_window_size is not None\nself.max_total_num_tokens = self.profile_max_num_token(before)"
    read = extracted(pool=pool)
    meant = model({**DENSE, "sliding_window": 128}, read)
    assert meant.inputs.values["sliding_window_size"] == 128
    assert "sliding_window of the configuration" in meant.inputs.assumed["sliding_window_size"]
    assert "sliding_window_size" not in model({**DENSE, "sliding_window": None}, read).inputs.values


def test_a_size_that_splits_attention_heads_is_said() -> None:
    heads = {**DENSE, "num_attention_heads": 32}
    assert "does not divide" in model(heads, tp_size=3).inputs.assumed["tp_size"]
    assert "tp_size" not in model(heads, tp_size=4).inputs.assumed
    assert "tp_size" not in model(heads, tp_size=3, enable_dp_attention=True).inputs.assumed
