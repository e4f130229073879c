"""Reaching the place where two formulas differ: making true the guards that stand before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from analyzer.compare.points import Input, Key, Point
from analyzer.domain.terms import Apply, Conditional, Opaque, Symbol, Term, children, walk

_MAX_PLACES: Final = 6
_MOST_QUESTIONS: Final = 600
_TRIES_PER_GUARD: Final = 12
_MAX_INPUTS_PER_GUARD: Final = 6

Route = tuple[tuple[Term, bool], ...]
Holds = Callable[[Term, Point], "bool | None"]


def routes(before: Term, after: Term) -> list[Route]:
    """For places that only one side has, the guards on the way there and the answers they need."""
    found: dict[Route, None] = {}
    for root, other in ((before, after), (after, before)):
        known = set(walk(other))
        for place in _lowest_apart(root, known):
            found.setdefault(_route(root, place), None)
            if len(found) >= _MAX_PLACES:
                break
    return [route for route in found if route]


def _lowest_apart(root: Term, known: set[Term]) -> Iterator[Term]:
    """Terms of one side only, all of whose operands both sides have."""
    for term in walk(root):
        if term not in known and all(child in known for child in children(term)):
            yield term


def _route(root: Term, place: Term) -> Route:
    """The guards on one way from `root` to `place`."""
    parents: dict[Term, Term] = {}
    queue = [root]
    for term in queue:
        for child in children(term):
            if child not in parents and child is not root:
                parents[child] = term
                queue.append(child)
    steps: list[tuple[Term, bool]] = []
    while place is not root:
        above = parents[place]
        if isinstance(above, Conditional) and place is not above.guard:
            steps.append((above.guard, place is above.then))
        elif isinstance(above, Apply) and above.op in ("and", "or"):
            # The operands before it decide whether this one is looked at.
            steps += [(arg, above.op == "and") for arg in above.args[: above.args.index(place)]]
        place = above
    return tuple(reversed(steps))


class Steering:
    """Moves points until the guards of a route hold."""

    def __init__(self, inputs: dict[Key, Input], keys: Callable[[Symbol | Opaque], Key], holds: Holds) -> None:
        self._inputs = inputs
        self._keys = keys
        self._holds = holds
        self._reads: dict[Term, list[Key]] = {}
        self._questions = _MOST_QUESTIONS

    def steer(self, point: Point, route: Route, random: Random) -> Point:
        """`point` with inputs changed so that the guards of `route` hold, as far as that can be found."""
        for length in range(1, len(route) + 1):
            if not self._hold(route[:length], point):
                found = self._satisfy(point, route[:length], random)
                # Losing an earlier guard is better than never getting past this one.
                point = found or self._satisfy(point, route[length - 1 : length], random) or point
        return point

    def _hold(self, route: Route, point: Point) -> bool:
        """Whether all guards hold; the last one is the likeliest not to."""
        self._questions -= 1
        return self._questions > 0 and all(self._holds(guard, point) is wanted for guard, wanted in reversed(route))

    def _satisfy(self, point: Point, route: Route, random: Random) -> Point | None:
        """A point where the last guard holds and the ones before still do."""
        names = self._read(route[-1][0])
        settled = {key for guard, _ in route[:-1] for key in self._read(guard)}
        names.sort(key=lambda key: (key in settled, key))
        del names[_MAX_INPUTS_PER_GUARD:]
        for key in names:
            for value in self._inputs[key].candidates[:_TRIES_PER_GUARD]:
                if self._hold(route, {**point, key: value}):
                    return {**point, key: value}
        for _ in range(_TRIES_PER_GUARD):
            tried: dict[Key, Any] = {key: self._inputs[key].pick(random) for key in names}
            if self._hold(route, {**point, **tried}):
                return {**point, **tried}
        return None

    def _read(self, guard: Term) -> list[Key]:
        if guard not in self._reads:
            keys = dict.fromkeys(self._keys(term) for term in walk(guard) if isinstance(term, Symbol | Opaque))
            self._reads[guard] = [key for key in keys if key in self._inputs]
        return list(self._reads[guard])
