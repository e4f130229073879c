"""The interpreter's state: locals, heap, what is assumed on this path, and a pending raise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from analyzer.domain.build import conditional, conjunction, leaves, map_leaves, negate
from analyzer.domain.source import Span
from analyzer.domain.terms import FALSE, NONE, TRUE, UNSET, Apply, Conditional, Handle, Raise, Term, children
from analyzer.symbolic.containers import merged_items, merged_keys

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

    __slots__ = ("dead", "env", "error", "facts", "frame", "guard", "heap")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.env: dict[str, Term] = {}
        self.heap: dict[Term, Attributes] = {}
        self.facts: dict[Term, bool] = {}
        self.error: Term = NONE
        self.guard: Term = TRUE
        self.dead = False

    def fork(self) -> State:
        """An independent copy; attribute maps are shared until one side writes."""
        copy = State(self.frame)
        copy.env = dict(self.env)
        copy.heap = dict(self.heap)
        copy.facts = dict(self.facts)
        copy.error = self.error
        copy.guard = self.guard
        copy.dead = self.dead
        return copy

    def become(self, other: State) -> None:
        """Take over the contents of `other`."""
        self.env, self.heap, self.facts = other.env, other.heap, other.facts
        self.error, self.dead = other.error, other.dead

    def write(self, target: Term, name: str, value: Term) -> None:
        """Set an attribute of a heap object."""
        self.heap[target] = {**self.heap.get(target, {}), name: value}

    def assume(self, guard: Term, *, holds: bool) -> None:
        """Record that `guard` is known on this path, and what follows from it."""
        self.facts[guard] = holds
        if isinstance(guard, Apply):
            if guard.op == "not":
                self.assume(guard.args[0], holds=not holds)
            elif guard.op == ("and" if holds else "or"):
                for part in guard.args:
                    self.assume(part, holds=holds)
            else:
                opposite = negate(guard)
                if isinstance(opposite, Apply) and opposite.op != "not":
                    self.facts[opposite] = not holds

    def decide(self, guard: Term) -> Term:
        """`guard` reduced by what this path assumes."""
        if not self.facts or guard is TRUE or guard is FALSE:
            return guard
        known = self.facts.get(guard)
        if known is not None:
            return TRUE if known else FALSE
        if isinstance(guard, Apply) and guard.op == "not":
            return negate(self.decide(guard.args[0]))
        if isinstance(guard, Apply) and guard.op in ("and", "or"):
            parts = [self.decide(part) for part in guard.args]
            if guard.op == "or":
                return TRUE if self._is_settled("or", parts) else negate(conjunction(*map(negate, parts)))
            reduced = conjunction(*parts)
            is_several = isinstance(reduced, Apply) and reduced.op == "and"
            return FALSE if is_several and self._is_settled("and", children(reduced)) else reduced
        return guard

    def _is_settled(self, op: str, parts: Collection[Term]) -> bool:
        """Whether some of the `parts` decide over all of them: `a and b and c` where `a and b` does not hold."""
        decisive, asked = op == "or", set(parts)
        return any(
            holds is decisive and isinstance(fact, Apply) and fact.op == op and asked.issuperset(fact.args)
            for fact, holds in self.facts.items()
        )

    def refine(self, term: Term) -> Term:
        """`term` without the branches that this path excludes."""
        while isinstance(term, Conditional):
            guard = self.decide(term.guard)
            if guard is TRUE:
                term = term.then
            elif guard is FALSE:
                term = term.otherwise
            else:
                break
        return term


def is_cell(target: Term) -> bool:
    """Whether a place on the heap holds the variables that nested functions share with the one around them."""
    return isinstance(target, Handle) and target.kind == "cell"


def raised(error: Term) -> Term:
    """The guard under which a pending error is really one."""
    return map_leaves(error, lambda leaf: TRUE if isinstance(leaf, Raise) else FALSE)


def always_raises(error: Term) -> bool:
    """Whether every outcome of `error` is a raise."""
    outcomes = leaves(error)
    return outcomes is not None and all(isinstance(outcome, Raise) for outcome in outcomes)


def merge(guard: Term, then: State, otherwise: State, read: Reader, unbound: Callable[[str], Term]) -> State:
    """The state that is `then` where `guard` holds and `otherwise` elsewhere.

    A side that raised is dead: only its error survives, and the other side may assume that it did
    not happen. `read` supplies an attribute that one side never wrote.
    """
    if then.dead or otherwise.dead:
        return _merge_dead(guard, then, otherwise)
    merged = State(then.frame)
    merged.guard = otherwise.guard
    merged.error = conditional(guard, then.error, otherwise.error)
    merged.env = _merge_env(guard, then, otherwise, unbound)
    for target in {**then.heap, **otherwise.heap}:
        left, right = then.heap.get(target), otherwise.heap.get(target)
        if left is right:
            merged.heap[target] = left or {}
            continue
        made = _made_on_one_side(target, left, right, (then, otherwise), read)
        if made is not None:
            merged.heap[target] = made
            continue
        attributes: Attributes = {}
        for name in {**(left or {}), **(right or {})}:
            a = left[name] if left is not None and name in left else read(then, target, name)
            b = right[name] if right is not None and name in right else read(otherwise, target, name)
            attributes[name] = _merge_content(target, name, guard, (a, b))
        merged.heap[target] = attributes
    merged.facts = {fact: value for fact, value in then.facts.items() if otherwise.facts.get(fact) is value}
    return merged


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
