"""From the events of one start to its readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from analyzer.application.start_log.arguments import read_arguments, read_command
from analyzer.application.start_log.events import Event, read_event
from analyzer.application.start_log.starts import RawStart, merge_starts, pick_start
from analyzer.domain.startup import (
    AFTER,
    AFTER_POOL,
    BEFORE,
    DRAFT_KV_CACHE,
    DRAFT_WEIGHTS,
    GRAPHS,
    KV_CACHE,
    LEFT,
    STATES,
    WEIGHTS,
    Failure,
    RankReadings,
    Reading,
    Start,
)
from analyzer.domain.terms import Scalar

_ALLOCATIONS: Final = frozenset({"kv", "swa_split", "swa_pool", "states", "pool_end", "dsv4"})
_DIGITS: Final = 2
_NAMES_OF_ONE: Final = 2
_GIB: Final = 1 << 30


def read_start(logs: Iterable[Iterable[tuple[int, bytes]]], wanted: int | None = None) -> Start:
    """What the start number `wanted` of `logs` says; of each log the last one when None."""
    picked = [pick_start(lines, wanted) for lines in logs]
    raw = merge_starts([start for start, _, _ in picked])
    events = [event for event in map(read_event, raw.lines) if event is not None]
    return _read(
        events, raw, max((number for _, number, _ in picked), default=1), max((n for *_, n in picked), default=1)
    )


def _read(events: Sequence[Event], raw: RawStart, position: int, count: int) -> Start:
    ranks = _ranks(events)
    first = next(iter(ranks.values()), [])
    return Start(
        version=next((event.words["version"] for event in events if event.kind == "version"), None),
        arguments=_arguments(events),
        ranks=tuple(RankReadings(rank, _rank_readings(rank, said)) for rank, said in ranks.items()),
        observed=_observed(events, first),
        cost=next((e.figures["cost"] for e in events if "cost" in e.figures), None),
        slot=_slot(events),
        model_type=next((e.words["type"] for e in events if e.kind == "end" and "type" in e.words), None),
        scenario=_scenario(events),
        context_len=next((e.counts["context_len"] for e in events if "context_len" in e.counts), None),
        failure=_failure(events),
        position=position,
        count=count,
        notes=("the log has more lines about memory than are kept",) if raw.is_cut else (),
    )


def _ranks(events: Sequence[Event]) -> dict[str, list[Event]]:
    """The events of each rank, in order, without ranks that only report the result."""
    told = [event for event in events if event.kind not in ("arguments", "command", "version")]
    found: dict[str, list[Event]] = {}
    for event in told:
        found.setdefault(event.rank, []).append(event)
    loading = {rank: said for rank, said in found.items() if any(e.kind in ("begin", "end") for e in said)}
    if len(found) <= _NAMES_OF_ONE and loading.keys() == {""}:
        # One rank that only some of its lines name.
        loading = {"": told}
    return dict(sorted((loading or found).items(), key=lambda item: _rank_key(item[0])))


def _rank_key(rank: str) -> list[tuple[str, int]]:
    parts = [(part.rstrip("0123456789"), part) for part in rank.split()]
    return [(name, int(part[len(name) :])) for name, part in parts]


def _arguments(events: Sequence[Event]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for event in events:
        if event.kind == "command":
            found.update(read_command(event.text))
    for event in events:
        if event.kind == "arguments":
            found.update(read_arguments(event.text))
    return found


def _failure(events: Sequence[Event]) -> Failure | None:
    """Why the start ended early: an error after which no result came."""
    if any(event.kind == "result" for event in events):
        return None
    found = next((event for event in events if event.kind in ("refused", "out_of_memory")), None)
    return None if found is None else Failure(found.kind, found.text, _shortage(found))


def _shortage(event: Event) -> float | None:
    """By how many GiB more was asked for than was free."""
    asked, free = event.figures.get("asked"), event.figures.get("free")
    return None if asked is None or free is None or asked <= free else asked - free


def _scenario(events: Sequence[Event]) -> str | None:
    """The family of models that the pools tell of; None when they tell of none."""
    kinds = {event.kind for event in events}
    for kind, name in (("dsv4", "dsv4"), ("swa_split", "swa"), ("swa_pool", "swa"), ("states", "mamba")):
        if kind in kinds:
            return name
    pools = [event for event in events if event.kind == "kv"]
    if pools and "kv" in pools[0].figures and "allocation (" not in pools[0].text:
        return "mla"
    return "mha" if pools else None


def _slot(events: Sequence[Event]) -> tuple[int, str] | None:
    """Bytes of a mamba state: the pool has one more than are used."""
    for event in events:
        size, count = event.figures.get("slots", 0.0), event.counts.get("states", 0)
        if event.kind == "states" and size > 0 and count > 0:
            return round(size * _GIB / (count + 1)), f"the pool of {size:g} GiB divided by its {count + 1} slots"
    return None


def _observed(events: Sequence[Event], first: Sequence[Event]) -> dict[str, int]:
    """The quantities that came out, as the result line, the split, or the first pool gives them."""
    found: dict[str, int] = {}
    for event in events:
        if event.kind in ("swa_split", "dsv4"):
            for name, quantity in (("full", "full_max_total_num_tokens"), ("swa", "swa_max_total_num_tokens")):
                if name in event.counts:
                    found.setdefault(quantity, event.counts[name])
        if event.kind == "states" and "states" in event.counts:
            found.setdefault("max_mamba_cache_size", event.counts["states"])
    result = next((e.counts["max_total_num_tokens"] for e in events if "max_total_num_tokens" in e.counts), None)
    pool = _main_pool(first)[1]
    tokens = next((n for n in (result, found.get("full_max_total_num_tokens"), pool) if n is not None), None)
    return {"max_total_num_tokens": tokens, **found} if tokens is not None else found


def _main_pool(events: Sequence[Event]) -> tuple[list[Event], int | None]:
    """The events that allocate the KV cache of the target model, and the tokens of the largest part of it."""
    found: list[Event] = []
    for event in events:
        if event.kind in ("kv", "swa_pool"):
            found.append(event)
        elif found and event.kind in ("pool_end", "begin"):
            break
    counts = [event.counts["tokens"] for event in found if "tokens" in event.counts]
    return found, max(counts, default=None)


def _rank_readings(rank: str, events: Sequence[Event]) -> dict[str, Reading]:
    found: dict[str, Reading] = {}
    cut = next((n for n, event in enumerate(events) if event.kind in _ALLOCATIONS), len(events))
    begins = [event for event in events if event.kind == "begin" and "avail" in event.figures]
    ends = [event for event in events[:cut] if event.kind == "end"]
    _read_loading(found, rank, begins, ends)
    _read_pools(found, rank, events)
    _read_rest(found, rank, events)
    return found


def _read_loading(found: dict[str, Reading], rank: str, begins: Sequence[Event], ends: Sequence[Event]) -> None:
    """Free memory before loading and after, and what target and draft took of it."""
    if begins:
        found[BEFORE] = Reading(begins[0].figures["avail"], begins[0].text, rank)
    if not ends:
        return
    target, last = ends[0], ends[-1]
    after = target.figures.get("avail")
    usage = target.figures.get("usage")
    if BEFORE not in found and after is not None and usage is not None:
        found[BEFORE] = Reading(round(after + usage, _DIGITS), target.text, rank, derived=True, error=0.01)
    if after is None and usage is not None and BEFORE in found:
        after = round(found[BEFORE].value - usage, _DIGITS)
    if after is None:
        return
    derived = "avail" not in last.figures
    found[AFTER] = Reading(last.figures.get("avail", after), last.text, rank, derived, 0.01 if derived else 0.005)
    if BEFORE in found:
        found[WEIGHTS] = Reading(
            round(found[BEFORE].value - after, _DIGITS), target.text, rank, derived=True, error=0.01
        )
    if last is not target:
        draft = round(after - found[AFTER].value, _DIGITS)
        found[DRAFT_WEIGHTS] = Reading(draft, last.text, rank, derived=True, error=0.01)


def _read_pools(found: dict[str, Reading], rank: str, events: Sequence[Event]) -> None:
    main, _ = _main_pool(events)
    _add_pool(found, KV_CACHE, rank, main)
    _add_pool(found, DRAFT_KV_CACHE, rank, [e for e in events if e.kind == "kv" and e not in main])
    states = [event for event in events if event.kind == "states"]
    if states:
        found[STATES] = Reading(states[0].figures["states"], states[0].text, rank, error=0.01)
    ended = [event for event in events if event.kind == "pool_end" and "avail" in event.figures]
    if ended:
        found[AFTER_POOL] = Reading(ended[0].figures["avail"], ended[0].text, rank)


def _add_pool(found: dict[str, Reading], name: str, rank: str, events: Sequence[Event]) -> None:
    """The size of a pool: the sum of its parts, or the total that is printed after them."""
    totals = [event for event in events if event.kind == "swa_pool" and "usage" in event.figures]
    parts = [size for event in events for key, size in event.figures.items() if key in ("k", "v", "kv")]
    if totals:
        found[name] = Reading(totals[0].figures["usage"], totals[0].text, rank)
    elif parts:
        size = round(sum(parts), _DIGITS)
        found[name] = Reading(size, events[0].text, rank, derived=len(parts) > 1, error=0.005 * len(parts))


def _read_rest(found: dict[str, Reading], rank: str, events: Sequence[Event]) -> None:
    """What graphs took, and what was free at last."""
    taken: list[float] = []
    before: float | None = None
    line = ""
    for event in events:
        if event.kind == "graph_begin":
            before = event.figures.get("avail", before)
        elif event.kind == "graph_end":
            after = event.figures.get("avail")
            usage = event.figures.get("usage")
            if usage is None and before is not None and after is not None:
                usage = round(before - after, _DIGITS)
            if usage is not None:
                taken.append(usage)
                line = event.text
    if taken:
        found[GRAPHS] = Reading(round(sum(taken), _DIGITS), line, rank, derived=len(taken) > 1)
    last = next((event for event in reversed(events) if _free(event) is not None), None)
    if last is not None and last.kind not in ("begin", "end"):
        found[LEFT] = Reading(_free(last) or 0.0, last.text, rank)


def _free(event: Event) -> float | None:
    return event.figures.get("left", event.figures.get("avail"))


def minimum(ranks: Sequence[RankReadings]) -> dict[str, Reading]:
    """The readings of the formula: the smallest over the ranks that measure together.

    The other figures are those of the rank with the least memory after loading.
    """
    together = _measuring_together(ranks)
    if not together:
        return {}
    scarce = min(together, key=lambda rank: rank.readings[AFTER].value if AFTER in rank.readings else float("inf"))
    found = dict(scarce.readings)
    for name in (BEFORE, AFTER):
        values = [rank.readings[name] for rank in together if name in rank.readings]
        if values:
            found[name] = min(values, key=lambda reading: reading.value)
    return found


def _measuring_together(ranks: Sequence[RankReadings]) -> list[RankReadings]:
    """The ranks of one process group.

    Replicas of data parallelism measure each for itself, and each has a ``TP0``; under data-parallel attention
    every rank of tensor parallelism is there once.
    """
    parts = [frozenset(rank.rank.split()) for rank in ranks]
    without = [frozenset(part for part in names if not part.startswith("DP")) for names in parts]
    if len(set(without)) == len(without) or not parts:
        return list(ranks)
    first = {part for part in parts[0] if part.startswith("DP")}
    return [rank for rank, names in zip(ranks, parts, strict=True) if first <= names]
