"""Lists, sets, tuples and dicts whose elements are there under guards, or are computed as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from analyzer.domain.build import conditional, conjunction, disjunction, is_plain_tuple, map_leaves, negate, rewrite
from analyzer.domain.iteration import EACH, is_loop_variable
from analyzer.domain.magnitude import MAX_ELEMENTS
from analyzer.domain.operators import SEQUENCES
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Symbol,
    Term,
    constant,
    opaque,
    walk,
)
from analyzer.symbolic.attributes import ENUM_BASES
from analyzer.symbolic.comprehensions import count_of, each
from analyzer.symbolic.containers import Element, concatenated, tuple_of, unguarded
from analyzer.symbolic.presence import is_set
from analyzer.symbolic.state import State
from analyzer.symbolic.world import item_key

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine


# Under this name a set has it that it holds each element once.
_DISTINCT: Final = "distinct"


class Sequences:
    """What containers hold, element by element where that is known, else as one term."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        # When a value is there, by value: the same items are asked for again and again.
        self._set: dict[Term, Term] = {}

    def items(self, sequence: Term, state: State) -> tuple[Term, ...] | None:
        """The elements of a sequence whose length is known."""
        found = self.elements(sequence, state)
        if found is None or any(guard is not TRUE for guard, _ in found):
            return None
        return tuple(value for _, value in found)

    def elements(self, sequence: Term, state: State) -> list[Element] | None:
        """The elements of a sequence, each with its guard; None when they are not known one by one."""
        value = state.refine(self.machine.force(sequence))
        match value:
            case Conditional():
                return self._either(value, state)
            case Apply("tuple", args):
                found = [(state.decide(guard), element) for guard, element in map(unguarded, args)]
                return [element for element in found if element[0] is not FALSE]
            case Constant(str(text)):
                return [(TRUE, constant(character)) for character in text]
            case Handle("object", _):
                names = self._tuple_fields(value)
                if names is not None:
                    return [(TRUE, self.machine.attributes.read(value, name, state)) for name in names]
                return self._held(value, state)
            case Handle("class", key) if self.machine.program.base_names(key) & ENUM_BASES:
                fields = self.machine.program.class_facts(key).fields
                return [(TRUE, self.machine.attributes.read(value, name, state)) for name in fields]
            case _:
                return None

    def _tuple_fields(self, value: Handle) -> list[str] | None:
        """The names of the elements of a named tuple, in order; None for another object."""
        info = self.machine.world.objects.get(value)
        if info is None or info.class_key is None:
            return None
        if "NamedTuple" not in self.machine.program.base_names(info.class_key):
            return None
        return list(self.machine.program.class_facts(info.class_key).fields)

    def _either(self, value: Conditional, state: State) -> list[Element] | None:
        """Those of one branch, then those of the other, where only one can be there."""
        sides = ((value.guard, value.then), (negate(value.guard), value.otherwise))
        found: list[Element] = []
        for guard, side in sides:
            elements = self.elements(side, state)
            if elements is None:
                return None
            found += [(conjunction(guard, own), element) for own, element in elements]
        return found

    def _held(self, container: Handle, state: State) -> list[Element] | None:
        info = self.machine.world.objects.get(container)
        kind = info.kind if info is not None else ""
        content = self.content(container, {"list": "items", "dict": "keys"}.get(kind, ""), state)
        if content is None:
            return None
        if kind == "list":
            return self.elements(content, state)
        if self.machine.calls.builtins.opened(container, state) is not None:
            return None
        keys = content.args if isinstance(content, Apply) and content.op == "tuple" else None
        if keys is None:
            return None
        found = ((self._present(container, key, state), key) for key in keys)
        return [element for element in found if element[0] is not FALSE]

    def _present(self, container: Handle, key: Term, state: State) -> Term:
        value = self.content(container, item_key(key), state)
        if value is None:
            return FALSE
        if value not in self._set:
            self._set[value] = is_set(value)
        return state.decide(self._set[value])

    def content(self, container: Handle, name: str, state: State) -> Term | None:
        """What a container holds under `name`."""
        for attributes in (state.heap.get(container), self.machine.world.base.get(container)):
            if attributes is not None and name in attributes:
                return state.refine(attributes[name])
        return None

    def term(self, sequence: Term, state: State) -> Term | None:
        """A sequence as one term that can be evaluated; None when it has elements without a formula."""
        value = state.refine(self.machine.force(sequence))
        if isinstance(value, Symbol):
            return value
        if isinstance(value, Conditional):
            sides = self.term(value.then, state), self.term(value.otherwise, state)
            if sides[0] is None or sides[1] is None:
                return None
            return conditional(value.guard, sides[0], sides[1])
        if isinstance(value, Handle):
            elements = self._held(value, state) if value.kind == "object" else None
            if elements is not None:
                return self._plain(tuple_of(elements))
            content = self.content(value, "items", state) if value.kind == "object" else None
            return None if content is None else self.term(content, state)
        return self._plain(value) if _is_sequence(value) else None

    def _plain(self, term: Term) -> Term | None:
        """`term` with deferred elements computed; None when one of them is an object."""
        computed = self._computed(term)
        return None if any(isinstance(part, Handle) for part in walk(computed)) else computed

    def _computed(self, term: Term) -> Term:
        def compute(node: Term) -> Term | None:
            if not isinstance(node, Handle) or node.kind != "deferred":
                return None
            return self._computed(self.machine.value(node))

        return rewrite(term, compute)

    def length(self, sequence: Term, state: State) -> Term | None:
        """How many elements there are; None when that is not known."""
        elements = self.elements(sequence, state)
        if elements is not None and all(guard is TRUE for guard, _ in elements):
            return constant(len(elements))
        found = state.refine(self.machine.force(sequence))
        if isinstance(found, Handle) and self.is_set(found, state):
            # What is there on some ways may be there twice.
            sequence = self.distinct(found, state)
            elements = self.elements(sequence, state)
        whole = self.term(sequence, state)
        if whole is not None:
            return self.machine.canonical(count_of(whole) or opaque("len", (whole,)))
        if elements is None:
            return None
        count: Term = constant(0)
        for guard, _ in elements:
            count = self.machine.apply("+", count, conditional(guard, constant(1), constant(0)))
        return count

    def truth(self, container: Term, state: State) -> Term | None:
        """The guard that there is an element; None when that is not known."""
        elements = self.elements(container, state)
        if elements is not None:
            return disjunction(*(guard for guard, _ in elements)) if elements else FALSE
        whole = self.term(container, state)
        return None if whole is None else self.machine.apply(">", opaque("len", (whole,)), constant(0))

    def contains(self, item: Term, container: Term, state: State) -> Term:
        """`item in container`."""
        machine = self.machine
        elements = self.elements(container, state)
        if elements is not None:
            values = tuple_of([(guard, machine.value(element)) for guard, element in elements])
            return machine.apply("in", item, values)
        whole = self.term(container, state)
        if whole is None:
            whole = machine.external_argument(machine.value(self.held(container, state)))
        return map_leaves(whole, lambda leaf: machine.apply("in", item, leaf))

    def held(self, container: Term, state: State) -> Term:
        """The content of a list as the heap has it, any other value as it is."""
        value = state.refine(self.machine.force(container))
        found = self.content(value, "items", state) if isinstance(value, Handle) and value.kind == "object" else None
        return value if found is None else found

    def extend(self, target: Handle, more: Term, state: State) -> None:
        """Add what `more` holds to a list."""
        content = self.held(target, state)
        added = self.elements(more, state)
        tail = self._unknown_tail(more, state) if added is None else tuple_of(added)
        state.write(target, "items", map_leaves(content, lambda leaf: concatenated(leaf, tail)))
        if self.is_set(target, state):
            state.write(target, "items", self._once(target, state))

    def _unknown_tail(self, more: Term, state: State) -> Term:
        """What a sequence that is not known one by one adds: its term, or what made it unknown."""
        whole = self.term(more, state)
        return self.machine.calls.builtins.sequence(more, state) if whole is None else whole

    def is_set(self, container: Handle, state: State) -> bool:
        """Whether a container holds every element once."""
        return self.content(container, _DISTINCT, state) is TRUE

    def as_set(self, made: Handle, state: State) -> Handle:
        """A new list as the set of its elements, from now on."""
        state.write(made, "items", self._once(made, state))
        state.write(made, _DISTINCT, TRUE)
        return made

    def joined(self, first: Handle, others: tuple[Term, ...], state: State) -> Handle:
        """A new list, or a set where the first one is, of the elements of several."""
        made = self._all_of((first, *others), state)
        return self.as_set(made, state) if self.is_set(first, state) else made

    def _all_of(self, parts: tuple[Term, ...], state: State) -> Handle:
        made = self.machine.list_of((), state)
        for part in parts:
            self.extend(made, part, state)
        return made

    def combined(self, op: str, a: Term, b: Term, state: State) -> Term:
        """`a op b` of sets, and of what stands for them: the keys of a dict."""
        left, right = self.elements(a, state), self.elements(b, state)
        if op == "|":
            return self.as_set(self._all_of((a, b), state), state)
        if left is None or right is None or not all(_is_known(element) for element in (*left, *right)):
            return self._combined_whole(op, a, b, state)
        mine, theirs = [value for _, value in left], [value for _, value in right]
        only = [value for value in mine if value not in theirs]
        kept = {
            "-": only,
            "&": [value for value in mine if value in theirs],
            "^": [*only, *(value for value in theirs if value not in mine)],
        }
        return self.as_set(self.machine.list_of(tuple(kept[op]), state), state)

    def _combined_whole(self, op: str, a: Term, b: Term, state: State) -> Term:
        """`a op b` of sets whose elements the inputs decide: a choice among those of the first, or of both."""
        mine, theirs = self.term(a, state), self.term(b, state)
        if mine is None or theirs is None:
            return opaque(op, tuple(self.term(part, state) or self.machine.external_argument(part) for part in (a, b)))
        content = self._chosen(mine, theirs, is_in=op == "&")
        if op == "^":
            content = self.machine.apply("concat", content, self._chosen(theirs, mine, is_in=False))
        made = self._list_with(content, state)
        state.write(made, _DISTINCT, TRUE)
        return made

    def _chosen(self, elements: Term, others: Term, *, is_in: bool) -> Term:
        """The set of those of `elements` that are, or are not, among `others`."""
        with self.machine.comprehensions.variable() as variable:
            found = self.machine.apply("in" if is_in else "not in", variable, others)
            return each("set", [(variable, elements, [found])], [variable])

    def includes(self, larger: Term, smaller: Term, state: State) -> Term | None:
        """The guard that a set holds everything that another one holds; None when that is not known."""
        left_over = self.truth(self.combined("-", smaller, larger, state), state)
        return None if left_over is None else self.machine.apply("not", left_over)

    def repeated(self, sequence: Term, count: Term, state: State) -> Term:
        """`sequence * count`."""
        items, times = self.items(sequence, state), self.machine.value(count)
        number = times.value if isinstance(times, Constant) and isinstance(times.value, int) else None
        if items is None or number is None or len(items) * number > MAX_ELEMENTS:
            return self._repeated_whole(sequence, times, state)
        if isinstance(sequence, Handle):
            return self.machine.list_of(items * number, state)
        return self.machine.tuple_of(items * number)

    def _repeated_whole(self, sequence: Term, times: Term, state: State) -> Term:
        """`sequence * times` where the inputs decide how often: what it holds, once in every turn of a loop."""
        items, whole = self.items(sequence, state), self.term(sequence, state)
        if whole is None or isinstance(times, Constant):
            return opaque("*", (whole or self.machine.external_argument(sequence), self.machine.plain(times)))
        turns = opaque("range", (self.machine.plain(times),))
        with self.machine.comprehensions.variable() as turn, self.machine.comprehensions.variable() as element:
            clauses: list[tuple[Term, Term, tuple[Term, ...]]] = [(turn, turns, ())]
            if items is None or len(items) > 1:
                content = each("list", [*clauses, (element, whole, ())], [element])
            else:
                content = each("list", clauses, [self._computed(self.machine.value(items[0]))]) if items else whole
        return self._list_with(content, state) if isinstance(sequence, Handle) else content

    def _once(self, container: Handle, state: State) -> Term:
        """The elements of a container, each of them once; those that are there on some ways are told apart later."""
        elements = self.elements(container, state)
        if elements is not None and any(guard is not TRUE for guard, _ in elements):
            return self.held(container, state)
        return self.held(self.distinct(container, state), state)

    def distinct(self, container: Term, state: State) -> Term:
        """A list that holds every element of `container` once."""
        elements = self.elements(container, state)
        if elements is not None:
            elements = [(guard, self.machine.value(value)) for guard, value in elements]
        if elements is not None and all(_is_value(value) for _, value in elements):
            once: dict[Term, Term] = {}
            for guard, value in elements:
                once[value] = disjunction(once.get(value, FALSE), guard)
            content: Term = tuple_of((guard, value) for value, guard in once.items())
        elif elements is not None and len(elements) <= 1:
            return container
        else:
            content = self._whole("unique", container, state)
        return self._list_with(content, state)

    def sorted(self, container: Term, descending: Term, state: State, key: Term | None = None) -> Term:
        """A list of the elements of `container` in order, or in the order of what `key` gives for them."""
        items = self.items(container, state)
        backwards = self.machine.value(descending)
        if key is not None and self.machine.value(key) is not NONE:
            return self._sorted_by(container, items, backwards, key, state)
        if items is not None and isinstance(backwards, Constant) and _are_comparable(items):
            ordered = sorted((item.value for item in items), reverse=bool(backwards.value))  # type: ignore[union-attr,type-var]  # constants of one kind
            content: Term = tuple_of((TRUE, constant(value)) for value in ordered)
        else:
            content = self._whole("sorted", container, state)
            if backwards is TRUE:
                content = self.machine.apply("reversed", content)
        return self._list_with(content, state)

    def _sorted_by(
        self, container: Term, items: tuple[Term, ...] | None, backwards: Term, key: Term, state: State
    ) -> Term:
        """The elements in the order of their keys, which have to be known for that."""
        machine = self.machine
        if items is None:
            with machine.comprehensions.variable() as variable:
                keys: tuple[Term, ...] = (machine.value(machine.calls.call(key, (variable,), {}, state)),)
        else:
            keys = tuple(machine.value(machine.calls.call(key, (item,), {}, state)) for item in items)
            ranks = [_rank(measure) for measure in keys]
            if isinstance(backwards, Constant) and None not in ranks and len({_shape(rank) for rank in ranks}) <= 1:
                order = sorted(range(len(items)), key=ranks.__getitem__, reverse=bool(backwards.value))
                return self._list_with(machine.tuple_of(tuple(items[i] for i in order)), state)
        whole = self.term(container, state) or machine.calls.builtins.sequence(container, state)
        reason = "an order that depends on values that are not known"
        plain = (machine.plain(measure) for measure in keys)
        return self._list_with(machine.world.unknown("sorted", reason, machine.span, whole, backwards, *plain), state)

    def _whole(self, op: str, container: Term, state: State) -> Term:
        whole = self.term(container, state)
        return self.held(container, state) if whole is None else self.machine.apply(op, whole)

    def _list_with(self, content: Term, state: State) -> Term:
        made = self.machine.list_of((), state)
        state.write(made, "items", content)
        return made


def _is_sequence(term: Term) -> bool:
    """Whether a term says what a sequence holds."""
    match term:
        case Apply(op, _):
            return op in SEQUENCES
        case Opaque(name, _):
            return name in (EACH, "range", "item") or is_loop_variable(term)
        case _:
            return False


def _is_known(element: Element) -> bool:
    """Whether an element is there in any case, and which one it is."""
    guard, value = element
    return guard is TRUE and _is_value(value)


def _is_value(term: Term) -> bool:
    """Whether a term is the same as another one only where it is equal to it: a constant, or a tuple of constants."""
    if isinstance(term, Apply) and term.op == "tuple":
        return is_plain_tuple(term) and all(map(_is_value, term.args))
    return isinstance(term, Constant | Atom)


def _rank(measure: Term) -> Any:
    """What Python compares a constant by, or a tuple of constants; None for anything else."""
    if isinstance(measure, Constant) and isinstance(measure.value, int | float | str):
        return measure.value
    if isinstance(measure, Apply) and measure.op == "tuple" and is_plain_tuple(measure):
        parts = tuple(_rank(part) for part in measure.args)
        return None if None in parts else parts
    return None


def _shape(rank: Any) -> object:
    """Which values can be compared with a rank."""
    return tuple(map(_shape, rank)) if isinstance(rank, tuple) else isinstance(rank, str)


def _are_comparable(items: tuple[Term, ...]) -> bool:
    """Whether Python can put these constants in order."""
    values = [item.value for item in items if isinstance(item, Constant)]
    numbers = all(isinstance(value, int | float) for value in values)
    return len(values) == len(items) and (numbers or all(isinstance(value, str) for value in values))
