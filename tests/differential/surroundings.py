"""What the sizing code meets of the outside world in one case: memory readings, groups, torch, options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.differential.stubs import Settings, Strict, Stub

FP4 = "float4_e2m1fn_x2"
FP8 = "float8_e4m3fn"
_ELEMENT_SIZES = {
    "uint8": 1,
    "int8": 1,
    "float8_e5m2": 1,
    FP8: 1,
    FP4: 1,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "int32": 4,
}

# Accessors that hand out (a part of) the options; all parts are one bag here.
_OPTION_GETTERS = (
    "get_context",
    "get_device",
    "get_disagg",
    "get_exec",
    "get_global_server_args",
    "get_lora",
    "get_memory",
    "get_mm",
    "get_model",
    "get_parallel",
    "get_schedule",
    "get_server_args",
    "get_serving",
    "get_spec",
)
_FIRST_POOLS = ("HybridReqToTokenPool", "ReqToTokenPool")


class PoolsReachedError(Exception):
    """Raised where the first pool would be allocated: the sizes are final by then."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        super().__init__("first pool")
        self.arguments = arguments


@dataclass(frozen=True)
class Dtype:
    """An element type: its width, and the name under which `torch` has it."""

    itemsize: int
    name: str = ""


@dataclass
class Surroundings:
    """The case that the replaced names answer for; exchanged between cases, the code stays loaded."""

    device: str = "cuda"
    free_memory: float = 0.0
    options: Settings | None = None
    attn_tp_size: int = 1
    world_size: int = 1
    pp_size: int = 1
    dflash_cell_size: int | None = None

    def replacements(self) -> Mapping[str, Any]:
        """Names to their stand-ins, wherever a release imports them from."""
        return {
            "torch": _Torch(),
            "is_float4_e2m1fn_x2": lambda dtype: dtype.name == FP4,
            "get_available_gpu_memory": lambda *_args, **_kwargs: self.free_memory,
            "get_attention_tp_size": lambda: self.attn_tp_size,
            "get_tensor_model_parallel_world_size": lambda: self.attn_tp_size,
            "get_world_group": lambda: Strict(world_size=self.world_size, cpu_group=None),
            "configured_pp_size": lambda: self.pp_size,
            "resolve_dflash_draft_cell_size": lambda **_of: self.dflash_cell_size,
            **{f"is_{kind}": self._is(kind) for kind in ("cuda", "hip", "npu", "xpu", "cpu", "musa", "hpu")},
            "ceil_div": lambda number, divisor: -(-number // divisor),
            "ceil_align": lambda number, unit: -(-number // unit) * unit,
            **dict.fromkeys(_FIRST_POOLS, _stop_at_pool),
            **dict.fromkeys(_OPTION_GETTERS, lambda: self.options),
        }

    def _is(self, kind: str) -> Callable[[], bool]:
        return lambda: self.device == kind


def _stop_at_pool(*args: Any, **_kwargs: Any) -> None:
    raise PoolsReachedError(args)


class _Tensor:
    def __init__(self, value: Any, **_options: Any) -> None:
        self._value = value

    def item(self) -> Any:
        return self._value


class _Torch(Stub):
    """`torch`, of which sizing uses element widths and a tensor of one number."""

    def __init__(self) -> None:
        super().__init__("torch")
        self._utils = Strict(_element_size=_element_size)
        self.tensor = _Tensor
        self.distributed = Stub("torch.distributed")

    def __getattr__(self, name: str) -> Any:
        return Dtype(_ELEMENT_SIZES[name], name) if name in _ELEMENT_SIZES else super().__getattr__(name)


def _element_size(dtype: Dtype) -> int:
    return dtype.itemsize
