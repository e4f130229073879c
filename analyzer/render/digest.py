"""Which changes of a comparison are told in full, and what is said of the others in one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.domain.report import Change, DiffReport, Kind

# So few are read one by one, whatever they are.
_FEW: Final = 5

Numbered = tuple[int, Change]


@dataclass(frozen=True, slots=True)
class Group:
    """Changes that are the parts of one difference in one quantity."""

    positions: str
    changes: tuple[Change, ...]

    @property
    def quantity(self) -> str:
        """What they are about."""
        return self.changes[0].quantity

    @property
    def sentence(self) -> str:
        """Their kind and rules, and whom they concern."""
        first = self.changes[0]
        rules = ", ".join(dict.fromkeys(change.rule for change in self.changes))
        where = ", ".join(dict.fromkeys(name for change in self.changes for name in change.scenarios)) or first.guard
        return f"{first.kind.label} ({rules}){f': {where}' if where else ''}"


@dataclass(frozen=True, slots=True)
class Told:
    """A change that is told, and what else changes in the same quantity, the weaker differences."""

    position: int
    change: Change
    also: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """The changes of a report by how much of them is told; positions count from 1 over all of them."""

    told: tuple[Told, ...]
    outside: tuple[Group, ...]
    harmless: tuple[Group, ...]
    is_full: bool


def digest_of(report: DiffReport, *, full: bool = False) -> Digest:
    """What affects a scenario is told; what shows outside them, or makes no difference, is folded."""
    numbered = list(enumerate(report.changes, 1))
    if full or len(numbered) <= _FEW:
        return Digest(tuple(Told(*item) for item in numbered), (), (), is_full=full)
    # What is the same in every scenario is said of the quantity as a whole.
    harmless = [item for item in numbered if item[1].kind < Kind.ROUNDING and not _is_same(report, item[1].quantity)]
    serious = [item for item in numbered if item[1].kind >= Kind.ROUNDING]
    return Digest(
        told=_told([item for item in serious if _is_told(item[1])]),
        outside=_grouped(item for item in serious if not _is_told(item[1])),
        harmless=_grouped(harmless),
        is_full=False,
    )


def _is_same(report: DiffReport, quantity: str) -> bool:
    kinds = report.verdicts.get(quantity, {}).values()
    return bool(kinds) and max(kinds) < Kind.ROUNDING


def _is_told(change: Change) -> bool:
    return bool(change.scenarios) or change.kind is Kind.LOST


def _told(changes: Sequence[Numbered]) -> tuple[Told, ...]:
    """The strongest change of each quantity, with the others beside it."""
    first: dict[str, Numbered] = {}
    for item in changes:
        first.setdefault(item[1].quantity, item)
    others = [item for item in changes if item is not first[item[1].quantity]]
    also = _grouped(others, lambda change: (change.quantity, change.kind))
    return tuple(
        Told(*item, tuple(group for group in also if group.quantity == quantity)) for quantity, item in first.items()
    )


def _condition(change: Change) -> tuple[object, ...]:
    return (change.quantity, change.kind, change.guard, change.scenarios)


def _grouped(
    changes: Iterable[Numbered], key: Callable[[Change], tuple[object, ...]] = _condition
) -> tuple[Group, ...]:
    groups: dict[tuple[object, ...], list[Numbered]] = {}
    for position, change in changes:
        groups.setdefault(key(change), []).append((position, change))
    return tuple(
        Group(_positions([position for position, _ in items]), tuple(change for _, change in items))
        for items in groups.values()
    )


def _positions(numbers: list[int]) -> str:
    """``3``, ``3-5`` or ``3, 7-9``."""
    runs: list[list[int]] = []
    for value in numbers:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
