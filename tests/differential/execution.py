"""Runs the sizing code of a release for one case and reads back what it computed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tests.differential import machine
from tests.differential.defaults import option_defaults
from tests.differential.families import Family, Inputs, family
from tests.differential.loading import ReleaseModules, assigned_values, method_calls
from tests.differential.observing import Observation, observed
from tests.differential.stubs import Stub
from tests.differential.surroundings import PoolsReachedError, Surroundings
from tests.support.releases import ReleaseUnavailableError

_GIB: Final = 1 << 30

# Where the classes have lived, newest first.
_RUNNER_MODULES = (
    "sglang.srt.model_executor.model_runner",
    "sglang.srt.managers.controller.model_runner",
    "sglang.srt.managers.router.model_runner",
)
_CONFIG_MODULES = ("sglang.srt.configs.model_config", "sglang.srt.model_config")
_CONFIGURATOR_MODULE = "sglang.srt.mem_cache.kv_cache_configurator"

# What the memory measured before loading is called between the measurement and the sizing.
_MEASURED_NAMES = ("total_gpu_memory", "min_per_gpu_memory", "pre_model_load_memory")

# What sizing code raises on purpose, or by the arithmetic it is known for.
_MEANT = (AssertionError, RuntimeError, ValueError, ZeroDivisionError)

_STATE_SIZERS = ("handle_max_mamba_cache", "_handle_max_mamba_cache")
_PROFILERS = ("_profile_available_bytes", "profile_max_num_token")


@dataclass
class Outcome:
    """Quantities by canonical name as far as they were computed, and the exception class if one was raised.

    `handed_on` is what a draft worker gets of its target.
    """

    quantities: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    handed_on: Any = field(default=None, compare=False)


@cache
def release(version: str, device: str = "cuda") -> Release:
    """The loaded code of one release, as it is on machines with one kind of device."""
    return Release(version, device)


class Release:
    """The sizing code of one release, ready to run case after case."""

    def __init__(self, version: str, device: str, changed: Mapping[str, bytes] | None = None) -> None:
        self.version = version
        self._surroundings = Surroundings(device)
        self._modules = ReleaseModules(version, self._surroundings.replacements(), changed or {})
        module, self._runner_class = self._locate("ModelRunner", _RUNNER_MODULES)
        config_module, self._config_class = self._locate("ModelConfig", _CONFIG_MODULES)
        self._architectures = self._globals(config_module).get("AttentionArch")
        tree = self._modules.tree(module)
        self._scale = self._reading_scale(module, tree)
        self._size = self._entry(module, tree)

    def run(self, inputs: Inputs, scenario: str) -> Outcome:
        """Size the cache for `inputs`, both measured memories given; a draft worker after its target."""
        runner = self._prepare(inputs, scenario)
        outcome = self._run(runner)
        if not inputs.get("is_draft_worker"):
            return outcome
        if outcome.error is not None:
            # There is no draft worker, and no number of one.
            return Outcome(error=outcome.error)
        draft = self._prepare(inputs, scenario)
        draft.is_draft_worker, draft.server_args = True, runner.server_args
        self._surroundings.options = runner.server_args
        draft.memory_pool_config = outcome.handed_on
        return self._run(draft)

    def _run(self, runner: Any) -> Outcome:
        outcome = Outcome()
        with observed() as seen:
            try:
                sized = self._size(runner)
                outcome.handed_on = sized.memory_pool_config
                outcome.quantities.update(_final_sizes(sized))
            except PoolsReachedError as reached:
                outcome.handed_on = runner.memory_pool_config
                outcome.quantities.update(_final_sizes(runner))
                outcome.quantities.update(_request_pool_size(seen, reached))
            except Exception as error:  # noqa: BLE001 - whatever the release raises is the outcome
                outcome.error = _raised_class(error)
        outcome.quantities.update(_intermediate(seen, self._scale))
        outcome.quantities.update(_state_slots(runner))
        return outcome

    def _prepare(self, inputs: Inputs, scenario: str) -> Any:
        kind = family(scenario, inputs)
        options = machine.options(inputs, kind, option_defaults(self.version))
        self._surroundings.options = options
        self._surroundings.free_memory = inputs["available_gpu_memory"]
        self._surroundings.attn_tp_size = machine.attention_tp_size(inputs)
        self._surroundings.pp_size = inputs.get("pp_size", 1)
        self._surroundings.dflash_cell_size = inputs.get("dflash_draft_cell_size_per_token")
        self._surroundings.world_size = inputs.get("tp_size", 1) * self._surroundings.pp_size
        config = machine.model_config(self._config_class, inputs, kind, self._architecture(kind))
        runner = machine.runner(self._runner_class, inputs, kind, config, options)
        runner.pre_model_load_memory = inputs["pre_model_load_memory"] * self._scale
        return runner

    def _architecture(self, kind: Family) -> Any:
        # The first releases have no such distinction.
        return getattr(self._architectures, "MLA" if kind.is_mla else "MHA", None)

    def _locate(self, name: str, modules: tuple[str, ...]) -> tuple[str, type]:
        for module in modules:
            found = self._globals(module).get(name)
            if isinstance(found, type):
                return module, found
        raise ReleaseUnavailableError(f"sglang {self.version} has no {name} where it was known to live")

    def _globals(self, module: str) -> dict[str, Any]:
        return self._modules.namespace(module) or {}

    def _reading_scale(self, module: str, tree: ast.Module) -> float:
        """What one GiB of free memory is worth once the release has assigned it: 1, or 2**30 for bytes."""
        for name, value in assigned_values(tree, _reads_free_memory):
            if name in _MEASURED_NAMES:
                self._surroundings.free_memory = 1.0
                return float(self._modules.compiled(value, module)({"self": machine.Runner(tp_size=1)}))
        # The newest releases measure in another module, and store the reading as it is.
        return 1.0

    def _entry(self, module: str, tree: ast.Module) -> Callable[[Any], Any]:
        """The function that sizes: it takes a prepared runner, returns what holds the sizes."""
        configurator = self._globals(_CONFIGURATOR_MODULE).get("KVCacheConfigurator")
        for owner in (configurator, self._runner_class):
            if owner is not None and hasattr(owner, "_init_pools"):
                owner._init_pools = _pools_allocated
        if configurator is not None:
            return _configure
        call = self._modules.compiled(_sizing_call(tree), module)
        return lambda runner: self._call(call, runner)

    def _call(self, call: Callable[[Mapping[str, Any]], Any], runner: Any) -> Any:
        """Sizing as the release itself calls it, arguments included."""
        measured = dict.fromkeys(_MEASURED_NAMES, runner.pre_model_load_memory)
        call({"self": runner, "server_args": runner.server_args, **measured})
        return runner


def _configure(runner: Any) -> Any:
    runner.init_kv_cache_configurator()
    return runner.kv_cache_configurator.configure(pre_model_load_memory=runner.pre_model_load_memory)


def _pools_allocated(*_args: Any, **_kwargs: Any) -> Any:
    return Stub("pools")


def _sizing_call(tree: ast.Module) -> ast.Call:
    calls = method_calls(tree, "init_memory_pool")
    if not calls:
        raise ReleaseUnavailableError("the runner calls no init_memory_pool")
    return calls[0]


def _reads_free_memory(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "get_available_gpu_memory"
        for node in ast.walk(value)
    )


def _final_sizes(sized: Any) -> dict[str, Any]:
    # Spelled without the last letter in the first releases.
    tokens = getattr(sized, "max_total_num_tokens", None)
    named = {
        "max_total_num_tokens": tokens if _is_number(tokens) else sized.max_total_num_token,
        "max_num_reqs": getattr(sized, "max_running_requests", None),
        "full_max_total_num_tokens": getattr(sized, "full_max_total_num_tokens", None),
        "swa_max_total_num_tokens": getattr(sized, "swa_max_total_num_tokens", None),
    }
    return {name: value for name, value in named.items() if _is_number(value)}


def _request_pool_size(seen: Observation, reached: PoolsReachedError) -> dict[str, Any]:
    """The request count of releases that have it in a local, or only as the pool's first argument."""
    local = seen.local("max_num_reqs", "init_memory_pool")
    count = local if local is not None else next(iter(reached.arguments), None)
    return {"max_num_reqs": count} if _is_number(count) else {}


def _intermediate(seen: Observation, scale: float) -> dict[str, Any]:
    # What is left is only known once the states of linear attention are paid for.
    rest = None if seen.failed(*_STATE_SIZERS) else seen.local("rest_memory", *_PROFILERS)
    configurator = seen.local("self", "calculate_pool_sizes")
    cell = seen.local("cell_size", "profile_max_num_token")
    named = {
        "rest_memory": None if rest is None else rest / scale,
        "cell_size": cell if cell is not None else getattr(configurator, "_cell_size", None),
    }
    return {name: value for name, value in named.items() if _is_number(value)}


def _state_slots(runner: Any) -> dict[str, Any]:
    """The number of linear-attention states, which the releases write back into the options."""
    slots = runner.server_args.max_mamba_cache_size
    return {"max_mamba_cache_size": slots} if _is_number(slots) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _raised_class(error: Exception) -> str:
    """The class name of an error that the release means; anything else is the harness falling short."""
    if isinstance(error, _MEANT):
        return type(error).__name__
    raise error
