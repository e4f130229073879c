"""Seeded random configurations, by canonical symbol names, for every family that can be executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

Configuration = dict[str, Any]

# Free GiB before loading on machines people have: 24, 40, 80, 96, 141, 180 and 192 GB parts.
_FREE_BEFORE: Final = (23.12, 39.21, 78.52, 78.9, 94.04, 139.25, 176.4, 190.77)
_LONGEST_CONTEXT: Final = 1 << 20
# No options: a draft model whose configuration does not say it is a server of its own, not one that nobody told.
_KNOWN_TO_LACK: Final = frozenset({"eagle_draft_num_layers", "dflash_draft_cell_size_per_token"})


def draw(scenario: str, count: int, seed: int) -> list[Configuration]:
    """`count` configurations of models of `scenario`; the same arguments give the same list."""
    random = Random(f"{scenario}/{seed}")  # noqa: S311 - repeatable, not secret
    family, *modifiers = scenario.split("+")
    drawn = []
    for _ in range(count):
        configuration = {**_machine(random), **_MODELS[family](random)}
        for modifier in modifiers:
            configuration.update(_MODIFIERS[modifier](random, configuration))
        drawn.append(_set_only(configuration))
    return drawn


def _set_only(configuration: Configuration) -> Configuration:
    """Without the options that the user leaves alone: the release's own default must apply."""
    return {name: value for name, value in configuration.items() if value is not None or name in _KNOWN_TO_LACK}


def _machine(random: Random) -> Configuration:
    before = random.choice((*_FREE_BEFORE, round(random.uniform(4, 280), 3)))
    machine: Configuration = {
        "pre_model_load_memory": before,
        "available_gpu_memory": _free_after(random, before),
        "mem_fraction_static": random.choice((0.9, 0.88, 0.87, 0.8, round(random.uniform(0.3, 0.97), 3))),
        "page_size": random.choice((1, 1, 1, 16, 32, 64, 128)),
        "context_len": random.choice((2048, 8192, 32768, 131072, 163840, random.randint(1, _LONGEST_CONTEXT))),
        "kv_element_size": random.choice((1, 2, 2, 2, 4)),
        "max_total_tokens": _sometimes(random, (1, 63, 100_001, random.randint(1, 3_000_000))),
        "max_running_requests": _sometimes(random, (1, 48, 256, random.randint(1, 9000))),
        **_parallel(random),
    }
    # The runner of the harness has one dtype, for the model and for its cache.
    return {**machine, "model_element_size": machine["kv_element_size"]}


def _free_after(random: Random, before: float) -> float:
    """What loading left: mostly a budget above zero, sometimes none, rarely nothing at all."""
    share = random.choice((random.uniform(0.3, 0.99), random.uniform(0.3, 0.99), random.uniform(0, 0.3)))
    return round(before * share, random.choice((2, 3, 12)))


def _sometimes(random: Random, values: tuple[int, ...]) -> int | None:
    return random.choice((None, None, None, random.choice(values), random.choice(values)))


def _parallel(random: Random) -> Configuration:
    tp_size = random.choice((1, 1, 2, 4, 8, 16))
    if tp_size == 1 or random.choice((True, True, True, True, False)):
        return {"tp_size": tp_size}
    dp_size = random.choice([size for size in (2, 4, 8, 16) if size <= tp_size])
    attention = {"attn_dp_size": dp_size, "attn_tp_size": tp_size // dp_size}
    return {"tp_size": tp_size, "dp_size": dp_size, "enable_dp_attention": True, **attention}


def _heads(random: Random) -> Configuration:
    kv_heads = random.choice((1, 2, 4, 8, 8, 16, 32, 40))
    heads = kv_heads * random.choice((1, 4, 8))
    head_dim = random.choice((64, 80, 96, 128, 128, 192, 256))
    return {
        "num_key_value_heads": kv_heads,
        "num_attention_heads": heads,
        "hidden_size": heads * head_dim,
        "head_dim": head_dim,
        "v_head_dim": random.choice((head_dim, head_dim, 128)),
    }


def _layers(random: Random) -> Configuration:
    layers = random.choice((1, 24, 28, 32, 48, 61, 80, 126))
    return {"num_layers": layers, "num_hidden_layers": layers}


def _dense(random: Random) -> Configuration:
    return {**_layers(random), **_heads(random)}


def _latent(random: Random) -> Configuration:
    # Releases that do not know the layout yet size such a model by its heads.
    shape = {"kv_lora_rank": random.choice((128, 256, 512)), "qk_rope_head_dim": random.choice((32, 64))}
    return {**_dense(random), **shape}


def _sparse(random: Random) -> Configuration:
    return {**_latent(random), "index_head_dim": random.choice((128, 256))}


def _sliding(random: Random) -> Configuration:
    model = _dense(random)
    swa = random.randint(1, model["num_layers"])
    heads = random.choice((1, 2, 4, 8))
    return {
        **model,
        "full_attention_layers": model["num_layers"] - swa,
        "swa_attention_layers": swa,
        "swa_num_kv_heads": heads,
        "swa_head_dim": random.choice((64, 128, 192)),
        "swa_v_head_dim": random.choice((64, 128)),
        "swa_full_tokens_ratio": random.choice((0.8, 0.5, 0.1, 1.0, round(random.uniform(0.01, 1), 3))),
        "sliding_window_size": random.choice((128, 512, 1024, 4096)),
    }


def _linear(random: Random) -> Configuration:
    full, linear = random.randint(1, 48), random.randint(1, 80)
    return {
        **_heads(random),
        "num_layers": full + linear,
        "num_hidden_layers": full + linear,
        "full_attention_layers": full,
        "mamba_layers": linear,
        "mamba_cache_per_req": random.choice((77_463_552, 19_365_888, random.randint(1 << 16, 1 << 28))),
        "mamba_full_memory_ratio": random.choice((0.9, 0.2, 1.0, round(random.uniform(0.05, 4), 3))),
    }


def _compressed(random: Random) -> Configuration:
    c4, c128 = random.randint(1, 31), random.randint(0, 31)
    layers = c4 + c128 + random.randint(0, 3)
    window = random.choice((128, 256))
    return {
        **_heads(random),
        "num_layers": layers,
        "num_hidden_layers": layers,
        "c4_layers": c4,
        "c128_layers": c128,
        "qk_nope_head_dim": random.choice((448, 128)),
        "qk_rope_head_dim": 64,
        "index_head_dim": 128,
        "window_size": window,
        "sliding_window_size": window,
        "swa_full_tokens_ratio": random.choice((0.1, 0.8, round(random.uniform(0.01, 1), 3))),
        # Other pages fail in the pools, which are not made here.
        "page_size": 256,
    }


def _mostly_sparse(random: Random) -> Configuration:
    dense, sparse = random.randint(0, 8), random.randint(1, 60)
    return {
        **_heads(random),
        "num_layers": dense + sparse,
        "num_hidden_layers": dense + sparse,
        "dense_attention_layers": dense,
        "sparse_attention_layers": sparse,
        "indexer_k_only_layers": random.choice((0, sparse, random.randint(0, sparse))),
        "sparse_index_dim": random.choice((64, 128)),
    }


_MODELS: Final[Mapping[str, Callable[[Random], Configuration]]] = {
    "mha": _dense,
    "mla": _latent,
    "dsa": _sparse,
    "swa": _sliding,
    "mamba": _linear,
    "dsv4": _compressed,
    "minimax": _mostly_sparse,
}


def _eagle(random: Random, _model: Configuration) -> Configuration:
    return {
        "speculative_algorithm": "EAGLE",
        "speculative_num_steps": random.choice((1, 3, 5)),
        "speculative_eagle_topk": random.choice((1, 4, 8)),
        "speculative_num_draft_tokens": random.choice((2, 4, 6, 64)),
        "eagle_draft_num_layers": random.choice((None, 1, 1, 2)),
        # SGLang sets this limit whenever it speculates.
        "max_running_requests": random.choice((48, 256, random.randint(1, 4000))),
    }


def _draft(random: Random, model: Configuration) -> Configuration:
    """The worker beside a target that speculates; both are told of the target's model."""
    return {**_eagle(random, model), "is_draft_worker": True}


def _dflash(random: Random, _model: Configuration) -> Configuration:
    return {
        "speculative_algorithm": "DFLASH",
        "speculative_num_draft_tokens": random.choice((2, 4, 8, 16)),
        "dflash_draft_num_layers": random.choice((1, 2, 5)),
        "dflash_draft_cell_size_per_token": random.choice((None, 2048, random.randint(1, 1 << 16))),
        "max_running_requests": random.choice((48, 256, random.randint(1, 4000))),
    }


def _on(device: str, **more: str) -> Callable[[Random, Configuration], Configuration]:
    return lambda _random, _model: {"device": device, **more}


def _data_parallel(random: Random, _model: Configuration) -> Configuration:
    tp_size = random.choice((2, 4, 8, 16))
    dp_size = random.choice([size for size in (2, 4, 8, 16) if size <= tp_size])
    attention = {"attn_dp_size": dp_size, "attn_tp_size": tp_size // dp_size}
    return {"tp_size": tp_size, "dp_size": dp_size, "enable_dp_attention": True, **attention}


def _fp4(_random: Random, _model: Configuration) -> Configuration:
    return {"kv_cache_dtype": "fp4_e2m1", "kv_element_size": 1}


def _mxfp8(_random: Random, _model: Configuration) -> Configuration:
    return {"kv_cache_dtype": "mxfp8", "kv_element_size": 1}


def _pipeline(random: Random, model: Configuration) -> Configuration:
    """The first of several stages: the model has more layers than this rank."""
    stages = random.choice((2, 3, 4))
    return {"pp_size": stages, "num_hidden_layers": model["num_layers"] * stages - random.randint(0, 1)}


_MODIFIERS: Final[Mapping[str, Callable[[Random, Configuration], Configuration]]] = {
    "cpu": _on("cpu"),
    "dflash": _dflash,
    "dp": _data_parallel,
    "draft": _draft,
    "eagle": _eagle,
    "fp4": _fp4,
    "hip": _on("hip"),
    "mxfp8": _mxfp8,
    "npu": _on("npu", attention_backend="ascend"),
    "pp": _pipeline,
    "xpu": _on("xpu"),
}
