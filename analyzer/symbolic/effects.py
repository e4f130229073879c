"""What a statement may do, read off its syntax: the ground for leaving it alone until asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

from analyzer.domain import syntax as ir


@dataclass(frozen=True, slots=True)
class StatementEffects:
    """`calls` are simple names of callees, `binds` local names, `own_writes` attributes of ``self``.

    `bare_calls` are the callees of statements that are only a call.

    `writes` are attributes of anything else, and keywords of calls that may write options.

    `leaves` tells whether control can leave the statement (return, break, continue), `returns` whether
    the function can end in it, `raises`
    whether it can raise on purpose, `changes` whether it changes a container or sets an attribute by name,
    `yields` whether it hands something out of a generator; `handed` is what is given to whom: the simple name of
    the callee, the position or keyword, and the argument. `indirect` tells whether something is called that no name
    outside the statement stands for: what is looked up in a container, or gone through.
    """

    calls: frozenset[str]
    bare_calls: frozenset[str]
    writes: frozenset[str]
    own_writes: frozenset[str]
    binds: frozenset[str]
    leaves: bool
    returns: bool
    raises: bool
    changes: bool
    yields: bool
    handed: tuple[tuple[str, int | str, ir.Expr], ...]
    indirect: bool


_known: dict[int, tuple[object, StatementEffects]] = {}


def effects_of(node: Any) -> StatementEffects:
    """The effects of a statement or expression."""
    entry = _known.get(id(node))
    if entry is None or entry[0] is not node:
        entry = (node, _collect(node))
        _known[id(node)] = entry
    return entry[1]


_COMPOUND = (ir.If, ir.For, ir.While, ir.Try, ir.With)


def _collect(root: Any) -> StatementEffects:  # noqa: C901, PLR0912, PLR0915 - one case for each construct that has an effect
    calls: set[str] = set()
    bare: set[str] = set()
    writes: set[str] = set()
    own: set[str] = set()
    binds: set[str] = set()
    handed: list[tuple[str, int | str, ir.Expr]] = []
    called: set[str] = set()
    varying: set[str] = set()
    leaves = returns = raises = changes = yields = indirect = False
    for node in walk_syntax(root):
        match node:
            case ir.If() | ir.For() | ir.While() | ir.Try() | ir.With() if node is not root:
                inner = effects_of(node)
                calls |= inner.calls
                bare |= inner.bare_calls
                writes |= inner.writes
                own |= inner.own_writes
                binds |= inner.binds
                leaves, returns = leaves or inner.leaves, returns or inner.returns
                raises, changes = raises or inner.raises, changes or inner.changes
                yields, indirect = yields or inner.yields, indirect or inner.indirect
                handed += inner.handed
            case ir.Call(func, args):
                calls.add(_simple_name(func))
                called.update((func.id,) if isinstance(func, ir.Name) else ())
                indirect = indirect or not isinstance(func, ir.Name | ir.Attribute)
                handed += _handed(_simple_name(func), args)
                if isinstance(func, ir.Attribute) and func.attr in ir.TAKING:
                    changes = True
                    _bind_holder(func.value, binds, writes, own)
                # A function that is handed on may be called.
                calls.update(name for arg in args for name in functions_in(arg.value))
                if isinstance(func, ir.Attribute):
                    writes.update(arg.keyword for arg in args if arg.keyword)
            case ir.Assign(targets=targets):
                changes = changes or any(_is_namespace_item(target) for target in targets)
                for target in targets:
                    _bind(target, binds, writes, own)
            case ir.Augment(target=target) | ir.For(target=target):
                _bind(target, binds, writes, own)
            case ir.Comprehension(clauses=clauses):
                for clause in clauses:
                    _bind(clause.target, varying, writes, own)
            case ir.With(items=items):
                calls.update(("__enter__", "__exit__"))
                for _, name in items:
                    if name is not None:
                        _bind(name, binds, writes, own)
            case ir.Walrus(target=name) | ir.FunctionStatement(name=name):
                binds.add(name)
            case ir.ImportStatement(bindings=bindings):
                binds.update(binding.name for binding in bindings)
            case ir.Return():
                leaves = returns = True
            case ir.Yield():
                yields = True
            case ir.Jump(kind=kind) if kind != "pass":
                leaves = True
            case ir.RaiseStatement() | ir.Assert():
                raises = True
            case ir.Evaluate(ir.Call(ir.Attribute(attr=name) | ir.Name(name) as callee)):
                bare.add(name)
                changes = changes or name in ir.CHANGES
                if name in ir.CHANGES and isinstance(callee, ir.Attribute):
                    _bind_holder(callee.value, binds, writes, own)
            case ir.Delete(targets=targets):
                changes = True
                for target in targets:
                    _bind(target, binds, writes, own)
            case ir.UnsupportedStatement(binds=names):
                binds.update(names)
            case _:
                pass
    if isinstance(root, ir.For | ir.While):
        # What breaks or continues a loop stays inside it.
        leaves = returns
    return StatementEffects(
        frozenset(calls),
        frozenset(bare),
        frozenset(writes),
        frozenset(own),
        frozenset(binds),
        leaves,
        returns,
        raises,
        changes,
        yields,
        tuple(handed),
        indirect or not called.isdisjoint(binds | varying),
    )


def _handed(callee: str, args: tuple[ir.Argument, ...]) -> Iterator[tuple[str, int | str, ir.Expr]]:
    """The arguments of a call that may be containers of somebody else."""
    for position, arg in enumerate(args):
        elements = arg.value.items if arg.star == "*" and isinstance(arg.value, ir.Sequence) else (arg.value,)
        for element in elements:
            if isinstance(element, ir.Name | ir.Attribute | ir.Subscript):
                yield callee, arg.keyword or position, element


def walk_syntax(node: Any, *, nested: bool = False) -> Iterator[Any]:
    """`node` and what it consists of; a compound statement inside it is not entered."""
    yield node
    if isinstance(node, _COMPOUND) and nested:
        return
    # What a nested function does happens when it is called.
    if isinstance(node, ir.FunctionStatement | ir.Lambda):
        return
    for name in parts_of(node):
        yield from _walk_part(getattr(node, name))


def _walk_part(part: Any) -> Iterator[Any]:
    if isinstance(part, tuple):
        for item in part:
            yield from _walk_part(item)
    elif part is not None and not isinstance(part, _SCALARS):
        yield from walk_syntax(part, nested=True)


_SCALARS: Final = (str, int, float, bool)


_part_names: dict[type[object], tuple[str, ...]] = {}


def parts_of(node: Any) -> tuple[str, ...]:
    """The fields of a node that can hold something."""
    kind = type(node)
    if kind not in _part_names:
        _part_names[kind] = tuple(item.name for item in fields(node) if item.name not in ("line", "end_line"))
    return _part_names[kind]


def _is_namespace_item(target: ir.Expr) -> bool:
    """Whether setting `target` sets an attribute by its name."""
    match target:
        case ir.Subscript(value=ir.Attribute(attr="__dict__") | ir.Call(func=ir.Name("vars"))):
            return True
        case _:
            return False


def _bind(target: ir.Expr, binds: set[str], writes: set[str], own: set[str]) -> None:
    match target:
        case ir.Name(name):
            binds.add(name)
        case ir.Attribute(value=ir.Name("self"), attr=attr):
            own.add(attr)
        case ir.Attribute(attr=attr):
            writes.add(attr)
        case ir.Subscript(value=container):
            _bind_holder(container, binds, writes, own)
        case ir.Sequence(items=items):
            for item in items:
                _bind(item, binds, writes, own)
        case ir.Starred(value=value):
            _bind(value, binds, writes, own)
        case _:
            pass


def _bind_holder(container: ir.Expr, binds: set[str], writes: set[str], own: set[str]) -> None:
    """To change a container is to write what holds it."""
    match container:
        case ir.Name() | ir.Attribute() | ir.Subscript():
            _bind(container, binds, writes, own)
        case _:
            pass


def functions_in(value: ir.Expr) -> Iterator[str]:
    """The simple names of the functions that an expression may be, or hold."""
    match value:
        case ir.Name() | ir.Attribute():
            yield _simple_name(value)
        case ir.Sequence(items=items):
            yield from (name for item in items for name in functions_in(item))
        case ir.Mapping(items=pairs):
            yield from (name for _, item in pairs for name in functions_in(item))
        case ir.IfExpression(then=then, otherwise=otherwise):
            yield from (*functions_in(then), *functions_in(otherwise))
        case _:
            pass


def _simple_name(node: ir.Expr) -> str:
    match node:
        case ir.Name(name):
            return name
        case ir.Attribute(attr=attr):
            return attr
        case ir.Subscript(value=root) | ir.Call(func=root) | ir.Walrus(value=root):
            return _simple_name(root)
        case _:
            return "?"
