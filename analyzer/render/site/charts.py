"""A quantity over the releases as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, log10
from typing import Final

from markupsafe import Markup, escape

_WIDTH: Final = 900
_HEIGHT: Final = 350
_LEFT: Final = 78
_RIGHT: Final = 12
_TOP: Final = 12
_BOTTOM: Final = 84
_TICKS: Final = 5
_LABELS: Final = 22


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a value for each release, None where there is none."""

    label: str
    values: tuple[float | None, ...]
    line: int
    dashed: bool = False


def draw_chart(title: str, releases: Sequence[str], lines: Sequence[Line], *, from_zero: bool) -> Markup:
    """The lines over the releases."""
    known = [value for line in lines for value in line.values if value is not None]
    low, high, step = _scale(known, from_zero=from_zero)
    frame = _Frame(len(releases), low, high)
    parts = [f"<title>{escape(title)}</title>"]
    count = round((high - low) / step)
    for number in range(count + 1):
        value = low + number * step
        parts.append(
            f'<path class="axis" d="M{_LEFT} {frame.y(value)}H{_WIDTH - _RIGHT}"></path>'
            f'<text x="{_LEFT - 8}" y="{frame.y(value) + 4:g}" text-anchor="end">{_number(value)}</text>'
        )
    every = max(1, -(-len(releases) // _LABELS))
    for place, name in enumerate(releases):
        if place % every == 0:
            x = frame.x(place)
            y = _HEIGHT - _BOTTOM + 14
            parts.append(
                f'<text x="{x:g}" y="{y}" text-anchor="end" transform="rotate(-40 {x:g} {y})">{escape(name)}</text>'
            )
    parts += [_draw(line, releases, frame) for line in lines]
    return Markup(f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-size="13">{"".join(parts)}</svg>')  # noqa: S704 - every text is escaped where it is written


class _Frame:
    """Where a release and a value are in the drawing."""

    def __init__(self, count: int, low: float, high: float) -> None:
        self._width = (_WIDTH - _LEFT - _RIGHT) / max(count - 1, 1)
        self._low = low
        self._height = (_HEIGHT - _TOP - _BOTTOM) / ((high - low) or 1)

    def x(self, place: int) -> float:
        """The position of a release."""
        return round(_LEFT + place * self._width, 1)

    def y(self, value: float) -> float:
        """The position of a value."""
        return round(_HEIGHT - _BOTTOM - (value - self._low) * self._height, 1)


def _draw(line: Line, releases: Sequence[str], frame: _Frame) -> str:
    style = f"line-{line.line}{' dashed' if line.dashed else ''}"
    parts = []
    indexed = list(enumerate(line.values))
    for is_known, group in groupby(indexed, key=lambda item: item[1] is not None):
        if not is_known:
            continue
        points = [(place, value) for place, value in group if value is not None]
        first, *rest = points
        # A release keeps its value until the next one.
        path = f"M{frame.x(first[0])} {frame.y(first[1])}"
        path += "".join(f"H{frame.x(place)}V{frame.y(value)}" for place, value in rest)
        parts.append(f'<path class="{style}" d="{path}"></path>')
        parts += [
            f'<circle class="{style}" cx="{frame.x(place)}" cy="{frame.y(value)}" r="2.5">'
            f"<title>{escape(releases[place])}: {value:,.10g}</title></circle>"
            for place, value in points
        ]
    return "".join(parts)


def _scale(values: Sequence[float], *, from_zero: bool) -> tuple[float, float, float]:
    """The ends of the axis and the distance of its lines."""
    if not values:
        return 0.0, 1.0, 0.5
    low = min(0.0, *values) if from_zero else min(values)
    high = max(*values, low) if len(values) > 1 else max(values[0], low)
    size = (high - low) or abs(high) or 1.0
    raw = size / _TICKS
    power = 10.0 ** floor(log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    return floor(low / step) * step, -floor(-high / step) * step or step, step


def _number(value: float) -> str:
    if abs(value) >= 1_000_000:  # noqa: PLR2004 - from here on in millions
        return f"{value / 1_000_000:g} M"
    return f"{value / 1000:g} k" if abs(value) >= 1000 else f"{round(value, 6):g}"  # noqa: PLR2004 - and in thousands
