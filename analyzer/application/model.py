"""From a Hugging Face configuration to the scenario and the inputs of a formula, by the release's own rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from analyzer.application.evaluate import check_inputs, inputs_read
from analyzer.application.explain.inputs import argument_inputs, is_multimodal_name
from analyzer.domain.binding import Binding
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import DEFAULT_SCENARIO, Case, Inputs, Value
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.semantics import MissingInputError, Off, RaisedError
from analyzer.domain.terms import Scalar, symbol

_MAX_DEPTH: Final = 3
_LAYER_KINDS: Final = ("full_attention_layers", "swa_attention_layers", "mamba_layers")
# A model of several parts keeps what the language part has under one of these.
_TEXT_PARTS: Final = (("text_config",), ("thinker_config", "text_config"), ("llm_config",), ("language_config",))
# Entries that have another name than the symbol.
_ENTRIES: Final = {
    "context_len": "max_position_embeddings",
    "num_layers": "num_hidden_layers",
    "sliding_window_size": "sliding_window",
}
_BYTES: Final = {"float32": 4, "float": 4, "bfloat16": 2, "float16": 2, "half": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
# What tells a family where a release has no rule of its own that could be followed.
_SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "use_mla_backend": ("kv_lora_rank",),
    "is_dsa": ("index_topk",),
    "is_hybrid_linear": ("linear_num_key_heads", "mamba_num_heads", "mamba_d_state", "hybrid_override_pattern"),
    "is_dsv4": ("compress_ratios",),
}
# The family of each guard, the most special first.
_FAMILIES: Final = {
    "is_dsv4": "dsv4",
    "is_minimax_sparse": "minimax",
    "is_dsa": "dsa",
    "is_hybrid_linear": "mamba",
    "is_hybrid_swa": "swa",
    "use_mla_backend": "mla",
}


@dataclass(frozen=True, slots=True)
class Model:
    """The scenario that a model falls under and why, and the inputs that it sets."""

    scenario: str
    why: str
    inputs: Inputs

    def assumptions(self, scenarios: Sequence[str]) -> dict[str, str]:
        """Why what nobody gave is what it is; the scenario is one of it when it is the model's."""
        chosen = {f"scenario {self.scenario}": self.why} if self.why and tuple(scenarios) == (self.scenario,) else {}
        values = {f"{name} = {self.inputs.values[name]}": why for name, why in self.inputs.assumed.items()}
        return {**chosen, **values}

    def case(self, case: Case) -> Case:
        """`case` with what the model says of everything that it leaves open."""
        return replace(case, inputs={**self.inputs.values, **case.inputs}, facts={**self.inputs.facts, **case.facts})


def read_model(
    config: Mapping[str, Any], arguments: Mapping[str, Scalar], extraction: Extraction, rules: RuleSet
) -> Model:
    """What `config` means to the release behind `extraction`, served with `arguments`.

    What the release's rules read of a configuration is handed to them under the names that they use; only what
    they do not compute is set from here, and listed as assumed.
    """
    text = _text_part(config)
    _check_entries(text, rules)
    given = argument_inputs(arguments, rules)
    facts = {**dict(_facts("hf_config", config)), **dict(_facts("hf_text_config", text)), **given.facts}
    values: dict[str, Value] = {}
    assumed: dict[str, str] = {}
    if config:
        _set_kind(config, values, assumed)
        _set_dtype(text, config, values, assumed)
        _set_layers(text, arguments, values, assumed)
    computed = _Computed(extraction, rules, facts, {**values, **given.values})
    _set_rest(text, rules, computed, values, assumed)
    scenario, why = _scenario(text, rules, computed)
    read = inputs_read(extraction, rules, tuple(extraction.quantities))
    values = {name: value for name, value in values.items() if name in read} | dict(given.values)
    assumed = {name: why for name, why in assumed.items() if name in read and name not in given.values}
    if _splits_heads(text, values):
        assumed["tp_size"] = "it does not divide the number of attention heads, which the code of most models refuses"
    return Model(scenario, why if config else "", Inputs(values, facts, assumed))


def _splits_heads(text: Mapping[str, Any], values: Mapping[str, Value]) -> bool:
    """Whether an attention head would be on several ranks; data-parallel attention has ranks of its own."""
    heads, ranks = text.get("num_attention_heads"), values.get("tp_size")
    if not isinstance(heads, int) or not isinstance(ranks, int) or values.get("enable_dp_attention"):
        return False
    return ranks > 0 and heads % ranks > 0


def _check_entries(text: Mapping[str, Any], rules: RuleSet) -> None:
    """Refuse an entry that no symbol of its name can be. Raises UsageError."""
    for name, rule in rules.symbols.items():
        key = _ENTRIES.get(name, name)
        value = text.get(key)
        if rule.domain.kind not in ("integer", "real") or rule.domain.optional or not isinstance(value, int | float):
            continue
        try:
            check_inputs({name: value}, rules)
        except UsageError as error:
            raise UsageError(f"{key} in the configuration of the model: {error}") from error


class _Computed:
    """What the release itself makes of the configuration."""

    def __init__(
        self, extraction: Extraction, rules: RuleSet, facts: Mapping[str, Value], case: Mapping[str, Value]
    ) -> None:
        self._extraction = extraction
        self._binding = Binding(extraction, rules, facts, case)

    def value(self, name: str) -> Value:
        """The value of a declared symbol by the release's own rule; None when it has no rule or lacks something."""
        if name not in self._extraction.definitions:
            return None
        try:
            found = self._binding.value(symbol(name))
        except (MissingInputError, RaisedError):
            return None
        return None if isinstance(found, Off) or not isinstance(found, bool | int | float | str) else found


def _text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part that describes the language model."""
    for path in _TEXT_PARTS:
        part: Any = config
        for key in path:
            part = part.get(key) if isinstance(part, Mapping) else None
        if isinstance(part, Mapping) and part:
            return part
    return config


def _facts(prefix: str, config: Mapping[str, Any], depth: int = 1) -> Iterator[tuple[str, Value]]:
    """Each entry under its dotted name: scalars, lists of scalars, and what nested objects hold."""
    for key, value in config.items():
        name = f"{prefix}.{key}"
        if isinstance(value, Mapping):
            if depth < _MAX_DEPTH:
                yield from _facts(name, value, depth + 1)
        elif isinstance(value, list):
            if not any(isinstance(item, list | Mapping) for item in value):
                yield name, tuple(value)
        else:
            yield name, value


def _set_kind(config: Mapping[str, Any], values: dict[str, Value], assumed: dict[str, str]) -> None:
    """The architectures, and whether the model takes more than text."""
    names = config.get("architectures")
    architectures = tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    values["architectures"] = architectures
    parts = [key for key in ("vision_config", "audio_config") if config.get(key) is not None]
    named = [name for name in architectures if is_multimodal_name(name)]
    if parts or named:
        values["multimodal"] = True
        assumed["multimodal"] = f"the configuration has {parts[0]}" if parts else f"the model is called {named[0]}"


def _set_dtype(
    text: Mapping[str, Any], config: Mapping[str, Any], values: dict[str, Value], assumed: dict[str, str]
) -> None:
    names = [part.get(key) for part in (text, config) for key in ("torch_dtype", "dtype")]
    named = next((str(name).removeprefix("torch.") for name in names if name is not None), None)
    values["model_element_size"] = _BYTES.get(named or "", 2)
    assumed["model_element_size"] = (
        f"the model's dtype is {named}" if named in _BYTES else "no dtype in the configuration"
    )


def _set_layers(
    text: Mapping[str, Any], arguments: Mapping[str, Scalar], values: dict[str, Value], assumed: dict[str, str]
) -> None:
    """With pipeline parallelism the stage with the most layers decides."""
    stages, layers = arguments.get("pp_size") or 1, text.get("num_hidden_layers")
    if isinstance(stages, int) and stages > 1 and isinstance(layers, int):
        values["num_layers"] = math.ceil(layers / stages)
        assumed["num_layers"] = f"{layers} layers over {stages} stages: the largest stage"


def _set_rest(
    text: Mapping[str, Any], rules: RuleSet, computed: _Computed, values: dict[str, Value], assumed: dict[str, str]
) -> None:
    """Symbols that the release does not compute, from the entry of the same name."""
    counts = _layer_counts(text)
    keys = {name: key for name, key in _ENTRIES.items() if text.get(name) is None}
    entries = {
        **text,
        **{name: text.get(key) for name, key in keys.items()},
        **{n: count for n, (count, _) in counts.items()},
    }
    reasons = {name: f"{key} of the configuration, as it is" for name, key in keys.items()}
    reasons |= {name: f"counted in {key} of the configuration" for name, (_, key) in counts.items()}
    for name, rule in rules.symbols.items():
        value = entries.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in values or rule.domain.kind not in ("integer", "real") or not is_number:
            continue
        if computed.value(name) is None:
            values[name] = value
            assumed[name] = reasons.get(name, f"{name} of the configuration, as it is")


def _layer_counts(text: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """How many layers of each kind there are, and the entry that tells."""
    layers, interval, kinds = (text.get(key) for key in ("num_hidden_layers", "full_attention_interval", "layer_types"))
    if isinstance(kinds, list):
        full = sum(kind in ("full_attention", "attention") for kind in kinds)
        sliding = sum(kind in ("sliding_attention", "chunked_attention") for kind in kinds)
        found = (full, sliding, len(kinds) - full - sliding)
        return {name: (count, "layer_types") for name, count in zip(_LAYER_KINDS, found, strict=True)}
    if isinstance(layers, int) and isinstance(interval, int) and interval > 0:
        full = layers // interval
        return {
            name: (n, "full_attention_interval") for name, n in zip(_LAYER_KINDS, (full, 0, layers - full), strict=True)
        }
    return {}


def _scenario(text: Mapping[str, Any], rules: RuleSet, computed: _Computed) -> tuple[str, str]:
    """The family that the release's guards, or else the entries of the configuration, tell."""
    for guard, family in _FAMILIES.items():
        if family not in rules.scenarios:
            continue
        decided = _decided(guard, computed)
        signs = [key for key in _SIGNS.get(guard, ()) if text.get(key) is not None]
        if decided is True:
            return family, f"{guard} holds by the release's own rule"
        if decided is None and signs:
            return family, f"the configuration has {signs[0]}"
    return DEFAULT_SCENARIO, "nothing tells of another family"


def _decided(guard: str, computed: _Computed) -> bool | None:
    """What the release makes of a guard; that it counts with a compressed rank is what MLA means."""
    found = computed.value(guard)
    if found is None and guard == "use_mla_backend" and isinstance(computed.value("kv_lora_rank"), int):
        return True
    return found if isinstance(found, bool) else None
