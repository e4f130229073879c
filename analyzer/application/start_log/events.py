"""One line of a log to what it says: log lines differ from release to release, what they say does not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from analyzer.domain.characters import printable

SKIPPED: Final = 0
ARGUMENTS: Final = 1
LOADING: Final = 2
END: Final = 3
OTHER: Final = 4
"""What a line means for where a start begins and ends; lines were left out where it says so."""

MARKERS: Final[Mapping[bytes, int]] = {
    b"server_args=": ARGUMENTS,
    b"ServerArgs(": ARGUMENTS,
    b"max_total_num_token": END,
    b"Not enough": END,
    b"OutOfMemoryError": END,
    b"out of memory": END,
    b"avail mem": LOADING,
    b"oad weight end": LOADING,
    b"server_args:": OTHER,
    b"Cache is allocated": OTHER,
    b"launch_server": OTHER,
    b"layer_tokens=": OTHER,
    b"KVPool mem usage": OTHER,
    b"DSV4 pool sizes": OTHER,
    b"bytes_per_full_token=": OTHER,
    b"cell_size_bytes=": OTHER,
    b"KV cache allocation (": OTHER,
    b"sglang==": OTHER,
    b"sglang:v": OTHER,
    b"sglang version": OTHER,
    b"SGLang v": OTHER,
    b"SGLANG_VERSION": OTHER,
}
"""What a line must hold to be looked at, and what that means."""

_SHOWN: Final = 400
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|[@-_])")
_RANK: Final = re.compile(r"\b(?:[A-Z]{1,8}_)?[DPTEC]P\d{1,5}\b")
_OLD_RANK: Final = re.compile(r"\[(?:gpu_id|rank)=(\d{1,5})\]|\bRank (\d{1,5}):")
_NUMBER: Final = r"(-?\d{1,9}(?:\.\d{1,9})?)"
_COUNT: Final = r"(-?\d{1,15})"
_VERSION: Final = re.compile(
    r"(?:sglang==|sglang:v|sglang version[: =]{1,3}v?|SGLang v|SGLANG_VERSION[:= ]{1,3}v?)"
    r"(\d{1,4}(?:\.\d{1,6}){1,3}[A-Za-z0-9.+]{0,40})"
)


@dataclass(frozen=True, slots=True)
class Event:
    """What one line says: its `kind`, the rank that says it, figures in GiB and counts by name.

    `text` is the line from its message on, fit to be shown.
    """

    kind: str
    rank: str
    text: str
    figures: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


# Kind, and what a line of it begins with. The first that fits wins.
_KINDS: Final = (
    ("begin", re.compile(r"Load weight begin", re.IGNORECASE)),
    ("end", re.compile(r"Load weight end", re.IGNORECASE)),
    ("graph_end", re.compile(r"Capture [^=]{0,120}?\bend\b")),
    ("graph_begin", re.compile(r"Capture [^=]{0,120}?\bbegin\b")),
    ("pool_end", re.compile(r"Memory pool end")),
    ("kv", re.compile(r"KV Cache is allocated|KV cache allocat(?:ed|ion)")),
    ("swa_split", re.compile(r"Use sliding window memory pool", re.IGNORECASE)),
    ("swa_pool", re.compile(r"SWAKVPool mem usage")),
    ("states", re.compile(r"Mamba Cache is allocated")),
    ("dsv4", re.compile(r"DSV4 pool sizes|DSV4 memory calculation", re.IGNORECASE)),
    ("cost", re.compile(r"cell_size_bytes=|bytes_per_full_token=")),
    ("refused", re.compile(r"Not enought? memory")),
    ("out_of_memory", re.compile(r"OutOfMemoryError|(?:CUDA|HIP|NPU|XPU) out of memory")),
    ("arguments", re.compile(r"server_args\s*[=:]|ServerArgs\(")),
    ("command", re.compile(r"launch_server")),
    ("result", re.compile(rf"max_total_num_tokens?=\s*{_COUNT}.{{0,400}}?context_len=")),
)
_FIGURES: Final = {
    "avail": re.compile(rf"avail mem[= ]+{_NUMBER} ?GB", re.IGNORECASE),
    "usage": re.compile(rf"mem usage[=: ]+{_NUMBER} ?GB", re.IGNORECASE),
    "left": re.compile(rf"available_gpu_mem={_NUMBER} ?GB"),
    "k": re.compile(rf"\bK size: {_NUMBER} ?GB"),
    "v": re.compile(rf"\bV size: {_NUMBER} ?GB"),
    "kv": re.compile(rf"(?:\bKV size: |KV cache allocation \([^)]{{0,40}}?){_NUMBER} ?GB"),
    "cost": re.compile(rf"(?:bytes_per_full_token|cell_size_bytes)={_NUMBER}"),
}
_STATE_SIZE: Final = re.compile(rf"(?:conv|ssm|temporal)\w{{0,40}} size: {_NUMBER} ?GB")
_SLOT_SIZE: Final = re.compile(rf"\b(?:conv|ssm|temporal)\w{{0,40}} size: {_NUMBER} ?GB")
_COUNTS: Final = {
    "tokens": re.compile(rf"#tokens: {_COUNT}"),
    "max_total_num_tokens": re.compile(rf"max_total_num_tokens?={_COUNT}"),
    "context_len": re.compile(rf"context_len={_COUNT}"),
    "full": re.compile(rf"(?:full_layer_tokens=|\bfull(?:_token)?=){_COUNT}"),
    "swa": re.compile(rf"(?:swa_layer_tokens=|\bswa=){_COUNT}"),
    "states": re.compile(rf"max_mamba_cache_size: {_COUNT}"),
}
_ALLOCATED: Final = re.compile(r"for ([\d,]{1,19}) tokens\)")
_REQUESTED: Final = {
    "asked": re.compile(rf"Tried to allocate {_NUMBER} ([KMG])iB"),
    "free": re.compile(rf"of which {_NUMBER} ([KMG])iB is free"),
}
_PER_GIB: Final = {"K": 1 << 20, "M": 1 << 10, "G": 1}
_TYPE: Final = re.compile(r"\btype=(\w{1,120})")


def read_event(raw: bytes) -> Event | None:
    """What a line says; None when it says nothing about memory, arguments or version."""
    line = _ESCAPES.sub("", raw.decode("utf-8", "replace"))
    for kind, pattern in _KINDS:
        found = pattern.search(line)
        if found is not None:
            return _read(kind, line, found.start())
    found = _VERSION.search(line)
    if found is not None:
        return Event("version", "", "", words={"version": found.group(1)})
    return None


def _read(kind: str, line: str, at: int) -> Event:
    message = line[at:]
    if kind in ("arguments", "command"):
        return Event(kind, "", message)
    figures = {name: float(found.group(1)) for name, pattern in _FIGURES.items() if (found := pattern.search(message))}
    figures |= _requested(message) if kind == "out_of_memory" else {}
    counts = {name: int(found.group(1)) for name, pattern in _COUNTS.items() if (found := pattern.search(message))}
    allocated = _ALLOCATED.search(message)
    if allocated is not None and allocated.group(1).strip(","):
        counts.setdefault("tokens", int(allocated.group(1).replace(",", "")))
    if kind == "states":
        figures["states"] = sum(float(size) for size in _STATE_SIZE.findall(message))
        figures["slots"] = sum(float(size) for size in _SLOT_SIZE.findall(message))
    if kind == "result":
        # Where a line gives both, the one that ends the start is of this rank.
        counts.pop("tokens", None)
    model = _TYPE.search(message)
    words = {"type": model.group(1)} if model is not None else {}
    shown = printable(message[:_SHOWN].rstrip())
    return Event(kind, _rank(line[:at]), shown, figures, counts, words)


def _requested(message: str) -> dict[str, float]:
    """What an allocation asked for and what was free, in GiB."""
    found = {name: pattern.search(message) for name, pattern in _REQUESTED.items()}
    return {name: float(match[1]) / _PER_GIB[match[2]] for name, match in found.items() if match is not None}


def _rank(prefix: str) -> str:
    """The rank in what stands before the message, such as ``DP0 TP1``; "" when there is one rank alone."""
    tail = prefix[-200:]
    names = _RANK.findall(tail)
    if names:
        return " ".join(names)
    old = _OLD_RANK.findall(tail)
    return f"TP{old[-1][0] or old[-1][1]}" if old else ""
