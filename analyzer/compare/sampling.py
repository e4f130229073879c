"""Looking for inputs under which two formulas differ: seeded, exact, replayed with floats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any, Final

from analyzer.compare.points import Input, Key, Point, Space
from analyzer.compare.steering import Steering, routes
from analyzer.domain.iteration import is_computable, iterate
from analyzer.domain.notation import to_text
from analyzer.domain.report import Value, Witness
from analyzer.domain.semantics import Evaluator, MissingInputError, Off, RaisedError
from analyzer.domain.terms import Atom, Opaque, Scalar, Symbol, Term, walk

_SEED: Final = 20_231_117
_RANDOM_POINTS: Final = 110
_PLAIN_POINTS: Final = 24
_EDGE_ROUNDS: Final = 2
_EDGE_STARTS: Final = 3
_INPUTS_PER_EDGE: Final = 2
_ENOUGH: Final = 6
# Points times nodes of the formulas: a few tenths of a second at most for a pair.
_WORK: Final = 100_000
_FEWEST_POINTS: Final = 90
_MOST_POINTS: Final = 900
_LONGER: Final = 4
# Below this, two floats differ by the order of their operations only.
_NOISE: Final = 1e-9
# Which of several values of an input that only one side has an answer must survive.
_UNKNOWN_TRIED: Final = 3
_MOST_RESETS: Final = 60
_BEFORE_LOADING: Final = "pre_model_load_memory"
_AFTER_LOADING: Final = "available_gpu_memory"


@dataclass(frozen=True, slots=True)
class Raised:
    """The value of a term at a point where it raises."""

    exception: str


MISSING: Final = Raised("")
"""The value of a term that cannot be computed at a point."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A point where the sides differ, exactly and with floats."""

    point: Mapping[Key, Any]
    read: tuple[Key, ...]
    before: Any
    after: Any

    @property
    def size(self) -> float:
        """How far apart the sides are; infinite when one of them is no number."""
        if is_number(self.before) and is_number(self.after):
            return float(abs(self.after - self.before))
        return float("inf")

    @property
    def relative(self) -> float:
        """The distance as a share of the first side."""
        return self.size / max(abs(self.before), 1e-12) if self.size != float("inf") else float("inf")


class Sampler:
    """Evaluates two formulas on points of their space and keeps where they differ."""

    def __init__(
        self,
        pair: tuple[Term, Term],
        space: Space,
        keys: Mapping[Opaque, Key],
        unknown: frozenset[Key],
        hints: Sequence[Mapping[Key, Any]] = (),
    ) -> None:
        self._pair = pair
        self._space = space
        self._keys = keys
        self._unknown = unknown
        self._hints = tuple(hints)
        self._inputs = {item.key: item for item in space.inputs}
        self._base = space.base()
        self._edge_inputs: dict[tuple[Term, Term], list[Input]] = {}
        self._evaluators = {exact: Evaluator(exact=exact) for exact in (True, False)}
        self._guard_inputs: dict[Term, tuple[Key, ...]] = {}
        self._guards: dict[tuple[Any, ...], bool | None] = {}
        self._computable = frozenset(call for call in keys if is_computable(call))
        self.tried = 0
        nodes = sum(1 for _ in walk(*pair))
        self._allowance = max(_FEWEST_POINTS, min(_MOST_POINTS, _WORK // nodes))

    def search(self, *, exhaustive: bool = False, exact: bool = True, points: int | None = None) -> list[Difference]:
        """Where the sides differ on the first `points`: all places when `exhaustive`, else enough of them."""
        return self._look(0, points or self._allowance, exhaustive=exhaustive, exact=exact)

    def search_on(self) -> list[Difference]:
        """Where the sides differ on points that `search` has not tried."""
        return self._look(self._allowance, _LONGER * self._allowance, exhaustive=False, exact=True)

    def _look(self, first: int, last: int, *, exhaustive: bool, exact: bool) -> list[Difference]:
        found: list[Difference] = []
        self.tried = 0
        for point in islice(self._points(), first, last):
            self.tried += 1
            difference = self.difference(point, exact=exact)
            if difference is not None:
                found.append(difference)
                if len(found) >= _ENOUGH and not exhaustive:
                    break
        return found

    def at(self, inputs: Mapping[Key, Any]) -> Difference | None:
        """The difference where `inputs` are worth what is given and others are at their base, if there is one."""
        return self.difference(self._hinted(inputs))

    def has_values(self) -> bool:
        """Whether the formulas give a value at any of the points that `search` looks at."""
        points = islice(self._points(), self._allowance)
        return any(not all(_raising(self._evaluate(point, exact=False))) for point in points)

    def difference(self, point: Point, *, exact: bool = True) -> Difference | None:
        """The difference at `point`, if the sides differ there whatever the unknowns are."""
        truth = self._evaluate(point, exact=True) if exact else None
        if truth is not None and not differ(*truth):
            return None
        read: dict[Key, None] = {}
        before, after = self._evaluate(point, exact=False, read=read)
        if not differ(before, after) or _is_noise((before, after), truth):
            return None
        if not self._unknown.isdisjoint(read) and not self._certain(point, read, (before, after)):
            return None
        return Difference(dict(point), tuple(read), before, after)

    def _certain(self, point: Point, read: Mapping[Key, None], here: tuple[Any, Any]) -> bool:
        """Whether the sides differ whatever the inputs are that only one of them knows."""
        unknown = sorted(self._unknown.intersection(read))
        for turn in range(_UNKNOWN_TRIED):
            other = dict(point)
            for key in unknown:
                candidates = self._inputs[key].candidates + self._inputs[key].instead
                other[key] = candidates[turn % len(candidates)]
            there = self._evaluate(other, exact=False)
            if there != here and (_raising(there) != _raising(here) or not any(_raising(there))):
                return False
        return True

    def _evaluate(
        self,
        point: Point,
        *,
        exact: bool,
        read: dict[Key, None] | None = None,
        pair: tuple[Term, Term] | None = None,
    ) -> tuple[Any, Any]:
        known: dict[Term, Any] = {}
        evaluator = self._evaluators[exact]

        def lookup(term: Symbol | Opaque) -> Any:
            if term in self._computable:
                computed = iterate(term, lookup, evaluator)
                if not isinstance(computed, Off):
                    return computed
            key = self._key(term)
            if read is not None:
                read[key] = None
            value = point[key]
            return Fraction(repr(value)) if exact and isinstance(value, float) else value

        def side(term: Term) -> Any:
            try:
                return evaluator.value(term, lookup, known)
            except RaisedError as error:
                return Raised(error.exception)
            except (MissingInputError, OverflowError, TypeError, ValueError):
                return MISSING

        before, after = pair or self._pair
        return side(before), side(after)

    def _points(self) -> Iterator[Point]:
        """Plausible points first, then the ways to where the sides part, edges, and chance."""
        random = Random(_SEED)  # noqa: S311 - the same points every time, nothing secret
        yield dict(self._base)
        yield from islice(self._variations(self._base), _PLAIN_POINTS)
        hinted = [self._hinted(hint) for hint in self._hints]
        yield from hinted
        starts = [self._base, *self._steered(random, hinted)]
        yield from starts[1:]
        ways = [self._variations(start) for start in starts]
        ways += [self._edge_points(start, random) for start in starts[:_EDGE_STARTS]]
        ways.append(self._random_points(random, starts))
        yield from _alternating(ways)

    def _hinted(self, hint: Mapping[Key, Any]) -> Point:
        return {key: hint.get(key, value) for key, value in self._base.items()}

    def _steered(self, random: Random, hinted: list[Point]) -> list[Point]:
        """Points that reach places which only one side has, from the base or from where others differed."""
        steering = Steering(self._inputs, self._key, self._holds)
        found: dict[str, Point] = {}
        for route in routes(*self._pair):
            for start in (self._base, *hinted[-1:]):
                point = steering.steer(start, route, random)
                found.setdefault(repr(point), point)
        return [point for point in found.values() if point != self._base]

    def _key(self, term: Symbol | Opaque) -> Key:
        return term.name if isinstance(term, Symbol) else self._keys[term]

    def _holds(self, guard: Term, point: Point) -> bool | None:
        if guard not in self._guard_inputs:
            keys = {self._key(term) for term in walk(guard) if isinstance(term, Symbol | Opaque)}
            self._guard_inputs[guard] = tuple(sorted(keys))
        # Steering changes one input at a time, and most guards do not read it.
        here = (guard, *((type(point[key]), point[key]) for key in self._guard_inputs[guard]))
        if here not in self._guards:
            value = self._evaluate(point, exact=True, pair=(guard, guard))[0]
            self._guards[here] = None if isinstance(value, Raised) else bool(value)
        return self._guards[here]

    def _variations(self, start: Point) -> Iterator[Point]:
        """One input at a time, the telling values of every input before the rest."""
        longest = max((len(item.candidates) for item in self._space.inputs), default=0)
        for position in range(longest):
            for item in self._space.inputs:
                if position < len(item.candidates) and item.candidates[position] is not start[item.key]:
                    yield {**start, item.key: item.candidates[position]}

    def _random_points(self, random: Random, starts: list[Point]) -> Iterator[Point]:
        for number in range(_RANDOM_POINTS):
            point = self._random_point(random, number, starts[number % len(starts)])
            if self._plausible(point):
                yield point
                if number % (_RANDOM_POINTS // _EDGE_ROUNDS) == 0:
                    yield from self._edge_points(point, random)

    def _random_point(self, random: Random, number: int, start: Point) -> Point:
        """Every input anywhere, or a few off the start."""
        if number % 2:
            return {item.key: item.pick(random) for item in self._space.inputs}
        point = dict(start)
        many = random.randint(2, 5)
        for item in random.sample(self._space.inputs, min(many, len(self._space.inputs))):
            point[item.key] = item.pick(random)
        return point

    def _plausible(self, point: Mapping[Key, Any]) -> bool:
        """Loading weights leaves no more memory than there was."""
        left: Any = point.get(_AFTER_LOADING)
        before: Any = point.get(_BEFORE_LOADING)
        return not (is_number(left) and is_number(before)) or bool(left <= before)

    def _edge_points(self, start: Point, random: Random) -> Iterator[Point]:
        """Points on, just below and just above the places where something switches."""
        for left, right in self._space.edges:
            read = self._numeric_inputs(left, right, start)
            for item in random.sample(read, min(_INPUTS_PER_EDGE, len(read))):
                root = self._root(left, right, start, item)
                if root is None:
                    continue
                step = 1 if item.integer else max(abs(root), 1) / 4096
                for value in (root, root - step, root + step):
                    clipped = item.clip(value)
                    if clipped is not None:
                        yield {**start, item.key: clipped}

    def _numeric_inputs(self, left: Term, right: Term, start: Point) -> list[Input]:
        """The inputs along which the two can be brought together."""
        if (left, right) not in self._edge_inputs:
            keys = {self._key(term) for term in walk(left, right) if isinstance(term, Symbol | Opaque)}
            self._edge_inputs[left, right] = [self._inputs[key] for key in sorted(keys)]
        return [item for item in self._edge_inputs[left, right] if is_number(start[item.key])]

    def _root(self, left: Term, right: Term, start: Point, item: Input) -> Any | None:
        """Where `left` equals `right` along one input, taking both for straight lines."""
        here = start[item.key]
        there = next((v for v in item.candidates if is_number(v) and v != here), None)
        if there is None:
            return None
        first, second = (self._gap(left, right, {**start, item.key: value}) for value in (here, there))
        if first is None or second is None or first == second:
            return None
        exact_here, exact_there = Fraction(here), Fraction(there)
        root = exact_here - first * (exact_there - exact_here) / (second - first)
        return round(root) if item.integer else float(root)

    def _gap(self, left: Term, right: Term, point: Point) -> Fraction | None:
        one, other = self._evaluate(point, exact=True, pair=(left, right))
        return Fraction(one) - Fraction(other) if is_number(one) and is_number(other) else None

    def probe(self, difference: Difference) -> Callable[[Term], Any]:
        """What any part of the pair is worth where the sides differ."""

        def worth(term: Term) -> Any:
            return self._evaluate(dict(difference.point), exact=False, pair=(term, term))[0]

        return worth

    def minimal(self, difference: Difference) -> Difference:
        """The same difference with as many inputs as possible back at the base point.

        Groups go back at once and are halved where the difference would get lost.
        """
        best = self._settled(difference, self._off_base(difference)) or difference
        groups = [self._off_base(best)]
        for _ in range(_MOST_RESETS):
            if not groups:
                break
            group = [key for key in groups.pop() if key in self._off_base(best)]
            fewer = self._settled(best, group) if group else None
            if fewer is not None:
                best = fewer
            elif len(group) > 1:
                groups += [group[len(group) // 2 :], group[: len(group) // 2]]
        return self._rounder(best)

    def _off_base(self, difference: Difference) -> list[Key]:
        """The inputs that were read and are not what they are at the base point."""
        read = set(difference.read)
        return [key for key in self._inputs if key in read and difference.point[key] != self._base[key]]

    def _settled(self, difference: Difference, keys: list[Key]) -> Difference | None:
        """The difference with `keys` and all that was not read at the base, if it is still one."""
        read = set(difference.read) - set(keys)
        point = {key: value if key in read else self._base[key] for key, value in difference.point.items()}
        tried = self.difference(point)
        return tried if tried is not None and _as_telling(tried, difference) and self._plausible(point) else None

    def _rounder(self, difference: Difference) -> Difference:
        best = difference
        for key in self._off_base(best):
            item, value = self._inputs[key], best.point[key]
            if isinstance(value, float) and value != round(value, 1) and value != item.base:
                for digits in (0, 1, 2):
                    tried = self.difference({**best.point, item.key: round(value, digits)})
                    if tried is not None and _as_telling(tried, difference):
                        best = tried
                        break
        return best

    def changed(self, difference: Difference) -> int:
        """How many inputs are off the base point."""
        return len(self._off_base(difference))

    def best(self, found: list[Difference]) -> Difference:
        """The difference that is easiest to read: numbers on both sides, few inputs, a clear gap."""
        ranked = sorted((self._with_plausible_memory(difference) for difference in found), key=self._reading)
        return min((self.minimal(difference) for difference in ranked[:2]), key=self._reading)

    def _with_plausible_memory(self, difference: Difference) -> Difference:
        """The same difference on a machine where loading weights left less memory than there was, if there is one."""
        if self._plausible(difference.point):
            return difference
        sizes = [self._inputs[name].candidates for name in (_BEFORE_LOADING, _AFTER_LOADING)]
        pairs = [(before, after) for before in sizes[0] for after in sizes[1] if is_number(before) and after]
        for before, after in pairs:
            point = {**difference.point, _BEFORE_LOADING: before, _AFTER_LOADING: after}
            tried = self.difference(point) if self._plausible(point) else None
            if tried is not None and _as_telling(tried, difference):
                return tried
        return difference

    def _reading(self, difference: Difference) -> tuple[bool, bool, bool, int, float]:
        """How hard a difference is to read; sizes are positive and a change of a tenth is clear enough."""
        numbers = difference.size != float("inf")
        negative = numbers and min(difference.before, difference.after) < 0
        strange = not self._plausible(difference.point)
        return (not numbers, strange, negative, self.changed(difference), -min(difference.relative, 0.1))


def _alternating(ways: list[Iterator[Point]]) -> Iterator[Point]:
    """Points of all `ways` in turn, so that none is starved when the allowance is short."""
    while ways:
        left = []
        for way in ways:
            point = next(way, None)
            if point is not None:
                yield point
                left.append(way)
        ways = left


def _as_telling(tried: Difference, original: Difference) -> bool:
    return tried.size != float("inf") or original.size == float("inf")


def witness_of(difference: Difference, calls: Mapping[Key, Opaque], unset: tuple[str, ...] = ()) -> Witness:
    """The difference as a report shows it."""
    inputs: dict[str, Value] = {}
    for key in sorted(difference.read):
        value = difference.point[key]
        if not isinstance(value, Off):
            name = to_text(calls[key]) if key in calls else key
            inputs[name] = value.name if isinstance(value, Atom) else value
    return Witness(inputs, unset, scalar(difference.before), scalar(difference.after))


def scalar(value: Any) -> Scalar:
    """A side of a witness: a number, a text, or the name of an exception."""
    if isinstance(value, Raised):
        return value.exception
    if isinstance(value, Off):
        return None
    if isinstance(value, Fraction):
        return float(value)
    return value if isinstance(value, int | float | bool | str | None) else repr(value)


def is_number(value: Any) -> bool:
    """Whether a value is a number; Python's truth values are none here."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def differ(before: Any, after: Any) -> bool:
    """Whether two values are known to differ; two that raise do not."""
    if before is MISSING or after is MISSING:
        return False
    if isinstance(before, Raised) or isinstance(after, Raised):
        return not (isinstance(before, Raised) and isinstance(after, Raised))
    return bool(_plain(before) != _plain(after))


def _raising(sides: tuple[Any, Any]) -> tuple[bool, bool]:
    return isinstance(sides[0], Raised), isinstance(sides[1], Raised)


def _plain(value: Any) -> Any:
    return None if isinstance(value, Off) else value


def _is_noise(floats: tuple[Any, Any], truth: tuple[Any, Any] | None) -> bool:
    """Whether two floats differ by the order of their operations, not by what the formulas say."""
    if not all(map(is_number, floats)):
        return False
    try:
        seen = Fraction(floats[1]) - Fraction(floats[0])
        if truth is None:
            return bool(abs(seen) <= _NOISE * max(1, abs(floats[0]), abs(floats[1])))
        real = Fraction(truth[1]) - Fraction(truth[0]) if all(map(is_number, truth)) else seen
    except (OverflowError, ValueError):
        return True
    return bool(abs(seen - real) > abs(real) / 2)
