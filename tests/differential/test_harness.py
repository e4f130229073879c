"""The harness itself, held to numbers worked out by hand from the releases' notes and arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from tests.differential.configurations import draw
from tests.differential.execution import release
from tests.differential.releases_covered import RELEASES, covered
from tests.differential.stubs import Settings, Stub

pytestmark = pytest.mark.differential

# A server whose owner expected 0.88 of what was free: 8 GPUs of 96 GB, MLA, 61 layers.
_STORY: dict[str, Any] = {
    "available_gpu_memory": 21.71,
    "pre_model_load_memory": 94.04,
    "mem_fraction_static": 0.88,
    "num_layers": 61,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "kv_element_size": 2,
    "context_len": 262144,
    "tp_size": 8,
}
# Both pools of 32 layers, 8 heads of 128, two bytes each: 128 KiB per token.
_DENSE: dict[str, Any] = {
    "available_gpu_memory": 10.0,
    "pre_model_load_memory": 20.0,
    "mem_fraction_static": 1.0,
    "num_layers": 32,
    "num_key_value_heads": 8,
    "num_attention_heads": 32,
    "hidden_size": 4096,
    "head_dim": 128,
    "kv_element_size": 2,
    "context_len": 8192,
}
_TOKENS = 10 * (1 << 30) // (128 << 10)


@pytest.mark.parametrize("version", RELEASES)
def test_every_release_sizes_a_dense_model_alike(version: str) -> None:
    outcome = release(version).run(_DENSE, "mha")
    assert outcome.error is None
    assert outcome.quantities["max_total_num_tokens"] == _TOKENS
    assert outcome.quantities["cell_size"] == 128 << 10
    assert outcome.quantities["rest_memory"] == 10.0


@pytest.mark.parametrize("version", ["0.3.2", "0.4.8", "0.5.4", "0.5.9", "0.5.11", "0.5.18", "0.5.23"])
def test_latent_attention_counts_the_latent(version: str) -> None:
    outcome = release(version).run(_STORY, "mla")
    assert outcome.quantities["cell_size"] == (512 + 64) * 61 * 2
    assert outcome.quantities["rest_memory"] == pytest.approx(21.71 - 94.04 * 0.12)
    assert outcome.quantities["max_total_num_tokens"] == 159294


@pytest.mark.parametrize(
    ("version", "error"),
    [("0.1.3", None), ("0.1.16", "RuntimeError"), ("0.5.13", "RuntimeError"), ("0.5.14", "ValueError")],
)
def test_a_negative_budget_ends_as_the_release_ends_it(version: str, error: str | None) -> None:
    outcome = release(version).run({**_DENSE, "mem_fraction_static": 0.25}, "mha")
    assert outcome.error == error
    assert outcome.quantities["rest_memory"] == -5.0


def test_more_ranks_than_heads_divided_by_zero_once() -> None:
    wide = {**_DENSE, "tp_size": 16}
    assert release("0.1.17").run(wide, "mha").error == "ZeroDivisionError"
    assert release("0.1.20").run(wide, "mha").error is None


@pytest.mark.parametrize(("version", "tokens"), [("0.2.0", _TOKENS), ("0.2.8", 1001), ("0.4.3", 1001), ("0.4.4", 960)])
def test_the_users_limit_and_the_page_act_since_they_exist(version: str, tokens: int) -> None:
    limited = {**_DENSE, "max_total_tokens": 1001, "page_size": 64}
    assert release(version).run(limited, "mha").quantities["max_total_num_tokens"] == tokens


@pytest.mark.parametrize(
    ("version", "requests"), [("0.1.3", 2560), ("0.2.0", 5120), ("0.2.15", 5120), ("0.3.6", 4096), ("0.5.18", 4096)]
)
def test_the_request_pool_follows_the_token_count(version: str, requests: int) -> None:
    assert release(version).run(_DENSE, "mha").quantities["max_num_reqs"] == requests


@pytest.mark.parametrize(("version", "scenario"), covered("mha", "mla", "dsa", "swa", "mamba"))
def test_every_family_runs_without_touching_a_stub(version: str, scenario: str) -> None:
    for configuration in draw(scenario, count=20, seed=2):
        outcome = release(version).run(configuration, scenario)
        assert outcome.error or "max_total_num_tokens" in outcome.quantities


def test_draws_repeat() -> None:
    assert draw("mha", count=5, seed=3) == draw("mha", count=5, seed=3)
    assert draw("mha", count=5, seed=3) != draw("mha", count=5, seed=4)


def test_a_stub_never_becomes_a_number() -> None:
    stub = Stub("outside")
    assert not stub
    with pytest.raises(TypeError):
        _ = stub + 1  # type: ignore[operator] # the mistake that must fail
    with pytest.raises(TypeError):
        _ = stub < 1  # type: ignore[operator] # the mistake that must fail


def test_an_option_is_what_was_set_then_the_default_then_off() -> None:
    options = Settings({"page_size": 64}, {"page_size": 1, "disaggregation_mode": "null"})
    assert (options.page_size, options.disaggregation_mode) == (64, "null")
    assert isinstance(options.enable_something, Stub)
