"""Servers that the documentation computes with: a well-known model of each family, on machines of two sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analyzer.domain.effect import Server
from analyzer.domain.evaluation import Value

_FRACTION: Final = 0.88


@dataclass(frozen=True, slots=True)
class _Model:
    """One model as one rank holds it: what it weighs there in GiB, and its dimensions."""

    name: str
    scenario: str
    weights: float
    inputs: Mapping[str, Value]


# Latent attention as one of eight ranks has it.
_LATENT: Final[Mapping[str, Value]] = {
    "num_layers": 61,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "context_len": 163_840,
    "tp_size": 8,
    "num_key_value_heads": 128,
    "num_attention_heads": 128,
    "hidden_size": 7168,
    "head_dim": 192,
}
# What is free on one device before anything is loaded, in GiB, and its capacity in MiB.
_MACHINES: Final = (("80 GB", 78.52, 81_559), ("141 GB", 139.25, 143_771))
_MODELS: Final = (
    _Model(
        "8B, 32 layers, 8 KV heads of 128",
        "mha",
        15.0,
        {
            "num_layers": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "context_len": 131_072,
        },
    ),
    _Model(
        "61 layers of rank 512 over 8 GPUs, 1 byte a weight",
        "mla",
        56.0,
        _LATENT,
    ),
    _Model(
        "61 layers of rank 512 with an indexer over 8 GPUs",
        "dsa",
        56.0,
        {**_LATENT, "index_head_dim": 128, "page_size": 64},
    ),
    _Model(
        "18 full and 18 sliding-window layers, 8 KV heads of 64",
        "swa",
        60.0,
        {
            "num_layers": 36,
            "full_attention_layers": 18,
            "swa_attention_layers": 18,
            "num_key_value_heads": 8,
            "swa_num_kv_heads": 8,
            "head_dim": 64,
            "swa_head_dim": 64,
            "swa_v_head_dim": 64,
            "hidden_size": 2880,
            "num_attention_heads": 64,
            "context_len": 131_072,
            "swa_full_tokens_ratio": 0.8,
            "sliding_window_size": 128,
        },
    ),
    _Model(
        "12 full-attention and 36 mamba layers over 4 GPUs",
        "mamba",
        38.0,
        {
            "num_layers": 48,
            "full_attention_layers": 12,
            "mamba_layers": 36,
            "num_key_value_heads": 2,
            "head_dim": 256,
            "hidden_size": 2048,
            "num_attention_heads": 16,
            "context_len": 262_144,
            "tp_size": 4,
            "mamba_cache_per_req": 19_365_888,
            "mamba_full_memory_ratio": 0.9,
        },
    ),
    _Model(
        "30 layers compressed 4 times and 31 compressed 128 times over 8 GPUs",
        "dsv4",
        38.0,
        {
            "num_layers": 61,
            "num_hidden_layers": 61,
            "c4_layers": 30,
            "c128_layers": 31,
            "qk_nope_head_dim": 448,
            "qk_rope_head_dim": 64,
            "index_head_dim": 128,
            "window_size": 128,
            "sliding_window_size": 128,
            "swa_full_tokens_ratio": 0.1,
            "page_size": 256,
            "num_key_value_heads": 1,
            "num_attention_heads": 128,
            "hidden_size": 7168,
            "head_dim": 512,
            "context_len": 163_840,
            "max_running_requests": 256,
            "tp_size": 8,
        },
    ),
    _Model(
        "4 dense and 58 sparse layers, 8 KV heads of 128 over 8 GPUs",
        "minimax",
        40.0,
        {
            "num_layers": 62,
            "num_hidden_layers": 62,
            "dense_attention_layers": 4,
            "sparse_attention_layers": 58,
            "indexer_k_only_layers": 0,
            "sparse_index_dim": 128,
            "num_key_value_heads": 8,
            "num_attention_heads": 48,
            "hidden_size": 3072,
            "head_dim": 128,
            "context_len": 196_608,
            "tp_size": 8,
        },
    ),
)


def reference_servers() -> tuple[Server, ...]:
    """Each model on each machine, with a fraction of its own."""
    return tuple(_server(model, *machine) for model in _MODELS for machine in _MACHINES)


def with_default_fraction(server: Server) -> Server:
    """The same server, whose fraction SGLang picks."""
    inputs = {name: value for name, value in server.inputs.items() if name != "mem_fraction_static"}
    return Server(server.name, server.scenario, inputs)


def machine_name(server: Server) -> str:
    """The machine of a server, and over how many of it a model is split."""
    ranks = server.inputs.get("tp_size", 1)
    return f"{server.name.rpartition(', on ')[2]}{f', {ranks} GPUs' if ranks != 1 else ''}"


def _server(model: _Model, machine: str, free: float, capacity: int) -> Server:
    memory = {
        "pre_model_load_memory": free,
        "available_gpu_memory": round(free - model.weights, 2),
        "mem_fraction_static": _FRACTION,
        "gpu_mem": capacity,
    }
    return Server(f"{model.name}, on {machine}", model.scenario, {**memory, **model.inputs})
