"""The objects that a release's runner holds when it starts to size, built from canonical inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.differential.families import Family, Inputs
from tests.differential.stubs import Settings, Strict, Stub
from tests.differential.surroundings import FP4, FP8, Dtype


class Runner:
    """Mixed into a release's runner: an attribute that neither the class nor the case sets is off."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or hasattr(type(self), name):
            # A property that failed must not turn into an option that is off.
            raise AttributeError(name)
        return Stub(f"runner.{name}")


class Speculation:
    """A speculative algorithm, which answers the `is_...` questions that hold for it."""

    _ANSWERS: Final = {
        None: ("is_none",),
        "EAGLE": ("is_eagle", "is_some", "is_speculative"),
        "DFLASH": ("is_dflash", "is_dflash_family", "is_some", "is_speculative"),
    }

    def __init__(self, algorithm: str | None) -> None:
        self._yes = self._ANSWERS[algorithm]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("is_"):
            raise AttributeError(name)
        return lambda: name in self._yes


def _dtype(inputs: Inputs) -> Dtype:
    """The element type of the cache: one byte wide it is FP8, unless the user wants another format."""
    wanted, width = inputs.get("kv_cache_dtype", "auto"), inputs.get("kv_element_size", 2)
    if wanted == "fp4_e2m1":
        return Dtype(width, FP4)
    return Dtype(width, FP8 if width == 1 and wanted == "auto" else "")


def torch_device(inputs: Inputs) -> str:
    """What PyTorch calls the device: it knows AMD GPUs by the name of the others."""
    device = str(inputs.get("device", "cuda"))
    return "cuda" if device == "hip" else device


def attention_tp_size(inputs: Inputs) -> int:
    """Ranks that share the heads of one request."""
    given = inputs.get("attn_tp_size")
    return int(given if given is not None else inputs.get("tp_size", 1) // attention_dp_size(inputs))


def attention_dp_size(inputs: Inputs) -> int:
    """Groups that attend independently."""
    default = inputs.get("dp_size", 1) if inputs.get("enable_dp_attention") else 1
    return int(inputs.get("attn_dp_size", default))


def options(inputs: Inputs, kind: Family, defaults: Mapping[str, Any]) -> Settings:
    """The server options, which newer releases also read their parallel layout from."""
    tp_size, pp_size = inputs.get("tp_size", 1), inputs.get("pp_size", 1)
    values = {
        "attn_cp_size": 1,
        "attn_dcp_size": 1,
        "attn_dp_size": attention_dp_size(inputs),
        "attn_tp_size": attention_tp_size(inputs),
        "device": torch_device(inputs),
        "dp_size": inputs.get("dp_size", 1),
        "enable_dp_attention": bool(inputs.get("enable_dp_attention")),
        "enable_mla": kind.is_mla,
        "launch_world_size": tp_size * pp_size,
        "max_mamba_cache_size": inputs.get("user_max_mamba_cache_size"),
        "max_running_requests": inputs.get("max_running_requests"),
        "max_total_tokens": inputs.get("max_total_tokens"),
        "mem_fraction_static": inputs["mem_fraction_static"],
        "page_size": inputs.get("page_size", 1),
        "pp_size": pp_size,
        "tp_size": tp_size,
    }
    optional = (
        *("mamba_full_memory_ratio", "swa_full_tokens_ratio", "kv_cache_dtype", "speculative_algorithm"),
        *("attention_backend", "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens"),
    )
    values.update({name: inputs[name] for name in optional if name in inputs})
    return Settings(values, defaults)


def model_config(base: type, inputs: Inputs, kind: Family, architecture: Any) -> Any:
    """A `base` (the release's own configuration class) with the model's numbers set."""
    layers = inputs.get("num_hidden_layers", inputs["num_layers"])
    published = _published(inputs, kind)
    head_dim = inputs.get("head_dim")
    values = {
        **_PLAIN_MODEL,
        **_given(inputs, *_PUBLISHED_NUMBERS),
        "attention_arch": architecture,
        "context_len": inputs["context_len"],
        "head_dim": head_dim,
        "hf_config": published,
        "hf_text_config": published,
        "num_attention_layers": layers,
        "num_hidden_layers": layers,
        "v_head_dim": inputs.get("v_head_dim", head_dim),
        **kind.configured,
    }
    if inputs.get("num_kv_heads") is not None:
        values["get_num_kv_heads"] = _constant_method(inputs["num_kv_heads"])
    return instance(base, values)


def _published(inputs: Inputs, kind: Family) -> Strict:
    numbers = _given(inputs, *_PUBLISHED_NUMBERS)
    names = {"architectures": [kind.architecture], "class_names": kind.class_names, "model_type": ""}
    return Strict(**numbers, **names, **kind.published)


_PUBLISHED_NUMBERS = (
    "hidden_size",
    "index_head_dim",
    "kv_lora_rank",
    "num_attention_heads",
    "num_key_value_heads",
    "qk_rope_head_dim",
)

_PLAIN_MODEL = {
    "full_attention_layer_ids": None,
    "is_draft_model": False,
    "is_hybrid": None,
    "is_hybrid_swa": False,
    "is_multimodal": False,
    "linear_attn_registry_result": None,
    "quantization": None,
    "swa_attention_layer_ids": None,
}


def runner(base: type, inputs: Inputs, kind: Family, config: Any, server_args: Settings) -> Any:
    """A `base` (the release's own runner class) as it stands after loading the weights."""
    layers = inputs["num_layers"]
    dtype = _dtype(inputs)
    draft = {name: inputs.get(name) for name in _DRAFT_MODEL}
    is_told = draft["dflash_draft_cell_size_per_token"] is not None
    values = {
        **_LOADED,
        **_given(inputs, "mem_fraction_static", "sliding_window_size"),
        **draft,
        "device": torch_device(inputs),
        "spec_aux_config": Strict(**_NO_DRAFT, **draft, draft_model_config=Strict() if is_told else None),
        "kv_cache_dtype_str": inputs.get("kv_cache_dtype"),
        "dp_size": attention_dp_size(inputs),
        "dtype": dtype,
        "end_layer": layers,
        "kv_cache_dtype": dtype,
        "layer_info": _layer_info(layers, kind),
        "model_config": config,
        "num_effective_layers": layers,
        "page_size": inputs.get("page_size", 1),
        "pp_group": Strict(world_size=inputs.get("pp_size", 1)),
        "pp_size": inputs.get("pp_size", 1),
        "ps": _parallel_state(inputs),
        "server_args": server_args,
        "spec_algorithm": Speculation(inputs.get("speculative_algorithm")),
        "tp_size": inputs.get("tp_size", 1),
        "use_mla_backend": kind.is_mla,
        **kind.running,
    }
    return instance(base, values, Runner)


def _layer_info(layers: int, kind: Family) -> Strict:
    ids = dict.fromkeys(("full_attention_layer_ids", "swa_attention_layer_ids"))
    span = {"start_layer": 0, "end_layer": layers, "num_effective_layers": layers}
    return Strict(**{**span, **ids, **kind.layer_ids}, is_hybrid_swa_mtp_draft=False)


# What the newest releases also ask about a draft model, for one that has none of it.
_NO_DRAFT: Final = {"eagle_draft_swa_num_layers": None, "draft_kv_num_layers": None, "dspark_num_stages": None}
_DRAFT_MODEL: Final = ("eagle_draft_num_layers", "dflash_draft_num_layers", "dflash_draft_cell_size_per_token")

_LOADED = {
    "draft_model_idx": None,
    "gpu_id": 0,
    "is_draft_worker": False,
    "is_hybrid": None,
    "is_hybrid_swa": False,
    "is_hybrid_swa_compress": False,
    "memory_pool_config": None,
    "req_to_token_pool": None,
    "sliding_window_size": None,
    "start_layer": 0,
    "token_to_kv_pool_allocator": None,
    "tp_rank": 0,
}


def _parallel_state(inputs: Inputs) -> Strict:
    return Strict(
        attn_dp_size=attention_dp_size(inputs),
        attn_tp_size=attention_tp_size(inputs),
        dp_size=inputs.get("dp_size", 1),
        pp_rank=0,
        pp_size=inputs.get("pp_size", 1),
        tp_rank=0,
        tp_size=inputs.get("tp_size", 1),
    )


def instance(base: type, values: Mapping[str, Any], *mixins: type) -> Any:
    """An object of `base` that skipped its constructor; `values` win over properties of `base`."""
    return object.__new__(type(base.__name__, (base, *mixins), dict(values)))


def _given(inputs: Inputs, *names: str) -> dict[str, Any]:
    return {name: inputs[name] for name in names if name in inputs}


def _constant_method(value: Any) -> Any:
    return lambda *_args, **_kwargs: value
