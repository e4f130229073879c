"""The formula language: hash-consed terms that keep Python's operation order and types.

Two structurally equal terms are the same object, so equality is identity and a formula
is a directed acyclic graph. Constructors here never change what a term computes: they fold
constants and collapse conditionals, nothing else. Algebra lives in `analyzer.compare`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from functools import partial
from typing import Final, TypeVar, Union
from weakref import ref

Scalar = Union[int, float, bool, str, None]


class _Node:
    """Interned base: compared and hashed by identity."""

    __slots__ = ("__weakref__",)


class Constant(_Node):
    """A literal Python scalar."""

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: Scalar

    def __repr__(self) -> str:
        return repr(self.value)


class Atom(_Node):
    """A named constant with no arithmetic: an enum member, a dtype, a class used as a value."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __repr__(self) -> str:
        return self.name


class Symbol(_Node):
    """An input of the formula, by canonical name."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __repr__(self) -> str:
        return self.name


class _Compound(_Node):
    """A term with subterms `args`; `inputs` caches the names of the symbols in it, None until somebody asks."""

    __slots__ = ("args", "inputs")
    args: tuple[Term, ...]
    inputs: frozenset[str] | None


class Apply(_Compound):
    """A Python operator or builtin applied to arguments; `op` is a key of `OPERATORS`."""

    __slots__ = ("op",)
    __match_args__ = ("op", "args")
    op: str

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


class Conditional(_Compound):
    """`then` where `guard` is true, else `otherwise`."""

    # `as_guard` caches `bool()` of the whole, which would otherwise be rebuilt at every use.
    __slots__ = ("as_guard", "guard", "otherwise", "then")
    __match_args__ = ("guard", "then", "otherwise")
    guard: Term
    then: Term
    otherwise: Term
    as_guard: Term | None

    def __repr__(self) -> str:
        return f"({self.then!r} if {self.guard!r} else {self.otherwise!r})"


class Opaque(_Compound):
    """An uninterpreted function of its arguments: what the analysis does not look into."""

    __slots__ = ("name",)
    __match_args__ = ("name", "args")
    name: str

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.args))})"


class Raise(_Node):
    """The outcome of a raise statement; compared by exception class, never by message."""

    __slots__ = ("exception",)
    __match_args__ = ("exception",)
    exception: str

    def __repr__(self) -> str:
        return f"raise {self.exception}"


class Handle(_Node):
    """A value without a formula (object, class, function, module); it never leaves the interpreter."""

    __slots__ = ("key", "kind")
    __match_args__ = ("kind", "key")
    kind: str
    key: str

    def __repr__(self) -> str:
        return f"<{self.kind} {self.key}>"


Term = Union[Constant, Atom, Symbol, Apply, Conditional, Opaque, Raise, Handle]

N = TypeVar("N", bound=_Node)
Pool = dict[object, "ref[N]"]

# One pool for each kind of term, by content. They hold terms weakly, without WeakValueDictionary: looking a term up is
# what this program does most.
_CONSTANTS: Final[Pool[Constant]] = {}
_ATOMS: Final[Pool[Atom]] = {}
_SYMBOLS: Final[Pool[Symbol]] = {}
_OPAQUES: Final[Pool[Opaque]] = {}
_RAISES: Final[Pool[Raise]] = {}
_HANDLES: Final[Pool[Handle]] = {}
_APPLIES: Final[Pool[Apply]] = {}
_CONDITIONALS: Final[Pool[Conditional]] = {}


def _keep(pool: Pool[N], key: object, node: N) -> N:
    pool[key] = ref(node, partial(_forget, pool, key))
    return node


def _forget(pool: Pool[N], key: object, dead: ref[N]) -> None:
    # Its successor may have taken the place already.
    if pool.get(key) is dead:
        del pool[key]


def constant(value: Scalar) -> Constant:
    """The literal `value`; ``1``, ``1.0`` and ``True`` are three different terms."""
    # repr() tells 0.0 from -0.0 and makes every nan the same key.
    key = (type(value), repr(value) if isinstance(value, float) else value)
    known = _CONSTANTS.get(key)
    node = None if known is None else known()
    if node is None:
        node = Constant()
        node.value = value
        _keep(_CONSTANTS, key, node)
    return node


def atom(name: str) -> Atom:
    """The named constant `name`."""
    known = _ATOMS.get(name)
    node = None if known is None else known()
    if node is None:
        node = Atom()
        node.name = name
        _keep(_ATOMS, name, node)
    return node


def symbol(name: str) -> Symbol:
    """The input `name`."""
    known = _SYMBOLS.get(name)
    node = None if known is None else known()
    if node is None:
        node = Symbol()
        node.name = name
        _keep(_SYMBOLS, name, node)
    return node


def opaque(name: str, args: Iterable[Term] = ()) -> Opaque:
    """The uninterpreted function `name` of `args`."""
    arguments = tuple(args)
    key = (name, *map(id, arguments))
    known = _OPAQUES.get(key)
    node = None if known is None else known()
    if node is None:
        node = Opaque()
        node.inputs = None
        node.name = name
        node.args = arguments
        _keep(_OPAQUES, key, node)
    return node


def is_maybe(term: Term) -> bool:
    """Whether `term` is an element that is there under a guard only."""
    return isinstance(term, Apply) and term.op == "maybe"


def raising(exception: str) -> Raise:
    """The outcome of raising the exception class `exception`."""
    known = _RAISES.get(exception)
    node = None if known is None else known()
    if node is None:
        node = Raise()
        node.exception = exception
        _keep(_RAISES, exception, node)
    return node


def handle(kind: str, key: str) -> Handle:
    """The interpreter's reference to something that has no formula."""
    pool_key = (kind, key)
    known = _HANDLES.get(pool_key)
    node = None if known is None else known()
    if node is None:
        node = Handle()
        node.kind = kind
        node.key = key
        _keep(_HANDLES, pool_key, node)
    return node


TRUE: Final = constant(True)  # noqa: FBT003 - the value itself, not a switch
FALSE: Final = constant(False)  # noqa: FBT003 - the same
NONE: Final = constant(None)
# What an attribute is worth that nobody has set.
UNSET: Final = opaque("not set")


def is_absent(term: Term) -> bool:
    """Whether a quantity does not exist: nobody sets it, or it is set to None."""
    return term is UNSET or term is NONE


def raw_apply(op: str, args: Iterable[Term]) -> Apply:
    """`op` applied to `args` with no folding."""
    arguments = tuple(args)
    key = (op, *map(id, arguments))
    known = _APPLIES.get(key)
    node = None if known is None else known()
    if node is None:
        node = Apply()
        node.inputs = None
        node.op = op
        node.args = arguments
        _keep(_APPLIES, key, node)
    return node


def raw_conditional(guard: Term, then: Term, otherwise: Term) -> Conditional:
    """A conditional with no folding."""
    key = (id(guard), id(then), id(otherwise))
    known = _CONDITIONALS.get(key)
    node = None if known is None else known()
    if node is None:
        node = Conditional()
        node.inputs = None
        node.args = (guard, then, otherwise)
        node.guard = guard
        node.then = then
        node.otherwise = otherwise
        node.as_guard = None
        _keep(_CONDITIONALS, key, node)
    return node


def children(term: Term) -> tuple[Term, ...]:
    """The direct subterms of `term`."""
    return term.args if isinstance(term, _Compound) else ()


def walk(*roots: Term) -> Iterator[Term]:
    """Every distinct subterm of `roots`, each once, parents before their first child."""
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        term = stack.pop()
        if id(term) in seen:
            continue
        seen.add(id(term))
        yield term
        stack.extend(reversed(children(term)))


def symbols_of(*roots: Term) -> frozenset[str]:
    """The names of every input that `roots` read."""
    names: frozenset[str] = frozenset()
    for root in roots:
        names |= _inputs(root)
    return names


def with_owners(names: Iterable[str]) -> frozenset[str]:
    """`names` and the records whose attributes they are: ``config.text.heads`` reads ``config``."""
    found = frozenset(names)
    return found | {name.partition(".")[0] for name in found if "." in name}


_NO_INPUTS: Final[frozenset[str]] = frozenset()


def _inputs(root: Term) -> frozenset[str]:
    """The names of the symbols in one term; each subterm is asked once in its life."""
    known = _known_inputs(root)
    if known is not None:
        return known
    stack = [root]
    while stack:
        term = stack[-1]
        waiting = [child for child in children(term) if _known_inputs(child) is None]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        assert isinstance(term, _Compound)
        if term.inputs is None:
            # Most terms read what their largest part reads: then the set is shared, not copied.
            parts = sorted((_known_inputs(child) or _NO_INPUTS for child in children(term)), key=len, reverse=True)
            largest = parts[0] if parts else _NO_INPUTS
            missing = [part for part in parts[1:] if not part <= largest]
            term.inputs = largest.union(*missing) if missing else largest
    found = _known_inputs(root)
    assert found is not None
    return found


def _known_inputs(term: Term) -> frozenset[str] | None:
    if isinstance(term, _Compound):
        return term.inputs
    return frozenset((term.name,)) if isinstance(term, Symbol) else _NO_INPUTS


def post_order(root: Term, known: Container[Term] = ()) -> list[Term]:
    """Every distinct subterm, children before parents; what is `known`, and what only that holds, is left out."""
    done: dict[Term, None] = {}
    stack = [root]
    while stack:
        term = stack[-1]
        if term not in done:
            before = len(stack)
            if isinstance(term, _Compound):
                stack.extend([child for child in term.args if child not in done and child not in known])
            if len(stack) > before:
                continue
            done[term] = None
        stack.pop()
    return list(done)
