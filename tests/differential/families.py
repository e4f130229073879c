"""What sets a family of models apart: its published configuration and what a runner derives from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.differential.stubs import Strict

Inputs = Mapping[str, Any]

# Any length makes a model a sparse-attention one; only its presence is tested.
_INDEX_TOPK = 2048


@dataclass(frozen=True)
class Family:
    """Attributes of the published configuration, of the model configuration, and of the runner."""

    architecture: str
    is_mla: bool = False
    class_names: tuple[str, ...] = ()
    published: Mapping[str, Any] = field(default_factory=dict)
    configured: Mapping[str, Any] = field(default_factory=dict)
    running: Mapping[str, Any] = field(default_factory=dict)
    layer_ids: Mapping[str, Any] = field(default_factory=dict)


def family(scenario: str, inputs: Inputs) -> Family:
    """The family that `scenario` names, with the numbers of one case."""
    match scenario.partition("+")[0]:
        case "mha":
            return Family("LlamaForCausalLM")
        case "mla":
            return Family("DeepseekV3ForCausalLM", is_mla=True)
        case "dsa":
            return Family("DeepseekV32ForCausalLM", is_mla=True, published={"index_topk": _INDEX_TOPK})
        case "swa":
            return _sliding_window(inputs)
        case "mamba":
            return _hybrid_linear(inputs)
        case "dsv4":
            return _compressed(inputs)
        case "minimax":
            return _mostly_sparse(inputs)
        case _:
            raise ValueError(f"no model of family {scenario!r} is described here")


def _sliding_window(inputs: Inputs) -> Family:
    full = inputs["full_attention_layers"]
    ids = {
        "full_attention_layer_ids": list(range(full)),
        "swa_attention_layer_ids": list(range(full, full + inputs["swa_attention_layers"])),
    }
    heads = inputs["swa_num_kv_heads"]
    shape = {name: inputs[name] for name in ("swa_head_dim", "swa_v_head_dim")}
    counted = {"get_swa_num_kv_heads": lambda *_args: heads, "is_hybrid": 1, "is_hybrid_swa": True}
    return Family(
        "GptOssForCausalLM",
        configured={**ids, **shape, **counted},
        running={"is_hybrid": 1, "is_hybrid_swa": True, "model": _layered_model(ids, inputs)},
        layer_ids=ids,
    )


def _compressed(inputs: Inputs) -> Family:
    c4, c128 = inputs["c4_layers"], inputs["c128_layers"]
    ratios = [4] * c4 + [128] * c128 + [0] * (inputs["num_layers"] - c4 - c128)
    numbers = {name: inputs[name] for name in ("qk_nope_head_dim", "qk_rope_head_dim", "index_head_dim", "window_size")}
    return Family(
        "DeepseekV4ForCausalLM",
        published={"kv_source_layer_ids": []},
        configured={**numbers, "compress_ratios": ratios, "is_hybrid_swa": True},
        running={"is_hybrid_swa": True},
    )


def _mostly_sparse(inputs: Inputs) -> Family:
    dense, sparse, k_only = (
        inputs[name] for name in ("dense_attention_layers", "sparse_attention_layers", "indexer_k_only_layers")
    )
    config = {
        "sparse_attention_freq": [0] * dense + [1] * sparse,
        "sparse_disable_index_value": [0] * dense + [1] * k_only + [0] * (sparse - k_only),
        "sparse_index_dim": inputs["sparse_index_dim"],
    }
    return Family("MiniMaxM3SparseForCausalLM", published={"sparse_attention_config": config})


def _layered_model(ids: Mapping[str, list[int]], inputs: Inputs) -> Strict:
    """A loaded model, in which older releases count the layers that have a window."""
    windows = dict.fromkeys(ids["full_attention_layer_ids"])
    windows.update(dict.fromkeys(ids["swa_attention_layer_ids"], inputs["sliding_window_size"]))
    layers = [
        Strict(layer_id=layer, self_attn=Strict(attn=Strict(sliding_window_size=window)))
        for layer, window in windows.items()
    ]
    return Strict(model=Strict(layers=layers))


def _hybrid_linear(inputs: Inputs) -> Family:
    full = inputs["full_attention_layers"]
    layers = list(range(full, full + inputs["mamba_layers"]))
    size = {"mamba_cache_per_req": inputs["mamba_cache_per_req"]}
    published = {
        # The first release with such models has the size on the configuration itself.
        **size,
        "full_attention_layer_ids": list(range(full)),
        "mamba2_cache_params": Strict(layers=layers, **size),
    }
    return Family("Qwen3NextForCausalLM", class_names=("Qwen3NextConfig",), published=published)
