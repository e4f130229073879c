"""What a log says that cannot be of the server that the inputs describe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from analyzer.application.explain.inputs import COST, pool_cost
from analyzer.domain.evaluation import CaseResult, Inputs, Value
from analyzer.domain.startup import AFTER, RankReadings, Reading, Start

# Whether the formula gives what came out when some inputs are others.
Fits = Callable[[Mapping[str, Value]], bool]
_TP: Final = re.compile(r"\bTP(\d+)\b")
_SPLIT: Final = "swa_max_total_num_tokens"
# What a pool has beside its tokens, as a share of it.
_PADDING: Final = 0.005
# Ranks of one server differ by less, in GiB.
_ALIKE: Final = 1.0
_LARGEST_FACTOR: Final = 64
_TWICE: Final = 2


def find_contradictions(
    start: Start, readings: Mapping[str, Reading], inputs: Inputs, result: CaseResult, fits: Fits
) -> list[str]:
    """What tells that the inputs are not those of this log, in sentences; empty when nothing does."""
    return [*_ranks(start, inputs), *_cost(start, readings, inputs, result, fits), *_odd_rank(start, fits)]


def _ranks(start: Start, inputs: Inputs) -> Iterator[str]:
    """Another number of ranks than the options make; a log of one node of several has some of them."""
    size = inputs.values.get("tp_size")
    found = sorted({int(name) for rank in start.ranks for name in _TP.findall(rank.rank)})
    if not isinstance(size, int) or len(found) <= 1 or len(found) == size:
        return
    nodes = start.arguments.get("nnodes")
    if not (isinstance(nodes, int) and nodes > 1 and found[-1] < size):
        yield f"tp_size is {size}, and the log is of {len(found)} ranks, TP{found[0]} to TP{found[-1]}"


def _cost(
    start: Start, readings: Mapping[str, Reading], inputs: Inputs, result: CaseResult, fits: Fits
) -> Iterator[str]:
    """Another number of bytes per token than the pool has; pools of several kinds of layers do not tell."""
    pool = pool_cost(start, readings)
    item = result.quantities.get(COST)
    if pool is None or item is None or not item.number or COST in inputs.assumed or _SPLIT in start.observed:
        return
    size, error = pool[0], pool[1] + _PADDING
    if abs(item.number / size - 1) <= error:
        return
    also = "; with those of the log the formula gives what came out" if fits({COST: round(size)}) else ""
    cause = _cause(item.number / size, error)
    yield f"the pool of the log has {round(size):,} bytes per token, the formula {item.number:,}: {cause}{also}"


def _cause(ratio: float, error: float) -> str:
    """How a server differs whose bytes per token the formula has `ratio` times of."""
    factor = round(max(ratio, 1 / ratio))
    if factor > _LARGEST_FACTOR or abs(max(ratio, 1 / ratio) / factor - 1) > error:
        return "another model, tp_size or KV dtype"
    size = f"{factor} times the tp_size" if ratio > 1 else f"1/{factor} of the tp_size"
    kind = f"a KV dtype of {'half' if ratio > 1 else 'twice'} the size (--kv-cache-dtype), " * (factor == _TWICE)
    return f"the server may have {kind}{size}, or another model"


def _odd_rank(start: Start, fits: Fits) -> Iterator[str]:
    """One rank that alone has less memory than the others, without which the formula fits."""
    known = [rank for rank in start.ranks if AFTER in rank.readings]
    if len(known) <= 1:
        return
    least, second = sorted(known, key=_after)[:2]
    if _after(second) - _after(least) > _ALIKE and fits({AFTER: _after(second)}):
        yield (
            f"{least.rank} alone reads {_after(least):.2f} GiB after loading; with {_after(second):.2f} GiB, the least "
            "of the other ranks, the formula gives what came out"
        )


def _after(rank: RankReadings) -> float:
    return rank.readings[AFTER].value
