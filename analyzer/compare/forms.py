"""The nodes of the normal form: numbers as polynomials, choices as ordered decision diagrams.

Nodes are interned in one `Pool`, so two normal forms are equal exactly when they are one object.
`key` is a digest of the content: the same in every process and for both sides of a comparison,
which makes it the order that sums, products and guards are sorted in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import TypeVar, Union

# Whole numbers stay ints: they hash and add an order of magnitude faster than fractions.
Number = Union[int, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """Something a polynomial cannot look into: an input, a rounding, a minimum, a call.

    `low` and `high` are known bounds; None where there is none.
    """

    kind: str
    name: str
    args: tuple[Form, ...]
    integer: bool
    low: Number | None
    high: Number | None
    key: bytes

    @property
    def nonzero(self) -> bool:
        """Whether the factor can be divided by without further ado."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)


# Factors with their exponents, sorted by key; a negative exponent only on a factor that is not zero.
Monomial = tuple[tuple[Factor, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Polynomial:
    """A sum of rational multiples of monomials, sorted by their keys."""

    terms: tuple[tuple[Monomial, Number], ...]
    key: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A value that is no number: None, a bool, a string, a named constant."""

    kind: str
    value: object
    key: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """Any exception; which class it is does not matter to whether two formulas agree."""

    key: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """One yes-no question; `height` is how deeply its arguments nest."""

    kind: str
    name: str
    args: tuple[Form, ...]
    height: int
    key: bytes

    @property
    def order(self) -> tuple[int, bytes]:
        """Where the guard stands in every decision diagram: simple questions first."""
        return (self.height, self.key)


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """`then` where the guard holds, else `otherwise`; guards ascend along every path.

    `fails` tells whether some path ends in a failure.
    """

    guard: Guard
    then: Form
    otherwise: Form
    fails: bool
    key: bytes


Form = Union[Polynomial, Literal, Failure, Branch]
Node = Union[Polynomial, Literal, Failure, Branch, Factor, Guard]
_N = TypeVar("_N", bound=Node)


class Pool:
    """Makes and interns nodes."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[object, ...], Node] = {}
        self._sums: dict[tuple[tuple[Monomial, Number], ...], Polynomial] = {}
        self._heights: dict[Node, int] = {}
        # Terms summed so far: what the algebra costs.
        self.work = 0
        self.true = self.literal("bool", value=True)
        self.false = self.literal("bool", value=False)
        self.none = self.literal("none", None)
        self.failure = self._intern(("failure",), Failure)

    def literal(self, kind: str, value: object) -> Literal:
        """The literal `value`; `kind` keeps strings and named constants apart."""
        return self._intern(("literal", kind, value), lambda key: Literal(kind, value, key))

    def factor(  # noqa: PLR0913 - a factor is all of these
        self,
        kind: str,
        name: str,
        args: Iterable[Form] = (),
        *,
        integer: bool = False,
        low: Number | None = None,
        high: Number | None = None,
    ) -> Factor:
        """The factor of that kind, name and arguments."""
        parts = tuple(args)
        return self._intern(
            ("factor", kind, name, *parts), lambda key: Factor(kind, name, parts, integer, low, high, key)
        )

    def polynomial(self, terms: Mapping[Monomial, Number]) -> Polynomial:
        """The sum of `terms`, without its zeros."""
        kept = [(monomial, _simple(coefficient)) for monomial, coefficient in terms.items() if coefficient]
        if len(kept) > 1:
            kept.sort(key=_monomial_order)
        self.work += 1 + len(kept)
        flat = tuple(kept)
        node = self._sums.get(flat)
        if node is None:
            node = Polynomial(flat, _digest_sum(flat))
            self._sums[flat] = node
        return node

    def guard(self, kind: str, name: str, args: tuple[Form, ...]) -> Guard:
        """The question `kind` about `args`."""
        height = 1 + max((self.height(arg) for arg in args), default=0)
        return self._intern(("guard", kind, name, *args), lambda key: Guard(kind, name, args, height, key))

    def branch(self, guard: Guard, then: Form, otherwise: Form) -> Form:
        """The choice; the caller keeps guards in ascending order."""
        if then is otherwise:
            return then
        fails = _fails(then) or _fails(otherwise)
        return self._intern(("branch", guard, then, otherwise), lambda key: Branch(guard, then, otherwise, fails, key))

    def height(self, node: Node) -> int:
        """How deeply `node` nests."""
        known = self._heights.get(node)
        if known is None:
            known = 1 + max(map(self.height, _parts(node)), default=0)
            self._heights[node] = known
        return known

    def _intern(self, content: tuple[object, ...], make: Callable[[bytes], _N]) -> _N:
        node = self._nodes.get(content)
        if node is None:
            node = make(_digest(content))
            self._nodes[content] = node
        return node  # type: ignore[return-value]  # the first item of `content` names the class


def _fails(form: Form) -> bool:
    return isinstance(form, Failure) or (isinstance(form, Branch) and form.fails)


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Factor() | Guard():
            return node.args
        case Polynomial(terms):
            return tuple(factor for monomial, _ in terms for factor, _ in monomial)
        case Branch(guard, then, otherwise):
            return (guard, then, otherwise)
        case _:
            return ()


def _simple(number: Number) -> Number:
    return number.numerator if number.denominator == 1 else number


def _monomial_order(item: tuple[Monomial, Number]) -> list[tuple[bytes, int]]:
    """The empty monomial, the constant, comes first."""
    return [(factor.key, exponent) for factor, exponent in item[0]]


def _digest_sum(terms: tuple[tuple[Monomial, Number], ...]) -> bytes:
    digest = blake2b(b"sum", digest_size=12)
    for monomial, coefficient in terms:
        for factor, exponent in monomial:
            digest.update(factor.key)
            digest.update(b"%d " % exponent)
        digest.update(f"{coefficient.numerator}/{coefficient.denominator};".encode())
    return digest.digest()


def _digest(content: tuple[object, ...]) -> bytes:
    digest = blake2b(digest_size=12)
    for part in content:
        digest.update(_bytes(part))
        digest.update(b"\0")
    return digest.digest()


def _bytes(part: object) -> bytes:
    if isinstance(part, Polynomial | Literal | Failure | Branch | Factor | Guard):
        return part.key
    if isinstance(part, tuple):
        return b"(" + b",".join(map(_bytes, part)) + b")"
    return repr(part).encode()
