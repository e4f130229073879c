"""Comprehensions over sequences of unknown content: one canonical term for each way to write them."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.domain import syntax as ir
from analyzer.domain.build import conditional, conjunction, disjunction, is_boolean, negate, rewrite
from analyzer.domain.iteration import EACH, FOR, is_loop_variable
from analyzer.domain.terms import NONE, Apply, Constant, Opaque, Term, children, constant, opaque, raw_apply, walk
from analyzer.symbolic.effects import walk_syntax

_MIRRORED = {">": "<", ">=": "<="}
# Loop variables are whole numbers, never nan.
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_ENDS = 2
_ELEMENT = opaque("element of a sequence")
# Kinds of comprehension that have one element for each row.
_ROWWISE = frozenset({"list", "generator"})


def each(kind: str, clauses: Sequence[tuple[Term, Term, Sequence[Term]]], elements: Sequence[Term]) -> Term:
    """The comprehension of `elements` over `clauses`: a loop variable, what it runs over, and conditions.

    A condition in which no loop variable occurs decides over the whole.
    """
    parts: list[Term] = []
    outside: list[Term] = []
    for variable, iterable, conditions in clauses:
        inside = [part for part in _conjuncts(conditions) if _varies(part)]
        outside += [part for part in _conjuncts(conditions) if not _varies(part)]
        parts.append(opaque(FOR, (variable, iterable, *inside)))
    return conditional(conjunction(*outside), opaque(EACH, (constant(kind), *parts, *elements)), _NOTHING)


_NOTHING = raw_apply("tuple", ())


def count_of(term: Term) -> Term | None:
    """`len()` of a comprehension, which does not depend on what its elements are; None for another term."""
    if not isinstance(term, Opaque) or term.name != EACH or not term.args:
        return None
    kind, *parts = term.args
    if not isinstance(kind, Constant) or kind.value not in _ROWWISE:
        return opaque("len", (term,))
    return opaque("len", (opaque(EACH, (constant("list"), *map(_over_elements, parts[:-1]), constant(1))),))


def _over_elements(clause: Term) -> Term:
    """A clause over the positions of a sequence, where only elements at them are looked at, as one over elements."""
    match clause:
        case Opaque("for", (variable, Opaque("range", (start, stop)), *conditions)) if conditions:
            pass
        case _:
            return clause
    items = {part for condition in conditions for part in walk(condition) if _is_item_at(part, variable)}
    if len(items) != 1:
        return clause
    item = next(iter(items))
    sequence = children(item)[0]
    elements = [rewrite(condition, lambda node: _ELEMENT if node is item else None) for condition in conditions]
    if variable in set(walk(sequence, *elements)):
        return clause
    part = opaque("slice", (sequence, start, stop, NONE))
    renamed = (rewrite(element, lambda node: variable if node is _ELEMENT else None) for element in elements)
    return opaque(FOR, (variable, part, *renamed))


def _is_item_at(term: Term, position: Term) -> bool:
    return isinstance(term, Opaque) and term.name == "item" and term.args[1:] == (position,)


def range_end(term: Term, name: str) -> Term | None:
    """An attribute of a range: where it starts, where it stops, or its step; None for anything else."""
    match term:
        case Opaque("range", (stop,)):
            ends = {"start": constant(0), "stop": stop, "step": constant(1)}
        case Opaque("range", (start, stop)):
            ends = {"start": start, "stop": stop, "step": constant(1)}
        case Opaque("range", (start, stop, step)):
            ends = {"start": start, "stop": stop, "step": step}
        case _:
            ends = {}
    return ends.get(name)


def sum_of(term: Term) -> Term | None:
    """`sum()` of a comprehension that counts rows (``1 for ...``) or conditions; None for another one."""
    if not isinstance(term, Opaque) or term.name != EACH or not term.args:
        return None
    *parts, last, element = term.args
    if element is constant(1):
        return count_of(term)
    if not is_boolean(element) or not isinstance(last, Opaque):
        return None
    return count_of(opaque(EACH, (*parts, opaque(FOR, (*last.args, *_conjuncts((element,)))), constant(1))))


def _conjuncts(conditions: Sequence[Term]) -> list[Term]:
    guard = conjunction(*map(_without_negation, conditions))
    parts = guard.args if isinstance(guard, Apply) and guard.op == "and" else (guard,)
    return [_oriented(bound) for part in parts for bound in _bounds(part)]


def _bounds(condition: Term) -> tuple[Term, ...]:
    """Membership of a loop variable in a range without a step: what it says of both ends."""
    match condition:
        case Apply("in", (number, Opaque("range", bounds))) if is_loop_variable(number) and len(bounds) <= _ENDS:
            *low, high = bounds
            return raw_apply("<=", (low[0] if low else constant(0), number)), raw_apply("<", (number, high))
        case _:
            return (condition,)


def _without_negation(condition: Term) -> Term:
    """A condition with "not" moved to its parts."""
    match condition:
        case Apply("not", (Apply("and", args),)):
            return disjunction(*(_without_negation(negate(arg)) for arg in args))
        case Apply("not", (Apply("or", args),)):
            return conjunction(*(_without_negation(negate(arg)) for arg in args))
        case _:
            return condition


def _oriented(condition: Term) -> Term:
    """A comparison written with ``<`` or ``<=``."""
    match condition:
        case Apply(">" | ">=" as op, (left, right)):
            return raw_apply(_MIRRORED[op], (right, left))
        case Apply("not", (Apply("<" | "<=" | ">" | ">=" as op, (left, right)),)):
            return _oriented(raw_apply(_OPPOSITE[op], (left, right)))
        case _:
            return condition


def _varies(condition: Term) -> bool:
    return any(is_loop_variable(part) for part in walk(condition))


def collected(loop: ir.For) -> list[tuple[ir.Name, str, ir.Comprehension]] | None:
    """What a loop that only collects or counts does: accumulator, ``append`` or ``+``, and the values.

    None for a loop that does anything else, or that reads what it accumulates.
    """
    found: list[tuple[ir.Name, str, ir.Comprehension]] = []
    if loop.orelse or not _collect(loop, loop.body, (), found):
        return None
    accumulators = {name.id for name, _, _ in found}
    read = {name for _, _, values in found for name in _names_read(values)}
    return None if accumulators & read or not found else found


def _collect(
    loop: ir.For,
    body: tuple[ir.Stmt, ...],
    conditions: tuple[ir.Expr, ...],
    found: list[tuple[ir.Name, str, ir.Comprehension]],
) -> bool:
    for statement in body:
        match statement:
            case ir.If(test, then, otherwise):
                opposite = ir.Unary("not", test, statement.line)
                if not _collect(loop, then, (*conditions, test), found):
                    return False
                if not _collect(loop, otherwise, (*conditions, opposite), found):
                    return False
            case ir.Evaluate(ir.Call(ir.Attribute(ir.Name() as target, "append"), (ir.Argument(value=value),))):
                found.append((target, "append", _comprehension(loop, conditions, value)))
            case ir.Augment(ir.Name() as target, "+", value):
                found.append((target, "+", _comprehension(loop, conditions, value)))
            case ir.Jump("pass"):
                pass
            case _:
                return False
    return True


def _comprehension(loop: ir.For, conditions: tuple[ir.Expr, ...], value: ir.Expr) -> ir.Comprehension:
    clause = ir.Clause(loop.target, loop.iterable, conditions)
    return ir.Comprehension("list", value, None, (clause,), loop.line)


def _names_read(values: ir.Comprehension) -> set[str]:
    return {part.id for part in walk_syntax(values) if isinstance(part, ir.Name)}
