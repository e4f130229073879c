"""Evaluation of expressions to terms."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, conjunction, leaves, map_leaves
from analyzer.domain.magnitude import MAX_ELEMENTS
from analyzer.domain.operators import SEQUENCES
from analyzer.domain.terms import (
    NONE,
    TRUE,
    UNSET,
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Symbol,
    Term,
    atom,
    constant,
    handle,
    opaque,
    raising,
    symbol,
)
from analyzer.symbolic.builtins import NAMES
from analyzer.symbolic.effects import StatementEffects, effects_of, functions_in, walk_syntax
from analyzer.symbolic.externals import SPREAD
from analyzer.symbolic.state import Frame, State
from analyzer.symbolic.world import item_key

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

# The local, of no name that a source could give, in which a generator collects what it hands out.
YIELDED: Final = "<yielded>"
_OPERATOR_METHODS: Final = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip  # a table
_COMPARISON_METHODS: Final = {
    "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
}  # fmt: skip  # a table
_INCLUSIONS: Final = frozenset({"<=", "<", ">=", ">", "==", "!="})
_LONGEST_NAME: Final = 80


def _is_local_function(name: str, value: Term) -> bool:
    """Whether `value` can be called, and is not just what its own name says."""
    if not isinstance(value, Handle):
        return False
    if value.kind == "function":
        return value.key.rsplit(":", 1)[-1].rsplit(".", 1)[-1] != name
    return value.kind in ("closure", "bound", "partial", "undecorated", "decorated")


class Expressions:
    """One method a node type; effects go to the state."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        # How many loops that are not unrolled are around the expression at hand.
        self._depth = 0

    def evaluate(self, node: ir.Expr, state: State) -> Term:  # noqa: C901 - one case for each kind of expression
        """The value of `node`."""
        match node:
            case ir.Literal(value):
                return constant(value)
            case ir.Name(name):
                return self._name(name, state)
            case ir.Attribute(value, attr):
                return self.machine.attributes.read(self.evaluate(value, state), attr, state)
            case ir.Call():
                return self._call(node, state)
            case ir.Binary(op, left, right):
                return self._binary(op, self.evaluate(left, state), self.evaluate(right, state), state)
            case ir.Unary(op, operand):
                return self._unary(op, self.evaluate(operand, state), state)
            case ir.Boolean(op, left, right):
                return self._boolean(op, left, right, state)
            case ir.Comparison(left, rest):
                return self._comparison(left, rest, state)
            case ir.IfExpression(test, then, otherwise):
                guard = self.guard(test, state)
                return self.machine.branch(
                    guard, state, lambda s: self.evaluate(then, s), lambda s: self.evaluate(otherwise, s)
                )
            case ir.Subscript(value, index):
                return self._subscript(self.evaluate(value, state), index, state)
            case _:
                return self._other(node, state)

    def lazy(self, node: ir.Expr, state: State) -> Term:
        """The value of `node`, put off when evaluating it can have no effect that matters."""
        match node:
            case ir.Literal() | ir.Name() | ir.Lambda():
                return self.evaluate(node, state)
            case _ if self.machine.eager:
                return self.evaluate(node, state)
            case _:
                effects = effects_of(node)
                relevance = self.machine.relevance
                if effects.binds or effects.changes or effects.calls & relevance.names:
                    return self.evaluate(node, state)
                if not relevance.taken.isdisjoint(functions_in(node)):
                    # A function that matters: whoever gets it has to see that.
                    return self.evaluate(node, state)
                if self.calls_unnamed(effects, state) or self.hands_to_changer(effects, state):
                    return self.evaluate(node, state)
                if effects.calls & relevance.raising_names and self.machine.statements.handlers.waiting(state):
                    return self.evaluate(node, state)
                self.machine.skip_calls(effects.calls)
                return self.machine.defer(lambda s: self.evaluate(node, s), state, type(node).__name__)

    def over_symbols(self, node: ir.Expr) -> Term:
        """The term of an expression of the rules, whose free names are symbols or uninterpreted functions."""
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id not in NAMES:
            return opaque(node.func.id, tuple(self.over_symbols(arg.value) for arg in node.args))
        state = State(Frame("", "", 0, "<rules>"))
        names = {part.id for part in walk_syntax(node) if isinstance(part, ir.Name)} - NAMES
        state.env = {name: symbol(name) if name in self.machine.rules.symbols else atom(name) for name in names}
        return self.machine.value(self.evaluate(node, state))

    def calls_unnamed(self, effects: StatementEffects, state: State) -> bool:
        """Whether what is called, and what it may do, is not known by name."""
        return (effects.indirect and self._has_taken(state)) or self._calls_local(effects.calls, state)

    def _has_taken(self, state: State) -> bool:
        """Whether somebody up the stack has taken a function that matters as a value."""
        return not self.machine.relevance.taking.isdisjoint(state.frame.calls)

    def _calls_local(self, names: frozenset[str], state: State) -> bool:
        """Whether a callee is a local function, or one that was replaced: what it may do is not known by name."""
        if not names.isdisjoint(self.machine.toplevel.patched):
            return True
        for name in names:
            value = self._local(name, state)
            if value is not None and self._has_taken(state):
                value = self.machine.force(value)
            if value is None and name[:1].isupper():
                value = self._class_called(name, state)
            held = () if value is None else leaves(value) or (value,)
            if any(_is_local_function(name, leaf) or self._is_constructed(leaf) for leaf in held):
                return True
        return False

    def _class_called(self, name: str, state: State) -> Term | None:
        """The class that a module knows by a name; None when that is anything else."""
        resolved = self.machine.program.resolve(state.frame.module, name)
        return handle("class", resolved.key) if resolved is not None and resolved.kind == "class" else None

    def _is_constructed(self, value: Term) -> bool:
        """Whether `value` is a class whose instances are made in place."""
        return isinstance(value, Handle) and value.kind == "class" and self.machine.calls.constructs_in_place(value.key)

    def _local(self, name: str, state: State) -> Term | None:
        """A variable of the function at hand, or of one around it."""
        found = state.env.get(name)
        return self.machine.closures.variable(name, state.frame, state) if found is None else found

    def hands_to_changer(self, effects: StatementEffects, state: State) -> bool:
        """Whether a call gets a container that somebody may read, and may change it."""
        changes = self.machine.relevance.changes
        return any(changes(callee, slot) and self._is_read(node, state) for callee, slot, node in effects.handed)

    def _is_read(self, node: ir.Expr, state: State) -> bool:
        """Whether what an argument stands for may be a container that somebody reads."""
        relevance = self.machine.relevance
        match node:
            case ir.Name(name):
                value = self._local(name, state)
                return name in relevance.relevant if value is None else self.may_hold(value, state)
            case ir.Attribute(ir.Name("self"), attr):
                return relevance.concerns((state.frame.owner or "").rsplit(":", 1)[-1], attr)
            case ir.Attribute(attr=attr):
                return attr in relevance.relevant
            case ir.Subscript(value):
                return self._is_read(value, state)
            case _:
                return False

    def may_hold(self, value: Term, state: State) -> bool:
        """Whether a value may be a list or a dict that can be changed."""
        found = leaves(state.refine(self.machine.force(value))) or ()
        return any(isinstance(leaf, Handle) and self._is_container(leaf) for leaf in found)

    def _other(self, node: ir.Expr, state: State) -> Term:
        match node:
            case ir.Sequence(kind, items):
                return self._sequence(kind, items, state)
            case ir.Mapping(items):
                return self._mapping(items, state)
            case ir.Comprehension():
                return self.machine.comprehensions.evaluate(node, state)
            case ir.Lambda(parameters, body):
                return self.machine.closures.make("<lambda>", parameters, body, state)
            case ir.Walrus(target, value):
                state.env[target] = self.evaluate(value, state)
                return state.env[target]
            case ir.FormattedString():
                return self._formatted(node, state)
            case ir.Yield(value, delegates):
                return self._yield(value, state, delegates=delegates)
            case ir.Starred(value):
                return self.evaluate(value, state)
            case ir.Unsupported(reason, text):
                # Two texts that begin alike are still two.
                rest = (constant(sha256(text.encode()).hexdigest()),) if len(text) > _LONGEST_NAME else ()
                name = text[:_LONGEST_NAME]
                return self.machine.world.unknown(name, f"{reason} is not interpreted", self.machine.span, *rest)
            case _:
                return opaque(type(node).__name__)

    def _formatted(self, node: ir.FormattedString, state: State) -> Term:
        """The text of an f-string where its parts are known, else a function of them."""
        parts = [self.machine.plain(self.evaluate(part, state)) for part in node.parts]
        known = [part.value for part in parts if isinstance(part, Constant)]
        if node.is_plain and len(known) == len(parts):
            return constant("".join(map(str, known)))
        return opaque("text", parts)

    def _yield(self, value: ir.Expr | None, state: State, *, delegates: bool) -> Term:
        """Add to what the generator at hand has handed out so far."""
        made = NONE if value is None else self.evaluate(value, state)
        items = self.machine.calls.builtins.items(made, state) if delegates else (made,)
        added = (opaque("*", (self.machine.plain(made),)),) if items is None else items
        before = state.env.get(YIELDED, self.machine.tuple_of(()))
        state.env[YIELDED] = map_leaves(before, lambda leaf: self._with_items(leaf, added))
        return NONE

    def _with_items(self, leaf: Term, added: tuple[Term, ...]) -> Term:
        if isinstance(leaf, Apply) and leaf.op == "tuple":
            return self.machine.tuple_of((*leaf.args, *added))
        return opaque("yielded", (leaf, *map(self.machine.plain, added)))

    def guard(self, node: ir.Expr, state: State) -> Term:
        """The truth of `node` under what the path assumes."""
        guards, place = self.machine.world.guards, self.machine.span
        found = self.machine.truth(self.evaluate(node, state), state)
        guards[place] = guards.get(place, True) and isinstance(found, Constant)
        return found

    def _name(self, name: str, state: State) -> Term:
        local = self._local(name, state)
        if local is not None:
            return state.refine(local)
        patched = self.machine.toplevel.patched_name(state.frame.module, name)
        if patched is not None:
            return patched
        resolved = self.machine.program.resolve(state.frame.module, name)
        if resolved is not None:
            return state.refine(self.machine.toplevel.from_resolution(resolved.kind, resolved.key))
        if name in NAMES:
            return handle("builtin", name)
        if name.endswith(("Error", "Exception", "Interrupt", "Iteration")):
            return handle("builtin", name)
        if state.frame.qualname == "<module>":
            return opaque(name)
        return self.machine.world.unknown(name, "a name that is bound nowhere", self.machine.span)

    # ---- calls ---------------------------------------------------------------------------

    def _call(self, node: ir.Call, state: State) -> Term:
        callee = self.evaluate(node.func, state)
        args: list[Term] = []
        keywords: dict[str, Term] = {}
        for argument in node.args:
            value = self.lazy(argument.value, state)
            if argument.star == "*":
                items = self.machine.calls.builtins.items(value, state)
                args.extend((opaque("*", (self.machine.plain(value),)),) if items is None else items)
            elif argument.star == "**":
                keywords.update(self._splat(value, callee, state))
            elif argument.keyword is not None:
                keywords[argument.keyword] = value
            else:
                args.append(value)
        self.machine.keyword_lines = {a.keyword: a.line for a in node.args if a.keyword is not None}
        return self.machine.calls.call(callee, tuple(args), keywords, state)

    def _splat(self, value: Term, callee: Term, state: State) -> dict[str, Term]:
        """What `**value` hands over; to a function of a library as a whole where the keys are not known."""
        target = state.refine(self.machine.force(value))
        keys = self.machine.calls.builtins.items(target, state)
        if keys is None:
            return {SPREAD: target} if isinstance(callee, Atom) else {}
        found: dict[str, Term] = {}
        for key in keys:
            if isinstance(key, Constant) and isinstance(key.value, str) and isinstance(target, Handle):
                found[key.value] = self.dict_item(target, key, NONE, state)
        return found

    # ---- operators -----------------------------------------------------------------------

    def _binary(self, op: str, left: Term, right: Term, state: State) -> Term:
        a, b = state.refine(self.machine.force(left)), state.refine(self.machine.force(right))
        if op == "|" and all(map(_is_type, (a, b))):
            # To `isinstance`, a union is what a tuple is.
            return self.machine.tuple_of(tuple(part for value in (a, b) for part in _types(value)))
        of_containers = self._container_operation(op, a, b, state)
        if of_containers is not None:
            return of_containers
        if op == "%" and isinstance(a, Constant) and isinstance(a.value, str):
            return opaque("text", (a, self.machine.external_argument(b)))
        own = self._overloaded(op, a, b, state)
        if own is not None:
            return own
        if any(isinstance(value, Handle) and value.kind != "bag" for value in (a, b)):
            return opaque(op, (self.machine.external_argument(a), self.machine.external_argument(b)))
        return self.machine.apply(op, a, b)

    def _container_operation(self, op: str, a: Term, b: Term, state: State) -> Term | None:
        """The result of an operator on lists, sets and dicts; None where no operand is one."""
        sequences = self.machine.sequences
        if op == "|" and self._is_dict(a) and self._is_dict(b):
            merged = self.machine.dict_of({}, state)
            for part in (a, b):
                self.machine.methods.dict_update(merged, part, state)
            return merged
        if op == "+":
            return self._concatenate(a, b, state)
        if op in ("-", "&", "|", "^") and self._is_container(a):
            return sequences.combined(op, a, b, state)
        if op == "*" and self._is_container(a):
            return sequences.repeated(a, b, state)
        return sequences.repeated(b, a, state) if op == "*" and self._is_container(b) else None

    def _overloaded(self, op: str, a: Term, b: Term, state: State) -> Term | None:
        """The result of a method of the operands' own classes that spells `op`; None when they have none."""
        name = _OPERATOR_METHODS.get(op)
        if name is None:
            return None
        for target, method, other in ((a, f"__{name}__", b), (b, f"__r{name}__", a)):
            bound = self.machine.attributes.special_method(target, method)
            if bound is not None:
                return self.machine.calls.call(bound, (other,), {}, state)
        return None

    def _is_container(self, value: Term) -> bool:
        if isinstance(value, Handle):
            info = self.machine.world.objects.get(value)
            return info is not None and info.kind in ("list", "dict")
        return isinstance(value, Apply) and value.op in SEQUENCES

    def _is_dict(self, value: Term) -> bool:
        info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
        return info is not None and info.kind == "dict"

    def _concatenate(self, a: Term, b: Term, state: State) -> Term | None:
        if not (self._is_container(a) and self._is_container(b)):
            return None
        left = self.machine.calls.builtins.items(a, state)
        right = self.machine.calls.builtins.items(b, state)
        if left is None or right is None or len(left) + len(right) > MAX_ELEMENTS:
            return self._joined(a, b, state)
        if isinstance(a, Apply):
            return self.machine.tuple_of((*left, *right))
        return self.machine.list_of((*left, *right), state)

    def _joined(self, a: Term, b: Term, state: State) -> Term:
        """Two sequences of which one has elements under guards, or as a whole."""
        joined = self.machine.list_of((), state)
        for part in (a, b):
            self.machine.sequences.extend(joined, part, state)
        return self.machine.sequences.held(joined, state) if isinstance(a, Apply) else joined

    def _unary(self, op: str, operand: Term, state: State) -> Term:
        if op == "not":
            return self.machine.apply("not", self.machine.truth(operand, state))
        if op == "+":
            return self.machine.value(operand)
        method = self.machine.attributes.special_method(self.machine.force(operand), "__neg__") if op == "-" else None
        if method is not None:
            return self.machine.calls.call(method, (), {}, state)
        return self.machine.apply("neg", operand) if op == "-" else opaque(op, (self.machine.value(operand),))

    def _boolean(self, op: str, left: ir.Expr, right: ir.Expr, state: State) -> Term:
        value = self.machine.value(self.evaluate(left, state))
        guard = self.machine.truth(value, state)
        if op == "and":
            return self.machine.branch(guard, state, lambda s: self.evaluate(right, s), lambda _: value)
        return self.machine.branch(guard, state, lambda _: value, lambda s: self.evaluate(right, s))

    def _comparison(self, left: ir.Expr, rest: tuple[tuple[str, ir.Expr], ...], state: State) -> Term:
        current = self.evaluate(left, state)
        result: Term = TRUE
        for op, node in rest:
            following = self.evaluate(node, state)
            result = self.machine.apply("and", result, self._compare(op, current, following, state))
            current = following
        return result

    def _compare(self, op: str, left: Term, right: Term, state: State) -> Term:
        if op in ("in", "not in"):
            answer = self.machine.each_leaf(right, state, lambda leaf, s: self._membership(left, leaf, s))
            return self.machine.apply("not", answer) if op == "not in" else answer
        a, b = state.refine(self.machine.value(left)), state.refine(self.machine.value(right))
        if not (self._may_be_list(a, state) or self._may_be_list(b, state)):
            return self._compare_values(op, a, b, state)
        # Whether lists and sets are alike is asked of each that it may be.
        return map_leaves(a, lambda mine: map_leaves(b, lambda other: self._compare_values(op, mine, other, state)))

    def _may_be_list(self, value: Term, state: State) -> bool:
        """Whether a value is a list or a set on some ways."""
        return isinstance(value, Conditional) and self.may_hold(value, state)

    def _compare_values(self, op: str, a: Term, b: Term, state: State) -> Term:
        if op in _COMPARISON_METHODS:
            a, b = self._beside(a, b, state), self._beside(b, a, state)
        own = self._own_comparison(op, a, b, state)
        return self.machine.apply(op, a, b) if own is None else own

    def _beside(self, value: Term, other: Term, state: State) -> Term:
        """A list as what it holds where it is compared with an input: given from outside, a list is told by that."""
        if not isinstance(value, Handle) or not isinstance(other, Symbol | Opaque) or not self._is_list(value, state):
            return value
        return self.machine.sequences.term(value, state) or value

    def _own_comparison(self, op: str, a: Term, b: Term, state: State) -> Term | None:
        """The result of a comparison that the class of an operand defines, or of two lists; None for any other."""
        if not isinstance(a, Handle):
            return None
        sequences = self.machine.sequences
        if op in _INCLUSIONS and isinstance(b, Handle) and sequences.is_set(a, state) and sequences.is_set(b, state):
            return self._set_comparison(op, a, b, state)
        if op in _COMPARISON_METHODS and isinstance(b, Handle) and self._is_list(a, state) and self._is_list(b, state):
            mine, theirs = sequences.items(a, state), sequences.items(b, state)
            if mine is None or theirs is None:
                return None
            pair = (self.machine.tuple_of(tuple(map(self.machine.value, items))) for items in (mine, theirs))
            return self.machine.apply(op, *pair)
        method = self.machine.attributes.special_method(a, _COMPARISON_METHODS.get(op, ""))
        if method is not None:
            return self.machine.value(self.machine.calls.call(method, (b,), {}, state))
        equal = self.machine.attributes.special_method(a, "__eq__") if op == "!=" else None
        if equal is None:
            return None
        return self.machine.apply("not", self.machine.truth(self.machine.calls.call(equal, (b,), {}, state), state))

    def _set_comparison(self, op: str, a: Handle, b: Handle, state: State) -> Term | None:
        """Whether one set is part of another one, or has the same elements; None when that is not known."""
        includes = self.machine.sequences.includes
        larger, smaller = (a, b) if op in (">", ">=") else (b, a)
        answers = [includes(larger, smaller, state)]
        if op in ("==", "!=", "<", ">"):
            answers.append(includes(smaller, larger, state))
        if op in ("<", ">") and answers[1] is not None:
            answers[1] = self.machine.apply("not", answers[1])
        known = [answer for answer in answers if answer is not None]
        if len(known) < len(answers):
            return None
        found = conjunction(*known)
        return self.machine.apply("not", found) if op == "!=" else found

    def _is_list(self, value: Handle, state: State) -> bool:
        info = self.machine.world.objects.get(value)
        return info is not None and info.kind == "list" and not self.machine.sequences.is_set(value, state)

    def _membership(self, item: Term, container: Term, state: State) -> Term:
        method = self.machine.attributes.special_method(container, "__contains__")
        if method is not None:
            return self.machine.truth(self.machine.calls.call(method, (item,), {}, state), state)
        return self.machine.sequences.contains(item, container, state)

    # ---- containers ----------------------------------------------------------------------

    def _sequence(self, kind: str, nodes: tuple[ir.Expr, ...], state: State) -> Term:
        items: list[Term] = []
        for node in nodes:
            if isinstance(node, ir.Starred):
                value = self.evaluate(node, state)
                spread = self.machine.calls.builtins.items(value, state)
                items.extend((opaque("*", (self.machine.plain(value),)),) if spread is None else spread)
            else:
                items.append(self.lazy(node, state))
        if kind == "tuple":
            return self.machine.tuple_of(tuple(items))
        made = self.machine.list_of(tuple(items), state)
        return self.machine.sequences.as_set(made, state) if kind == "set" else made

    def _mapping(self, items: tuple[tuple[ir.Expr | None, ir.Expr], ...], state: State) -> Term:
        result = self.machine.dict_of({}, state)
        state.write(result, "keys", self.machine.tuple_of(()))
        for key, node in items:
            value = self.evaluate(node, state)
            if key is None:
                self.machine.methods.dict_update(result, value, state)
            else:
                self.set_item(result, self.machine.value(self.evaluate(key, state)), value, state)
        return result

    def set_item(self, target: Term, key: Term, value: Term, state: State) -> None:
        """`target[key] = value`."""
        target = state.refine(self.machine.force(target))
        if isinstance(target, Handle) and target.kind == "namespace":
            builtins = self.machine.calls.builtins
            builtins.call("object.__setattr__", (self.machine.world.bound[target][0], key, value), {}, state)
            return
        if not isinstance(target, Handle) or target not in self.machine.world.objects:
            return
        method = self.machine.attributes.special_method(target, "__setitem__")
        if method is not None:
            self.machine.force(self.machine.calls.call(method, (key, value), {}, state))
            return
        if self.machine.world.objects[target].kind == "list":
            self._set_list_item(target, key, value, state)
            return
        if self.machine.world.objects[target].kind != "dict":
            return
        keys = self.machine.calls.builtins.content(target, "keys", state)
        if not isinstance(key, Constant | Atom):
            known = {name for leaf in leaves(keys or NONE) or () if isinstance(leaf, Apply) for name in leaf.args}
            self._set_open_item(target, key, tuple(sorted(known, key=repr)), value, state)
            return
        extended = map_leaves(keys or NONE, lambda leaf: self._with_key(leaf, key))
        if extended is not keys:
            state.write(target, "keys", extended)
        state.write(target, item_key(key), value)

    def _with_key(self, keys: Term, key: Term) -> Term:
        known = keys.args if isinstance(keys, Apply) else ()
        return keys if key in known else self.machine.tuple_of((*known, key))

    def _set_open_item(self, target: Handle, key: Term, known: tuple[Term, ...], value: Term, state: State) -> None:
        """An item under a key that is not known: it may be any of the known ones, or a new one."""
        for name in known:
            before = self.machine.calls.builtins.content(target, item_key(name), state) or UNSET
            state.write(target, item_key(name), conditional(self.machine.apply("==", key, name), value, before))
        self.machine.calls.builtins.open_dict(target, "an item of a dict is set under an unknown key", state, key)

    def set_slice(self, target: Term, index: ir.Slice, value: Term, state: State) -> None:
        """`target[lower:upper] = value`."""

        def assign(leaf: Term, current: State) -> Term:
            info = self.machine.world.objects.get(leaf) if isinstance(leaf, Handle) else None
            if isinstance(leaf, Handle) and info is not None and info.kind == "list":
                self.machine.methods.lists.set_slice(leaf, index, value, current)
            return NONE

        self.machine.each_leaf(target, state, assign)

    def _set_list_item(self, target: Handle, key: Term, value: Term, state: State) -> None:
        items = self.machine.calls.builtins.items(target, state)
        position = key.value if isinstance(key, Constant) else None
        if items is not None and isinstance(position, int) and -len(items) <= position < len(items):
            changed = list(items)
            changed[position] = value
            state.write(target, "items", self.machine.tuple_of(tuple(changed)))
        else:
            reason = "an item of a list is set at an unknown place"
            self.machine.methods.lists.lose(target, "list item", reason, state, key, value)

    def delete_item(self, target: Term, index: ir.Expr, state: State) -> None:
        """`del target[index]`."""

        def remove(leaf: Term, current: State) -> Term:
            info = self.machine.world.objects.get(leaf) if isinstance(leaf, Handle) else None
            if not isinstance(leaf, Handle) or info is None:
                return NONE
            if info.kind == "list":
                self.machine.methods.lists.delete_elements(leaf, index, current)
            elif info.kind == "dict":
                key = self.machine.value(self.evaluate(index, current))
                self.machine.methods.of_dict(leaf, "pop", (key,), {}, current)
            return NONE

        self.machine.each_leaf(target, state, remove)

    def dict_item(self, target: Handle, key: Term, default: Term, state: State) -> Term:
        """The value under `key`; a symbolic key chooses among the known ones."""
        builtins = self.machine.calls.builtins
        key = self.machine.value(key)
        if isinstance(key, Constant | Atom):
            found = builtins.content(target, item_key(key), state)
            unknown = builtins.opened(target, state)
            missing = default if unknown is None else opaque("item", (unknown, key))
            return map_leaves(UNSET if found is None else found, lambda leaf: missing if leaf is UNSET else leaf)
        elements = self.machine.sequences.elements(target, state)
        if elements is None:
            content = builtins.opened(target, state) or builtins.content(target, "keys", state) or NONE
            return opaque("item", (self.machine.external_argument(content), self.machine.external_argument(key)))
        result = default
        for _, known in reversed(elements):
            value = self.dict_item(target, known, default, state)
            result = conditional(self.machine.apply("==", key, known), value, result)
        return result

    def _subscript(self, value: Term, index: ir.Expr, state: State) -> Term:
        if isinstance(index, ir.Slice):
            return self._slice(value, index, state)
        key = self.machine.value(self.evaluate(index, state))
        return self.machine.each_leaf(value, state, lambda leaf, s: self.item(leaf, key, s))

    def item(self, leaf: Term, key: Term, state: State) -> Term:
        """`leaf[key]`."""
        method = self.machine.attributes.special_method(leaf, "__getitem__")
        if method is not None:
            return self.machine.calls.call(method, (key,), {}, state)
        info = self.machine.world.objects.get(leaf) if isinstance(leaf, Handle) and leaf.kind == "object" else None
        if isinstance(leaf, Handle) and info is not None and info.kind == "dict":
            self._supply_default(leaf, key, state)
            return self.dict_item(leaf, key, raising("KeyError"), state)
        if isinstance(leaf, Handle) and leaf.kind == "namespace":
            return self.machine.calls.builtins.call("getattr", (self.machine.world.bound[leaf][0], key), {}, state)
        if isinstance(leaf, Handle) and leaf.kind == "class":
            return self._class_item(leaf, key, state)
        items = self.machine.calls.builtins.items(leaf, state)
        if items is not None and isinstance(key, Constant) and isinstance(key.value, int):
            if -len(items) <= key.value < len(items):
                return items[key.value]
            return raising("IndexError")
        whole = None if isinstance(leaf, Symbol) else self.machine.sequences.term(leaf, state)
        if whole is None:
            whole = self.machine.calls.builtins.sequence(leaf, state)
        plain = (whole, self.machine.external_argument(key))
        return self.machine.canonical(opaque("item", plain))

    def _supply_default(self, target: Handle, key: Term, state: State) -> None:
        """A ``defaultdict`` makes what it does not have."""
        factory = self.machine.calls.builtins.content(target, "factory", state)
        if factory is not None and isinstance(key, Constant) and self.dict_item(target, key, UNSET, state) is UNSET:
            self.set_item(target, key, self.machine.calls.call(factory, (), {}, state), state)

    def _class_item(self, leaf: Handle, key: Term, state: State) -> Term:
        """`Kind[name]` on an enum."""
        facts = self.machine.program.class_facts(leaf.key)
        result: Term = raising("KeyError")
        for name in reversed(list(facts.fields)):
            member = self.machine.attributes.read(leaf, name, state)
            result = conditional(self.machine.apply("==", key, constant(name)), member, result)
        return result

    def _same_kind(self, value: Term, items: tuple[Term, ...], state: State) -> Term:
        """A part of a sequence: a list of a list, a text of a text, else a tuple."""
        sequence = state.refine(self.machine.force(value))
        if isinstance(sequence, Constant) and isinstance(sequence.value, str):
            return constant("".join(str(item.value) for item in items if isinstance(item, Constant)))
        return self.machine.list_of(items, state) if isinstance(sequence, Handle) else self.machine.tuple_of(items)

    def _slice(self, value: Term, node: ir.Slice, state: State) -> Term:
        parts = [
            None if p is None else self.machine.value(self.evaluate(p, state))
            for p in (node.lower, node.upper, node.step)
        ]
        items = self.machine.calls.builtins.items(value, state)
        if items is not None and all(part is None or isinstance(part, Constant) for part in parts):
            bounds: list[Any] = [part.value if isinstance(part, Constant) else None for part in parts]
            return self._same_kind(value, items[slice(*bounds)], state)
        plain = tuple(NONE if part is None else part for part in parts)
        whole = self.machine.sequences.term(value, state)
        if whole is not None and not isinstance(whole, Symbol):
            return self.machine.apply("slice", whole, *plain)
        return opaque("slice", (self.machine.calls.builtins.sequence(value, state), *plain))


def _is_type(value: Term) -> bool:
    """Whether a value is a class, or a union of classes."""
    return all(isinstance(part, Handle) and part.kind in ("class", "builtin") for part in _types(value))


def _types(value: Term) -> tuple[Term, ...]:
    return value.args if isinstance(value, Apply) and value.op == "tuple" and value.args else (value,)
