"""Folding constructors: the only way the interpreter makes terms.

They keep meaning exactly (Python's operation order and types) and only fold what is
decided: constant operands, equal branches, boolean identities.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final

from analyzer.domain.magnitude import TooLargeError, compute
from analyzer.domain.operators import BOOLEAN_RESULT, COMPARISONS, OPERATORS
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
    Raise,
    Symbol,
    Term,
    children,
    constant,
    is_maybe,
    opaque,
    post_order,
    raw_apply,
    raw_conditional,
    symbols_of,
)

# A comparison of a conditional with constants is pushed into its leaves up to this many leaves.
_MAX_PUSHED_LEAVES = 64
_NEGATIVE: Final = frozenset({"not", "!=", "is not", "not in"})


def is_boolean(term: Term) -> bool:
    """Whether `term` always evaluates to a bool."""
    match term:
        case Constant(value):
            return isinstance(value, bool)
        case Apply(op, _):
            return op in BOOLEAN_RESULT
        case Conditional():
            return truth(term) is term
        case _:
            return False


def leaves(term: Term, limit: int = _MAX_PUSHED_LEAVES) -> list[Term] | None:
    """The values a nest of conditionals can take, or None when there are more than `limit`."""
    found: list[Term] = []
    seen: set[int] = set()
    stack = [term]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Conditional):
            stack.extend((node.otherwise, node.then))
        else:
            found.append(node)
            if len(found) > limit:
                return None
    return found


def map_leaves(term: Term, function: Callable[[Term], Term]) -> Term:
    """`term` with `function` applied to each value its conditionals can take."""
    if not isinstance(term, Conditional):
        return function(term)
    memo: dict[int, Term] = {}

    def visit(node: Term) -> Term:
        known = memo.get(id(node))
        if known is None:
            if isinstance(node, Conditional):
                then, otherwise = visit(node.then), visit(node.otherwise)
                unchanged = then is node.then and otherwise is node.otherwise
                known = node if unchanged else conditional(node.guard, then, otherwise)
            else:
                known = function(node)
            memo[id(node)] = known
        return known

    return visit(term)


def is_plain_tuple(term: Term) -> bool:
    """Whether `term` is a sequence all of whose elements are there, whatever the inputs are."""
    return isinstance(term, Apply) and term.op == "tuple" and not any(map(is_maybe, term.args))


def _is_absent(term: Term) -> bool:
    return is_maybe(term) and children(term)[0] is FALSE


def truth(term: Term) -> Term:
    """`bool(term)` as a guard."""
    if type(term) is Apply and term.op in BOOLEAN_RESULT:  # nearly always, and asked more often than anything else
        return term
    match term:
        case Constant(value):
            return constant(bool(value))
        case Atom() | Handle():
            return TRUE
        case Raise():
            return term
        case Conditional():
            if term.as_guard is None:
                term.as_guard = _conditional_truth(term)
            return term.as_guard
        case Apply("tuple", args) if is_plain_tuple(term):
            return constant(bool(args))
        case _:
            return raw_apply("bool", (term,))


def _conditional_truth(term: Conditional) -> Term:
    """`bool()` of a conditional goes into its branches when one of them then needs no `bool()`."""
    then, otherwise = truth(term.then), truth(term.otherwise)
    if then is term.then and otherwise is term.otherwise:
        return term
    if _undecided(then) and _undecided(otherwise):
        return raw_apply("bool", (term,))
    return conditional(term.guard, then, otherwise)


def _undecided(guard: Term) -> bool:
    return isinstance(guard, Apply) and guard.op == "bool"


# What is true exactly where another comparison of the same operands is not.
_OPPOSITE: Final = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}


def negate(term: Term) -> Term:
    """`not term`."""
    guard = truth(term)
    if isinstance(guard, Apply):
        if guard.op == "not":
            return guard.args[0]
        return raw_apply(_OPPOSITE[guard.op], guard.args) if guard.op in _OPPOSITE else raw_apply("not", (guard,))
    if isinstance(guard, Constant):
        return FALSE if guard.value else TRUE
    return guard if isinstance(guard, Raise) else raw_apply("not", (guard,))


def conjunction(*terms: Term) -> Term:
    """`a and b and ...` of guards."""
    return _connected("and", TRUE, FALSE, terms)


def disjunction(*terms: Term) -> Term:
    """`a or b or ...` of guards."""
    return _connected("or", FALSE, TRUE, terms)


def differ(one: Term | None, other: Term | None) -> bool:
    """Whether these are two literals of one type that are not equal."""
    if not (isinstance(one, Constant) and isinstance(other, Constant)):
        return False
    return type(one.value) is type(other.value) and one.value != other.value


def _connected(op: str, neutral: Term, decisive: Term, terms: Iterable[Term]) -> Term:
    """`terms` joined by `op`, each part once; a part beside its opposite decides."""
    parts: dict[Term, None] = {}
    for term in terms:
        guard = truth(term)
        if guard is decisive:
            return decisive
        # Parts that are joined already do not contradict each other.
        is_first = not parts
        for part in guard.args if isinstance(guard, Apply) and guard.op == op else (guard,):
            if part is neutral or part in parts:
                continue
            if not is_first and negate(part) in parts:
                return decisive
            parts[part] = None
    if not parts:
        return neutral
    left = list(parts) if len(parts) == 1 else _compact(op, list(parts))
    if left is None:
        return decisive
    if left != list(parts):
        return _connected(op, neutral, decisive, left)
    return left[0] if len(left) == 1 else raw_apply(op, left)


def _compact(op: str, parts: list[Term]) -> list[Term] | None:
    """The parts of an `op` without what the others say already; None where they contradict each other."""
    equal: dict[Term, Constant] = {}
    same, other = ("==", "!=") if op == "and" else ("!=", "==")
    for part in parts:
        asked = compared(part, same)
        if asked is not None and differ(equal.setdefault(*asked), asked[1]):
            return None
    everything, before = frozenset(parts), set[Term]()
    left: list[Term] = []
    for part in parts:
        asked = compared(part, other) if equal else None
        if asked is None or not differ(equal.get(asked[0]), asked[1]):
            rest = _rest(part, op, before, everything)
            if rest is None:
                return None
            left += (rest,) if rest is not part or not _is_said(part, op, everything) else ()
        before.add(part)
    return left


def _rest(part: Term, op: str, before: Container[Term], parts: frozenset[Term]) -> Term | None:
    """What is left of one of the `parts` of an `op` beside the others; None where it contradicts them.

    `a and not (a and b)` is `a and not b`. The other way round, `b` may fail where `a` does not hold.
    """
    if isinstance(part, Conditional):
        decided = part.guard in parts, negate(part.guard) in parts
        return part if decided[0] is decided[1] else part.then if decided[op == "or"] else part.otherwise
    joined = part.args[0] if isinstance(part, Apply) and part.op == "not" else None
    if not isinstance(joined, Apply) or joined.op != op:
        return part
    if parts.issuperset(joined.args):
        return None
    left = [arg for arg in joined.args if arg not in before]
    if len(left) == len(joined.args):
        return part
    return negate(conjunction(*left) if op == "and" else disjunction(*left))


def _is_said(part: Term, op: str, parts: frozenset[Term]) -> bool:
    """Whether the other parts say what this one does: `a or b` beside `a`, as parts of an `and`."""
    if not isinstance(part, Apply) or part.op != ("or" if op == "and" else "and"):
        return False
    return any(
        arg in parts or (isinstance(arg, Apply) and arg.op == op and parts.issuperset(arg.args)) for arg in part.args
    )


def _parts(guard: Term, op: str) -> frozenset[Term]:
    """What an `op` joins; any other guard is one part."""
    return frozenset(guard.args if isinstance(guard, Apply) and guard.op == op else (guard,))


def compared(guard: Term, op: str) -> tuple[Term, Constant] | None:
    """What is compared by `op` with which literal; None for any other guard."""
    if not isinstance(guard, Apply) or guard.op != op:
        return None
    match guard.args:
        case (Constant(), Constant()):
            return None
        case (term, Constant() as literal) | (Constant() as literal, term):
            return term, literal
        case _:
            return None


def conditional(guard: Term, then: Term, otherwise: Term) -> Term:
    """`then if guard else otherwise`, folded."""
    guard = truth(guard)
    if isinstance(guard, Constant):
        return then if guard.value else otherwise
    if isinstance(guard, Raise):
        return guard
    if then is otherwise:
        return then
    if isinstance(guard, Apply) and guard.op in _NEGATIVE:
        guard, then, otherwise = negate(guard), otherwise, then
    if isinstance(guard, Conditional):
        folded = _conditional_guard(guard, then, otherwise)
        if folded is not None:
            return folded
    return _fold_branches(guard, _given(guard, then, holds=True), _given(guard, otherwise, holds=False))


def _given(guard: Term, branch: Term, *, holds: bool) -> Term:
    """What is left of `branch` where it is known whether `guard` holds."""
    if isinstance(branch, Conditional):
        op = "and" if holds else "or"
        if _parts(guard, op) >= _parts(branch.guard, op):
            return branch.then if holds else branch.otherwise
    if branch is guard:
        return constant(holds)
    if isinstance(branch, Apply) and branch.op in _NEGATIVE and negate(branch) is guard:
        return constant(not holds)
    return branch


def _fold_branches(guard: Term, then: Term, otherwise: Term) -> Term:
    """A conditional whose guard is not known; equal branches are shared."""
    if then is otherwise:
        return then
    boolean = _boolean_conditional(guard, then, otherwise)
    if boolean is not None:
        return boolean
    if isinstance(otherwise, Conditional) and otherwise.then is then:
        return conditional(disjunction(guard, otherwise.guard), then, otherwise.otherwise)
    if isinstance(then, Conditional) and then.otherwise is otherwise:
        return conditional(conjunction(guard, then.guard), then.then, otherwise)
    return raw_conditional(guard, then, otherwise)


def _conditional_guard(guard: Conditional, then: Term, otherwise: Term) -> Term | None:
    """A guard that is itself a conditional with a raising branch: the raise comes first."""
    if isinstance(guard.then, Raise):
        return raw_conditional(guard.guard, guard.then, conditional(guard.otherwise, then, otherwise))
    if isinstance(guard.otherwise, Raise):
        return raw_conditional(guard.guard, conditional(guard.then, then, otherwise), guard.otherwise)
    return None


def _boolean_conditional(guard: Term, then: Term, otherwise: Term) -> Term | None:
    if then is TRUE and otherwise is FALSE:
        return guard
    if then is FALSE and otherwise is TRUE:
        return negate(guard)
    if then is TRUE and is_boolean(otherwise):
        return disjunction(guard, otherwise)
    if otherwise is FALSE and is_boolean(then):
        return conjunction(guard, then)
    if then is FALSE and is_boolean(otherwise):
        return conjunction(negate(guard), otherwise)
    if otherwise is TRUE and is_boolean(then):
        return disjunction(negate(guard), then)
    return None


def _connective(op: str, args: tuple[Term, ...]) -> Term:
    """`and` and `or` of guards: what comes after the operand that decides is never computed."""
    combine, decisive = (conjunction, FALSE) if op == "and" else (disjunction, TRUE)
    for position, arg in enumerate(args):
        if isinstance(arg, Raise):
            before = combine(*args[:position])
            return conditional(before, arg, FALSE) if op == "and" else conditional(before, TRUE, arg)
        if truth(arg) is decisive:
            return decisive
    return combine(*args)


def apply(op: str, *args: Term) -> Term:
    """`op` applied to `args`, folded where every operand is known."""
    if op in ("and", "or"):
        return _connective(op, args)
    for arg in args:
        if isinstance(arg, Raise):
            return arg
    if op == "not":
        return negate(args[0])
    if op == "bool":
        return truth(args[0])
    if op in COMPARISONS:
        return compare(op, args[0], args[1])
    folded = _fold_sequence(op, args) if op in _OF_SEQUENCES else _fold_constants(op, args)
    if folded is not None:
        return folded
    return _simplified(op, args) or raw_apply(op, args)


def _simplified(op: str, args: tuple[Term, ...]) -> Term | None:
    """What an operation comes down to whatever its operands are worth; None when it is needed."""
    first = args[0] if args else None
    if op in ("min", "max") and len(args) > 1 and all(arg is first for arg in args):
        return first
    if op in _IDEMPOTENT_CASTS and isinstance(first, Apply) and first.op == op:
        return first
    if op == "present" and isinstance(first, Constant | Atom):
        return TRUE
    return None


_EMPTY = raw_apply("tuple", ())
_OF_SEQUENCES = frozenset({"tuple", "maybe", "len", "concat"})


def _fold_sequence(op: str, args: tuple[Term, ...]) -> Term | None:
    """A sequence whose elements are known to be there or not."""
    match op, args:
        case "maybe", (guard, value):
            return value if guard is TRUE else None
        case "tuple", _ if any(map(_is_absent, args)):
            return raw_apply(op, tuple(arg for arg in args if not _is_absent(arg)))
        case "len", (sequence,) if is_plain_tuple(sequence):
            return constant(len(children(sequence)))
        case "concat", _ if _EMPTY in args or len(args) == 1:
            parts = [part for part in args if part is not _EMPTY]
            return apply("concat", *parts) if len(parts) > 1 else parts[0] if parts else _EMPTY
        case _:
            return None


_IDEMPOTENT_CASTS = frozenset({"int", "float", "str", "upper", "lower", "strip"})


def _fold_constants(op: str, args: tuple[Term, ...]) -> Term | None:
    values = [arg.value for arg in args if isinstance(arg, Constant)]
    if len(values) != len(args) or op not in OPERATORS:
        return None
    function = OPERATORS[op].function
    if function is None:
        return None
    try:
        result = compute(op, function, values)
    except (ArithmeticError, TypeError, ValueError, TooLargeError):
        return None
    return constant(result) if isinstance(result, int | float | bool | str | None) else None


def compare(op: str, left: Term, right: Term) -> Term:
    """A comparison, pushed into conditionals whose every leaf decides it."""
    while op in ("in", "not in") and isinstance(right, Apply) and right.op in _SAME_MEMBERS:
        right = right.args[0]
    if op == "not in":
        return negate(compare("in", left, right))
    if op == "is not":
        return negate(compare("is", left, right))
    if op == "!=":
        return negate(compare("==", left, right))
    if op == "==" and NONE in (left, right):
        op = "is"
    decided = _decide(op, left, right)
    if decided is not None:
        return decided
    for side, other, flipped in ((left, right, False), (right, left, True)):
        if isinstance(side, Conditional) and not isinstance(other, Conditional):
            values = leaves(side)
            if values is not None and _some_decided(op, values, other, flipped=flipped):
                return map_leaves(side, lambda leaf, o=other, f=flipped: _swap(op, leaf, o, f))  # type: ignore[misc]  # a lambda with defaults has no inferable type
    return raw_apply(op, (left, right))


# A set, and a sequence in another order, has what it was made of.
_SAME_MEMBERS = frozenset({"unique", "sorted", "reversed"})


def _swap(op: str, leaf: Term, other: Term, flipped: bool) -> Term:  # noqa: FBT001 - a private two-way switch
    return compare(op, other, leaf) if flipped else compare(op, leaf, other)


def _some_decided(op: str, values: list[Term], other: Term, *, flipped: bool) -> bool:
    pairs = ((other, value) if flipped else (value, other) for value in values)
    return any(isinstance(a, Raise) or _decide(op, a, b) is not None for a, b in pairs)


def _decide(op: str, left: Term, right: Term) -> Term | None:
    """The comparison of two leaves when their terms alone settle it."""
    if isinstance(left, Raise):
        return left
    if isinstance(right, Raise):
        return right
    if op in ("==", "is"):
        return _decide_equal(left, right)
    if op == "in":
        return _decide_membership(left, right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _fold_constants(op, (left, right))
    return None


def _decide_equal(left: Term, right: Term) -> Term | None:
    if left is right:
        return TRUE
    if isinstance(left, Constant) and isinstance(right, Constant):
        return constant(left.value == right.value)
    ground = (Constant, Atom, Handle)
    if isinstance(left, ground) and isinstance(right, ground):
        return FALSE
    for side, other in ((left, right), (right, left)):
        if other is NONE and (isinstance(side, Atom | Handle) or _never_none(side)):
            return FALSE
        if isinstance(side, Apply) and side.op == "tuple" and not _may_be_tuple(other):
            return FALSE
    if is_plain_tuple(left) and is_plain_tuple(right):
        return _equal_tuples(children(left), children(right))
    return None


def _equal_tuples(left: tuple[Term, ...], right: tuple[Term, ...]) -> Term:
    if len(left) != len(right):
        return FALSE
    return conjunction(*(compare("==", one, other) for one, other in zip(left, right, strict=True)))


def _may_be_tuple(term: Term) -> bool:
    return isinstance(term, Apply | Opaque | Conditional) or not isinstance(term, Constant | Atom | Handle)


def _never_none(term: Term) -> bool:
    return isinstance(term, Apply) and term.op not in ("item", "index")


def _decide_membership(left: Term, right: Term) -> Term | None:
    if isinstance(right, Apply) and right.op == "tuple":
        return disjunction(*(_is_element(left, item) for item in right.args))
    match left, right:
        case Constant(str(part)), Constant(str(whole)):
            return constant(part in whole)
    return None


def _is_element(left: Term, item: Term) -> Term:
    if isinstance(item, Apply) and item.op == "maybe":
        return conjunction(item.args[0], compare("==", left, item.args[1]))
    return compare("==", left, item)


def rebuild(term: Term, arguments: tuple[Term, ...]) -> Term:
    """`term` with its children replaced, through the folding constructors."""
    match term:
        case Apply(op, _):
            return apply(op, *arguments)
        case Conditional():
            return conditional(*arguments)
        case Opaque(name, _):
            return opaque(name, arguments)
        case _:
            return term


def rewrite(root: Term, replace: Callable[[Term], Term | None], memo: dict[Term, Term] | None = None) -> Term:
    """Rebuild `root` bottom-up; a term that `replace` returns stands for the original node as it is.

    `memo` may be shared between calls with the same `replace`.
    """
    result: dict[Term, Term] = {} if memo is None else memo
    stack = [root]
    while stack:
        term = stack[-1]
        if term in result:
            stack.pop()
            continue
        replacement = replace(term)
        before = children(term)
        if replacement is not None or not before:
            result[term] = term if replacement is None else replacement
            stack.pop()
            continue
        waiting = [child for child in before if child not in result]
        if waiting:
            stack.extend(waiting)
            continue
        after = tuple([result[child] for child in before])
        result[term] = term if after == before else rebuild(term, after)
        stack.pop()
    return result[root]


def substitute(root: Term, values: Mapping[str, Term]) -> Term:
    """`root` with the symbols in `values` replaced; what reads none of them stays untouched."""

    def replace(node: Term) -> Term | None:
        if isinstance(node, Symbol):
            return values.get(node.name, node)
        return node if values.keys().isdisjoint(symbols_of(node)) else None

    return rewrite(root, replace)


def without_raises(root: Term) -> Term:
    """`root` on the ways on which nothing is raised: a choice between a raise and a value is that value."""
    found: dict[Term, Term] = {}
    for term in post_order(root):
        arguments = tuple([found[child] for child in children(term)])
        if isinstance(term, Conditional) and isinstance(arguments[1], Raise):
            found[term] = arguments[2]
        elif isinstance(term, Conditional) and isinstance(arguments[2], Raise):
            found[term] = arguments[1]
        else:
            found[term] = term if arguments == children(term) else rebuild(term, arguments)
    return found[root]
