"""A changed default fraction on common machines in words, shared by the formats that people read."""

from __future__ import annotations

from typing import Final

from analyzer.domain.report import MachineFraction
from analyzer.domain.terms import Scalar

FRACTIONS_TITLE: Final = "Default fraction on common machines, for text models"


def by_family(machines: tuple[MachineFraction, ...]) -> list[tuple[str, tuple[MachineFraction, ...]]]:
    """The machines of each group of families with what they are of, which is "" when all are alike."""
    groups: dict[tuple[str, ...], list[MachineFraction]] = {}
    for machine in machines:
        groups.setdefault(machine.scenarios, []).append(machine)
    return [(", ".join(names) if len(groups) > 1 else "", tuple(rows)) for names, rows in groups.items()]


def fraction_table(machines: tuple[MachineFraction, ...]) -> list[tuple[str, ...]]:
    """A head and one row per card, with a column per `tp_size`."""
    ranks = tuple(dict.fromkeys(machine.tp_size for machine in machines))
    cards: dict[str, list[str]] = {}
    for machine in machines:
        cards.setdefault(machine.gpu, []).append(_change(machine))
    return [("", *(f"tp_size {size}" for size in ranks)), *((card, *cells) for card, cells in cards.items())]


def fractions_unchanged(machines: tuple[MachineFraction, ...]) -> str:
    """One sentence where the change shows on none of the machines, else empty."""
    if any(machine.before != machine.after for machine in machines):
        return ""
    cards = list(dict.fromkeys(machine.gpu for machine in machines))
    ranks = " and ".join(str(size) for size in dict.fromkeys(machine.tp_size for machine in machines))
    return f"unchanged on cards of {', '.join(cards)} with tp_size {ranks}"


def _change(machine: MachineFraction) -> str:
    if machine.before == machine.after:
        return f"{_fraction(machine.before)}, unchanged"
    return f"{_fraction(machine.before)} -> {_fraction(machine.after)}"


def _fraction(value: Scalar) -> str:
    return "none" if value is None else value if isinstance(value, str) else f"{value:.4g}"
