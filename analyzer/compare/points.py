"""Values worth trying for each input: plausible sizes, and whatever the formulas ask about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, Final

from analyzer.domain.iteration import is_clause
from analyzer.domain.operators import TYPES
from analyzer.domain.report import Value
from analyzer.domain.rules import Domain, SymbolRule
from analyzer.domain.semantics import Off
from analyzer.domain.terms import UNSET, Apply, Atom, Conditional, Constant, Opaque, Symbol, Term, constant, walk

# What one graphics card has, in GiB: free sizes from 8 GB to 192 GB cards.
MEMORY_SIZES: Final = (94.0, 79.0, 60.0, 140.0, 39.5, 22.0, 178.0, 15.0, 7.5)
AFTER_LOADING: Final = 60.0
_INTEGERS: Final = (8, 1000, 1, 2, 3, 4, 5, 16, 64, 128, 4096, 100_000, 5_000_000)
_REALS: Final = (0.5, 0.25, 1.0, 2.0, 10.0, 64.0)
_GUESSES: Final = (8, 1, 2, 3, 5, 64, 4096, 60 << 30)
# What a driver reports are sizes in bytes.
_READINGS: Final = (60 << 30, 8, 1, 5)
_OPERATORS: Final = frozenset({"+", "-", "*", "/", "//", "%", "neg", "**", "<<", ">>"})
_FUNCTIONS: Final = frozenset({"int", "float", "round", "abs", "ceil", "floor", "float32", "min", "max", "sum"})
_ARITHMETIC: Final = _OPERATORS | _FUNCTIONS | {"gcd", "lcm", "bit_length"}
_ORDER: Final = frozenset({"<", "<=", ">", ">="})
_EQUAL: Final = frozenset({"==", "!=", "is", "is not"})
_MEMBERSHIP: Final = frozenset({"in", "not in"})
_TEXT: Final = frozenset({"upper", "lower", "strip", "str", "startswith", "endswith"})
_LIKELY: Final = 0.7
# What is unpacked: sizes in bytes as a driver reports them, and small counts.
_SEQUENCES: Final = ((60 << 30, 94 << 30, 9, 4), (8, 1, 2, 5), (1 << 30, 22 << 30, 7, 3))
_MAX_EDGES: Final = 20

Key = str
Point = dict[Key, Any]


@dataclass(slots=True)
class _Usage:
    """How the formulas use one input that no rule declares."""

    numeric: bool = False
    optional: bool = False
    truth: bool = False
    sequence: bool = False
    literals: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a pair of formulas: where it starts and what else to try.

    `instead` is what it may be worth in truth where it is only taken for what it starts as.
    """

    key: Key
    base: Any
    candidates: tuple[Any, ...]
    integer: bool
    low: float | None
    high: float | None
    instead: tuple[Any, ...] = ()

    def pick(self, random: Random) -> Any:
        """A value: mostly a candidate, sometimes anything of the range."""
        low, high = self.low, self.high
        if low is None or high is None or high <= low or random.random() < _LIKELY:
            return random.choice(self.candidates)
        if not self.integer:
            return round(random.uniform(low, high), 3)
        if low < 0:
            return random.randint(int(low), int(high))
        # Small numbers are as telling as large ones.
        first = max(1, low)
        return int(min(high, first * (high / first) ** random.random()))

    def clip(self, value: Any) -> Any | None:
        """`value` in the type and range of the input, None where it does not fit."""
        if self.integer:
            value = int(value) if value == int(value) else None
        below = value is not None and self.low is not None and value < self.low
        above = value is not None and self.high is not None and value > self.high
        return None if below or above else value


@dataclass(frozen=True, slots=True)
class Space:
    """Everything a pair of formulas can be evaluated on.

    `edges` are pairs of terms whose equality is a place where something switches.
    """

    inputs: tuple[Input, ...]
    edges: tuple[tuple[Term, Term], ...]

    def base(self) -> Point:
        """The plausible point that witnesses start from."""
        return {item.key: item.base for item in self.inputs}


class SpaceBuilder:
    """Collects the inputs of two formulas and the values that they ask about."""

    def __init__(
        self, symbols: Mapping[str, SymbolRule], preferred: Mapping[str, Value], identify: Callable[[Opaque], Key]
    ) -> None:
        self._symbols = symbols
        self._preferred = preferred
        self._identify = identify
        self._sources: dict[Term, dict[Symbol | Opaque, None]] = {}

    def build(self, before: Term, after: Term) -> Space:
        """The space of the pair; what only one side asks about comes first."""
        first, second = dict.fromkeys(walk(before)), dict.fromkeys(walk(after))
        own = [term for term in (*first, *second) if (term in first) != (term in second)]
        shared = [term for term in first if term in second]
        self._sources = _sources((*first, *second))
        usage: dict[Key, _Usage] = {}
        edges: dict[tuple[Term, Term], None] = {}
        for term in (*own, *shared):
            self._note(term, usage, edges)
        inputs = {self._key(term): term for term in (*first, *second) if isinstance(term, Symbol | Opaque)}
        built = tuple(
            _absent(key) if term is UNSET else self._input(key, usage.get(key, _Usage()), guesses=_guesses(term))
            for key, term in sorted(inputs.items())
        )
        return Space(built, tuple(edges)[:_MAX_EDGES])

    def _key(self, term: Term) -> Key:
        if isinstance(term, Symbol):
            return term.name
        assert isinstance(term, Opaque)
        return self._identify(term)

    def _note(self, term: Term, usage: dict[Key, _Usage], edges: dict[tuple[Term, Term], None]) -> None:
        if isinstance(term, Conditional):
            self._mark(term.guard, usage, truth=True)
        if not isinstance(term, Apply):
            return
        op, args = term.op, term.args
        if op == "item" and isinstance(args[0], Symbol | Opaque):
            usage.setdefault(self._key(args[0]), _Usage()).sequence = True
        for arg in args:
            self._mark(arg, usage, numeric=op in _ARITHMETIC or op in _ORDER, truth=op in ("bool", "not", "and", "or"))
        if op in _ORDER or (op in ("min", "max") and len(args) > 1) or op in ("==", "!="):
            edges.update(dict.fromkeys(pairwise(args)))
        for one, other in (args, args[::-1]) if len(args) == 2 else ():  # noqa: PLR2004 - a pair
            self._note_literal(op, one, other, usage)

    def _mark(self, term: Term, usage: dict[Key, _Usage], *, numeric: bool = False, truth: bool = False) -> None:
        for leaf in _input_leaves(term):
            entry = usage.setdefault(self._key(leaf), _Usage())
            entry.numeric |= numeric
            entry.truth |= truth

    def _note_literal(self, op: str, one: Term, other: Term, usage: dict[Key, _Usage]) -> None:
        """A literal that an input is held against is a value to try."""
        if not isinstance(other, Constant | Atom):
            return
        value = other.value if isinstance(other, Constant) else other
        if value is not None and (op in _EQUAL or (op in _MEMBERSHIP and isinstance(value, str))):
            for source in self._sources.get(one, ()):
                usage.setdefault(self._key(source), _Usage()).literals.append((value,))
        for leaf in _input_leaves(one):
            entry = usage.setdefault(self._key(leaf), _Usage())
            if value is None:
                entry.optional |= op in _EQUAL
            elif op == "isinstance":
                entry.literals += [kind() for name, kind in TYPES.items() if name == value]
            elif op in _MEMBERSHIP:
                entry.literals.append((value,) if one is not leaf or isinstance(value, str) else value)
            elif op in _EQUAL or op in _TEXT or op in _ORDER or op in ("min", "max", "%", "//"):
                entry.literals.append(value)

    def _input(self, key: Key, usage: _Usage, *, guesses: tuple[int, ...]) -> Input:
        rule = self._symbols.get(key)
        if rule is None:
            return _undeclared(key, usage, self._preferred, guesses)
        declared = rule.domain
        values = [*declared.choices, *_typical(declared)]
        if key == "available_gpu_memory" and declared.low <= AFTER_LOADING <= declared.high:
            # After loading weights there is less free memory than before.
            values.insert(0, AFTER_LOADING)
        values += [near for literal in usage.literals for near in _around(literal, declared)]
        optional = declared.optional
        base: Any = values[0] if values else None
        if key in self._preferred:
            base = self._preferred[key]
            values.insert(0, base)
        elif optional:
            base = None
        if optional:
            values.append(None)
        numeric = declared.kind in ("integer", "real", "memory")
        low, high = (declared.low, declared.high) if numeric and declared.high > declared.low else (None, None)
        return Input(key, base, _distinct(values or [None]), declared.kind == "integer", low, high)


def _absent(key: Key) -> Input:
    """What no model is known to set, which does not say that none does."""
    return Input(key, Off(key), (Off(key),), integer=False, low=None, high=None, instead=_GUESSES)


def _guesses(term: Term) -> tuple[int, ...]:
    """Numbers to try for an input that no rule declares."""
    match term:
        case Opaque("item", (Opaque(), *_)):
            return _READINGS
        case _:
            return _GUESSES


def _undeclared(key: Key, usage: _Usage, preferred: Mapping[str, Value], guesses: tuple[int, ...]) -> Input:
    if usage.sequence:
        return Input(key, _SEQUENCES[0], _SEQUENCES, integer=False, low=None, high=None)
    values: list[Any] = [preferred[key]] if key in preferred else []
    numbers = [value for value in usage.literals if isinstance(value, int | float) and not isinstance(value, bool)]
    numeric = usage.numeric or bool(numbers)
    if usage.optional or usage.truth or not numeric:
        values.append(Off(key))
    if numeric:
        values += [near for value in numbers for near in (value, value + 1, value - 1)]
        values += guesses
    else:
        values += [value for value in usage.literals if value not in numbers]
        values += [True] if usage.truth or not values[1:] else []
    return Input(key, values[0], _distinct(values), numeric, None, None)


def _input_leaves(term: Term) -> list[Symbol | Opaque]:
    """The inputs that `term` is, through conditionals and changes of case."""
    found: list[Symbol | Opaque] = []
    stack, seen = [term], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case Symbol() | Opaque():
                found.append(node)
            case Conditional(_, then, otherwise):
                stack += (otherwise, then)
            case Apply(op, args) if op in _TEXT or op in ("int", "float", "rank_min"):
                stack.append(args[0])
            case _:
                pass
    return found


def _sources(terms: Iterable[Term]) -> dict[Term, dict[Symbol | Opaque, None]]:
    """The inputs that each loop variable, and each first element, takes its values from."""
    found: dict[Term, dict[Symbol | Opaque, None]] = {}
    for term in terms:
        if is_clause(term):
            variable, iterable, *_ = term.args
            found.setdefault(variable, {}).update(dict.fromkeys(_input_leaves(iterable)))
        elif isinstance(term, Opaque) and term.name == "item" and term.args[1:] == (constant(0),):
            found.setdefault(term, {}).update(dict.fromkeys(_input_leaves(term.args[0])))
    return found


def typical_values(domain: Domain) -> tuple[Any, ...]:
    """Values of `domain` to try where no formula tells which ones matter."""
    return (*domain.choices, *_typical(domain), *((None,) if domain.optional else ()))


def _typical(domain: Domain) -> Sequence[Any]:
    if domain.kind == "boolean":
        return (False, True)
    if domain.kind == "memory":
        return [size for size in MEMORY_SIZES if domain.low <= size <= domain.high]
    if domain.kind == "integer":
        inside = [value for value in _INTEGERS if domain.low <= value <= domain.high]
        return [*inside, *dict.fromkeys((int(domain.low), int(domain.high)))]
    if domain.kind == "real":
        inside_real = [value for value in _REALS if domain.low <= value <= domain.high]
        return [*inside_real, domain.low, domain.high, (domain.low + domain.high) / 2]
    return ()


def _around(literal: Any, domain: Domain) -> list[Any]:
    if isinstance(literal, bool) or not isinstance(literal, int | float):
        return [literal] if domain.kind not in ("integer", "real", "memory", "boolean") else []
    step = 1 if domain.kind == "integer" else max(abs(literal), 1) / 1024
    near = [literal, literal - step, literal + step] if domain.kind in ("integer", "real", "memory") else []
    return [int(v) if domain.kind == "integer" else v for v in near if domain.low <= v <= domain.high]


def _distinct(values: Sequence[Any]) -> tuple[Any, ...]:
    kept: dict[tuple[str, str], Any] = {}
    for value in values:
        kept.setdefault((type(value).__name__, repr(value) if not isinstance(value, Off) else value.name), value)
    return tuple(kept.values())
