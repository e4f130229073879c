"""The interpreter's state: locals, heap, what is assumed on this path, and a pending raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from analyzer.domain.build import conditional, map_leaves
from analyzer.domain.source import Span
from analyzer.domain.terms import FALSE, NONE, TRUE, UNSET, Conditional, Handle, Raise, Term
from analyzer.symbolic.containers import merged_items, merged_keys
from analyzer.symbolic.facts import NO_FACTS

Attributes = dict[str, Term]
Reader = Callable[["State", Term, str], Term]


@dataclass(slots=True)
class Frame:
    """The function being executed.

    `owner` is the key of the class whose method it is, for ``super()``; `closure` the bindings of
    the enclosing function as they were when this one was defined; `calls` the chain of definitions that led here,
    outermost first. `cell` is where on the heap nested functions find the present values of the variables that they
    share with this one, `cells` where this one finds those of the functions around it, outermost first.
    """

    module: str
    path: str
    first_line: int
    qualname: str
    owner: str | None = None
    closure: Mapping[str, Term] = field(default_factory=dict)
    calls: tuple[str, ...] = ()
    cells: tuple[Handle, ...] = ()
    cell: Handle | None = None
    shared: frozenset[str] = frozenset()

    def span(self, line: int, end_line: int | None = None) -> Span:
        """The place of a line relative to the definition."""
        last = line if end_line is None else end_line
        return Span(self.path, self.first_line + line, self.first_line + last)


class State:
    """One symbolic state; `fork` before a branch, `merge` after it."""

    __slots__ = ("_heap", "_is_shared", "dead", "env", "error", "facts", "frame", "guard")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.env: dict[str, Term] = {}
        self._heap: dict[Term, Attributes] = {}
        self._is_shared = False
        self.facts = NO_FACTS
        self.error: Term = NONE
        self.guard: Term = TRUE
        self.dead = False

    @property
    def heap(self) -> Mapping[Term, Attributes]:
        """The attributes that objects were given; it stays what it is when the state is written to after a fork."""
        return self._heap

    def fork(self) -> State:
        """An independent copy; the heap is shared until one side writes."""
        copy = State(self.frame)
        copy.env = dict(self.env)
        copy.share_heap(self)
        copy.facts = self.facts
        copy.error = self.error
        copy.guard = self.guard
        copy.dead = self.dead
        return copy

    def share_heap(self, other: State) -> None:
        """Take over the heap of `other` as it is now."""
        self._heap = other._heap
        self._is_shared = other._is_shared = True

    def become(self, other: State) -> None:
        """Take over the contents of `other`."""
        self.env, self.facts, self.error, self.dead = other.env, other.facts, other.error, other.dead
        self.share_heap(other)

    def put(self, target: Term, attributes: Attributes) -> None:
        """Set all that a heap object holds."""
        if self._is_shared:
            self._heap, self._is_shared = dict(self._heap), False
        self._heap[target] = attributes

    def write(self, target: Term, name: str, value: Term) -> None:
        """Set an attribute of a heap object."""
        self.put(target, {**self._heap.get(target, {}), name: value})

    def assume(self, guard: Term, *, holds: bool) -> None:
        """Record that `guard` is known on this path, and what follows from it."""
        self.facts = self.facts.assuming(guard, holds=holds)

    def decide(self, guard: Term) -> Term:
        """`guard` reduced by what this path assumes."""
        return self.facts.decide(guard)

    def refine(self, term: Term) -> Term:
        """`term` without the branches that this path excludes."""
        return self.facts.refine(term)


def is_cell(target: Term) -> bool:
    """Whether a place on the heap holds the variables that nested functions share with the one around them."""
    return isinstance(target, Handle) and target.kind == "cell"


def raised(error: Term) -> Term:
    """The guard under which a pending error is really one."""
    return map_leaves(error, lambda leaf: TRUE if isinstance(leaf, Raise) else FALSE)


def always_raises(error: Term) -> bool:
    """Whether every outcome of `error` is a raise."""
    seen: set[Term] = set()
    stack = [error]
    while stack:
        node = stack.pop()
        if isinstance(node, Conditional):
            if node not in seen:
                seen.add(node)
                stack += (node.then, node.otherwise)
        elif not isinstance(node, Raise):
            return False
    return True


def merge(guard: Term, then: State, otherwise: State, read: Reader, unbound: Callable[[str], Term]) -> State:
    """The state that is `then` where `guard` holds and `otherwise` elsewhere.

    A side that raised is dead: only its error survives, and the other side may assume that it did
    not happen. `read` supplies an attribute that one side never wrote.
    """
    if then.dead or otherwise.dead:
        return _merge_dead(guard, then, otherwise)
    merged = State(then.frame)
    merged.share_heap(then)
    merged.guard = otherwise.guard
    merged.error = conditional(guard, then.error, otherwise.error)
    merged.env = _merge_env(guard, then, otherwise, unbound)
    for target in _touched(then.heap, otherwise.heap):
        left, right = then.heap.get(target), otherwise.heap.get(target)
        made = _made_on_one_side(target, left, right, (then, otherwise), read)
        if made is not None:
            merged.put(target, made)
            continue
        attributes: Attributes = {}
        for name in {**(left or {}), **(right or {})}:
            a = left[name] if left is not None and name in left else read(then, target, name)
            b = right[name] if right is not None and name in right else read(otherwise, target, name)
            attributes[name] = _merge_content(target, name, guard, (a, b))
        merged.put(target, attributes)
    merged.facts = then.facts.common(otherwise.facts)
    return merged


def _touched(then: Mapping[Term, Attributes], otherwise: Mapping[Term, Attributes]) -> list[Term]:
    """What only one side has on its heap, or has written to."""
    if then is otherwise:
        return []
    changed = [target for target, attributes in then.items() if otherwise.get(target) is not attributes]
    return changed + [target for target in otherwise if target not in then]


_CONTENT = {"list": "items", "dict": "keys"}


def _container_kind(target: Term) -> str:
    """Whether a heap object is a list or a dict; "" for anything else."""
    kind = target.key.rsplit(":", 1)[-1] if isinstance(target, Handle) and target.kind == "object" else ""
    return kind if kind in _CONTENT else ""


def _made_on_one_side(
    target: Term, left: Attributes | None, right: Attributes | None, sides: tuple[State, State], read: Reader
) -> Attributes | None:
    """What a container holds that only one branch has made: nobody on the other one can get at it."""
    kind = _container_kind(target)
    if not kind or (left is not None and right is not None):
        return None
    absent = sides[0] if left is None else sides[1]
    return (left or right) if read(absent, target, _CONTENT[kind]) is UNSET else None


def _merge_content(target: Term, name: str, guard: Term, values: tuple[Term, Term]) -> Term:
    """An attribute of an object, or what a container holds."""
    kind = _container_kind(target)
    if kind == "list" and name == "items":
        return merged_items(guard, *values)
    keys = merged_keys(*values) if kind == "dict" and name == "keys" else None
    return conditional(guard, *values) if keys is None else keys


def _merge_env(guard: Term, then: State, otherwise: State, unbound: Callable[[str], Term]) -> dict[str, Term]:
    merged = {}
    for name in {**then.env, **otherwise.env}:
        a = then.env.get(name)
        b = otherwise.env.get(name)
        merged[name] = conditional(guard, unbound(name) if a is None else a, unbound(name) if b is None else b)
    return merged


def _merge_dead(guard: Term, then: State, otherwise: State) -> State:
    live, holds = (otherwise, False) if then.dead else (then, True)
    merged = live.fork()
    merged.error = conditional(guard, then.error, otherwise.error)
    merged.dead = then.dead and otherwise.dead
    if not merged.dead:
        merged.assume(guard, holds=holds)
    return merged
