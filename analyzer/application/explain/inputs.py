"""From what a log says to the inputs of the formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analyzer.application.selection import require
from analyzer.domain.evaluation import Inputs, Value
from analyzer.domain.rules import RuleSet, SymbolRule
from analyzer.domain.startup import AFTER, BEFORE, KV_CACHE, Reading, Start
from analyzer.domain.terms import Scalar

FRACTION: Final = "mem_fraction_static"
TOKENS: Final = "max_total_num_tokens"
COST: Final = "cell_size"
REST: Final = "rest_memory"
KV_DTYPE: Final = "kv_cache_dtype"
SLOT: Final = "mamba_cache_per_req"
_GIB: Final = 1 << 30
# What releases take for --kv-cache-dtype.
_KV_DTYPES: Final = (
    "auto",
    "bf16",
    "bfloat16",
    "fp4_e2m1",
    "fp4_mx_block16",
    "fp8_e4m3",
    "fp8_e5m2",
    "mxfp8",
    "nvfp4",
)
_ELEMENT_SIZES: Final = (("fp8", 1), ("float8", 1), ("bf16", 2), ("bfloat16", 2), ("float16", 2), ("half", 2))
# How models that take images, audio or video are called, as far as a name tells.
_MULTIMODAL: Final = ("ForConditionalGeneration", "Llava", "VL", "Vision", "MultiModal", "Omni")


def read_inputs(
    start: Start, readings: Mapping[str, Reading], rules: RuleSet, given: Mapping[str, Value], model: Inputs
) -> Inputs:
    """The inputs of one start: what is `given` counts most, then the log, then the `model`."""
    values: dict[str, Value] = {name: readings[name].value for name in (BEFORE, AFTER) if name in readings}
    assumed: dict[str, str] = {name: reading_reason(readings[name]) for name in values if readings[name].derived}
    printed = argument_inputs(start.arguments, rules)
    values.update(printed.values)
    if start.cost is not None and start.cost > 0:
        values[COST] = int(start.cost) if start.cost.is_integer() else start.cost
    if start.slot is not None:
        values[SLOT], assumed[SLOT] = start.slot
    if start.context_len is not None:
        values["context_len"] = start.context_len
    _assume_kind(start, values, assumed)
    known = rules.symbols.keys() | rules.quantities.keys()
    if "architectures" in model.values:
        values["architectures"] = model.values["architectures"]
    merged = {**model.values, **{name: value for name, value in values.items() if name in known}, **given}
    kept = {name: why for name, why in {**model.assumed, **assumed}.items() if name in merged and name not in given}
    return Inputs(merged, {**model.facts, **printed.facts}, kept)


def reading_reason(reading: Reading) -> str:
    """Where a reading that no line prints comes from."""
    return f"computed from: {reading.line}"


def cost_from_pool(start: Start, readings: Mapping[str, Reading]) -> tuple[int, str] | None:
    """Bytes per token as the pool that was allocated tells, and a sentence about it; None when it tells nothing."""
    size = pool_cost(start, readings)
    if size is None:
        return None
    tokens, pool = start.observed[TOKENS], readings[KV_CACHE].value
    return round(size[0]), f"the pool of {pool:g} GiB divided by its {tokens} tokens"


def pool_cost(start: Start, readings: Mapping[str, Reading]) -> tuple[float, float] | None:
    """Bytes per token of the pool that was allocated, and the share by which rounding may have moved them."""
    tokens = start.observed.get(TOKENS)
    pool = readings.get(KV_CACHE)
    if not tokens or tokens < 0 or pool is None or pool.value <= 0:
        return None
    return pool.value * _GIB / tokens, pool.error / pool.value


def check_arguments(arguments: Mapping[str, Scalar]) -> None:
    """Refuse a server argument that no release takes, given by a person and not read from a log. Raises UsageError."""
    dtype = arguments.get(KV_DTYPE)
    if dtype is not None:
        require(str(dtype), _KV_DTYPES, "KV cache dtype")


def argument_inputs(arguments: Mapping[str, Scalar], rules: RuleSet) -> Inputs:
    """Server arguments as inputs: declared ones under the name of their symbol, others under their own."""
    values: dict[str, Value] = {}
    declared: set[str] = set()
    for rule in rules.symbols.values():
        declared.update(rule.arguments)
        for name in rule.arguments:
            if name in arguments and _fits(arguments[name], rule):
                values[rule.name] = arguments[name]
    # The formula of a release may read what no rule declares by its own name.
    others = {name: value for name, value in arguments.items() if name not in declared | rules.symbols.keys()}
    fraction = arguments.get(FRACTION)
    if isinstance(fraction, int | float) and not isinstance(fraction, bool):
        values[FRACTION] = fraction
    size = _element_size(arguments)
    if size is not None:
        values["kv_element_size"] = size
    return Inputs(values, others)


def _fits(value: Value, rule: SymbolRule) -> bool:
    """Whether a printed value is one that the symbol can have; anything else is left to the release."""
    if value is None:
        return rule.domain.optional
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    wanted = {"integer": is_number, "real": is_number, "memory": is_number, "boolean": isinstance(value, bool)}
    return wanted.get(rule.domain.kind, True)


def _element_size(arguments: Mapping[str, Scalar]) -> int | None:
    """Bytes per element of the KV cache, where the arguments tell."""
    asked = arguments.get(KV_DTYPE)
    if not isinstance(asked, str):
        return None
    names = (asked, arguments.get("dtype")) if asked == "auto" else (asked,)
    sizes = [size for name in names for prefix, size in _ELEMENT_SIZES if str(name).startswith(prefix)]
    return next(iter(sizes), None)


def _assume_kind(start: Start, values: dict[str, Value], assumed: dict[str, str]) -> None:
    """What the name of the model's class tells."""
    name = start.model_type
    if name is None:
        return
    values["architectures"] = (name,)
    if is_multimodal_name(name):
        values["multimodal"] = True
        assumed["multimodal"] = f"the model is called {name}"


def is_multimodal_name(name: str) -> bool:
    """Whether the name of an architecture is one of models that take images, audio or video."""
    return any(part in name for part in _MULTIMODAL)
