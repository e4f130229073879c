"""What is read out of start-up logs, whatever release wrote them and however they arrive."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.application.start_log.arguments import read_arguments, read_command
from analyzer.application.start_log.events import ARGUMENTS
from analyzer.application.start_log.reading import minimum
from analyzer.application.start_log.starts import pick_start
from analyzer.domain.startup import Start
from tests.support.start_logs import PLAIN, REFUSED, start_of


def values(start: Start) -> dict[str, float]:
    """The readings of the formula and of the ledger, by name."""
    return {name: reading.value for name, reading in minimum(start.ranks).items()}


def test_a_start_is_read_whole() -> None:
    start = start_of(PLAIN)
    assert values(start) == {
        "pre_model_load_memory": 94.04,
        "available_gpu_memory": 21.71,
        "weights": 72.33,
        "kv_cache": 10.42,
        "after_memory_pool": 11.1,
        "graphs": 1.25,
        "left": 9.75,
    }
    assert start.observed == {"max_total_num_tokens": 159294}
    assert (start.context_len, start.scenario, start.model_type) == (131072, "mla", "SomeForCausalLM")
    assert start.arguments["mem_fraction_static"] == 0.88
    assert start.arguments["max_total_tokens"] is None
    assert start.arguments["served_model_name"] == "a, b=c"


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "sglang-1  | ",
        "2025-06-01T10:00:00.123456789Z stdout F ",
        "\x1b[32mINFO\x1b[0m ",
        "Loading: 50%|##   | 1/2\r",
        "pod/worker-0 sglang ",
    ],
)
def test_prefixes_do_not_matter(prefix: str) -> None:
    shifted = "".join(f"{prefix}{line}\n" for line in PLAIN.splitlines())
    assert values(start_of(shifted)) == values(start_of(PLAIN))
    assert start_of(shifted).observed == start_of(PLAIN).observed


def test_docker_writes_json() -> None:
    wrapped = "".join(json.dumps({"log": f"{line}\n", "stream": "stderr"}) + "\n" for line in PLAIN.splitlines())
    assert values(start_of(wrapped)) == values(start_of(PLAIN))


def test_the_smallest_reading_of_all_ranks_counts() -> None:
    log = """\
[2025-06-01 10:00:05 TP1] Load weight begin. avail mem=22.80 GB
[2025-06-01 10:00:05 TP0] Load weight begin. avail mem=22.91 GB
[2025-06-01 10:00:09 TP0] Load weight end. type=M, avail mem=10.00 GB, mem usage=12.91 GB.
[2025-06-01 10:00:09 TP1] Load weight end. type=M, avail mem=10.14 GB, mem usage=12.91 GB.
"""
    start = start_of(log)
    assert [rank.rank for rank in start.ranks] == ["TP0", "TP1"]
    assert values(start)["pre_model_load_memory"] == 22.80
    assert values(start)["available_gpu_memory"] == 10.00


def test_replicas_of_data_parallelism_measure_each_for_itself() -> None:
    log = """\
[x DP1 TP0] Load weight end. type=M, avail mem=9.00 GB, mem usage=12.00 GB.
[x DP0 TP0] Load weight end. type=M, avail mem=10.00 GB, mem usage=12.00 GB.
"""
    assert values(start_of(log))["available_gpu_memory"] == 10.00
    attention = log.replace("DP1 TP0", "DP1 TP1")
    assert values(start_of(attention))["available_gpu_memory"] == 9.00


def test_old_releases_name_the_device_and_count_without_an_s() -> None:
    log = """\
[gpu_id=0] Load weight begin. avail mem=78.58 GB
[gpu_id=0] Load weight end. type=LlamaForCausalLM, avail mem=63.50 GB
[gpu_id=0] Memory pool end. avail mem=8.37 GB
[gpu_id=0] max_total_num_tokens=442913, max_prefill_tokens=16384, context_len=131072
"""
    assert [rank.rank for rank in start_of(log).ranks] == ["TP0"]
    assert values(start_of(log))["available_gpu_memory"] == 63.5
    oldest = "Rank 0: max_total_num_token=1000, max_prefill_num_token=16384, context_len=4096, "
    assert start_of(oldest).observed == {"max_total_num_tokens": 1000}


def test_draft_weights_count_when_they_are_there_before_the_pool() -> None:
    log = """\
Load weight begin. avail mem=80.00 GB
Load weight end. type=M, avail mem=60.00 GB, mem usage=20.00 GB.
Load weight begin. avail mem=60.00 GB
Load weight end. type=MEagle, avail mem=58.50 GB, mem usage=1.50 GB.
KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1000, K size: 4.00 GB, V size: 4.00 GB
KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1000, K size: 0.25 GB, V size: 0.25 GB
"""
    later = values(start_of(log))
    assert later["available_gpu_memory"] == 58.5
    assert (later["weights"], later["draft_weights"]) == (20.0, 1.5)
    lines = log.splitlines(keepends=True)
    earlier = values(
        start_of("".join([*lines[:2], lines[4], "Memory pool end. avail mem=52.00 GB\n", *lines[2:4], lines[5]]))
    )
    assert earlier["available_gpu_memory"] == 60.0
    assert (earlier["kv_cache"], earlier["draft_kv_cache"]) == (8.0, 0.5)


def test_what_a_line_lacks_is_computed_from_what_it_has() -> None:
    start = start_of("Load weight end. type=M, avail mem=7.37 GB, mem usage=15.02 GB.\n")
    reading = minimum(start.ranks)["pre_model_load_memory"]
    assert (reading.value, reading.derived) == (22.39, True)


def test_pools_of_hybrid_models() -> None:
    log = """\
[x TP0] Use sliding window memory pool. full_layer_tokens=262528, swa_layer_tokens=65632
[x TP0] KV Cache is allocated. #tokens: 65632, K size: 5.01 GB, V size: 5.01 GB
[x TP0] KV Cache is allocated. #tokens: 262528, K size: 2.00 GB, V size: 2.00 GB
[x TP0] SWAKVPool mem usage: 14.02 GB, swa size: 65632, full size: 262528
[x TP0] Mamba Cache is allocated. max_mamba_cache_size: 8, conv_state size: 0.25GB, ssm_state size: 1.50GB \
intermediate_ssm_state_cache size: 0.50GB
"""
    start = start_of(log)
    assert start.scenario == "swa"
    assert values(start)["kv_cache"] == 14.02
    assert values(start)["mamba_states"] == 2.25
    # A slot is what one request keeps: 1.75 GiB over the eight that are used and one more.
    assert start.slot is not None
    assert start.slot[0] == round(1.75 * 2**30 / 9)
    assert start.observed == {
        "max_total_num_tokens": 262528,
        "full_max_total_num_tokens": 262528,
        "swa_max_total_num_tokens": 65632,
        "max_mamba_cache_size": 8,
    }


def test_the_last_start_counts_unless_another_is_asked_for() -> None:
    first = PLAIN.replace("94.04", "90.00")
    assert values(start_of(first + PLAIN))["pre_model_load_memory"] == 94.04
    assert values(start_of(first + PLAIN, wanted=1))["pre_model_load_memory"] == 90.0
    assert start_of(first + PLAIN).count == 2
    excerpt = "".join(line for line in first.splitlines(keepends=True) if "server_args" not in line)
    assert values(start_of(excerpt + excerpt.replace("90.00", "91.00")))["pre_model_load_memory"] == 91.0


def test_a_start_after_a_flood_is_read_and_a_flooded_one_says_so() -> None:
    flood = "max_total_num_tokens=1\n" * 300_000
    after = start_of(f"{flood}{PLAIN}")
    assert (values(after), after.notes) == (values(start_of(PLAIN)), ())
    flooded = start_of(f"{PLAIN}{flood}")
    assert values(flooded) == values(start_of(PLAIN))
    assert flooded.notes == ("the log has more lines about memory than are kept",)


def test_logs_of_several_nodes_are_one_start() -> None:
    nodes = [PLAIN.replace("tp_size=1", f"tp_size=2, nnodes=2, node_rank={node}") for node in (0, 1)]
    other = nodes[1].replace("] Load", " TP1] Load").replace("21.71", "20.00")
    assert values(start_of(nodes[0].replace("] Load", " TP0] Load"), other))["available_gpu_memory"] == 20.0
    again = nodes[0].replace("21.71", "19.00")
    assert values(start_of(nodes[0], again))["available_gpu_memory"] == 19.0


def test_a_refused_start_says_why() -> None:
    failure = start_of(REFUSED).failure
    assert failure is not None
    assert (failure.kind, start_of(PLAIN).failure) == ("refused", None)
    assert start_of(REFUSED.replace("enough", "enought")).failure is not None
    assert start_of(REFUSED + PLAIN).failure is None


@pytest.mark.parametrize(
    "line", ["sglang==0.5.9", "image: lmsysorg/sglang:v0.5.9", "SGLang version: sglang version 0.5.9"]
)
def test_the_version_is_found(line: str) -> None:
    assert start_of(f"{line}\n{PLAIN}").version == "0.5.9"


def test_arguments_are_read_however_much_of_them_is_left() -> None:
    text = "ServerArgs(mem_fraction_static=0.9, dtype=\"a'b\", nested={'tp_size': 4}, tp_size=8, ratio=1e-05, cut='x"
    assert read_arguments(text) == {"mem_fraction_static": 0.9, "dtype": "a'b", "tp_size": 8, "ratio": 1e-05}
    command = "python -m sglang.launch_server --model-path m --tp 8 --mem-fraction-static=0.8 --enable-dp-attention"
    found = read_command(command)
    assert (found["tp_size"], found["mem_fraction_static"], found["enable_dp_attention"]) == (8, 0.8, True)


@given(st.binary(max_size=2_000), st.integers(0, len(PLAIN)), st.randoms(use_true_random=False))
def test_no_log_can_break_the_reading(noise: bytes, cut: int, random: object) -> None:
    lines = PLAIN.encode()[:cut].split(b"\n")
    random.shuffle(lines)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    start = start_of(noise.join(lines))
    assert all(reading.line.isprintable() for rank in start.ranks for reading in rank.readings.values())


def test_long_lines_are_kept_up_to_a_size() -> None:
    line = b"server_args=ServerArgs(x=" + b"(x=" * 20_000
    start, _, _ = pick_start(((ARGUMENTS, line) for _ in range(5_000)), None)
    assert start.is_cut
    assert 1 << 20 < sum(map(len, start.lines)) < 16 << 20
