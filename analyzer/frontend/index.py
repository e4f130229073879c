"""A cheap index of one file: what it defines and where, before anything is lowered.

The standard parser takes a tenth of libcst's time and gives exact line offsets, so only the
definitions that an analysis reaches are ever parsed in full.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache

from analyzer.domain.errors import SourceSyntaxError
from analyzer.domain.modules import ClassFacts, Definition, Effects, Field, ModuleFacts, ModuleStatement, Slot
from analyzer.domain.source import SourceFile
from analyzer.domain.syntax import CONTAINER_CHANGES, ImportBinding
from analyzer.frontend.rebinding import rebound_variables
from analyzer.frontend.taken import dotted, root_of_callee, taken

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
# So many names for one container in a row are followed.
_MAX_ALIASES = 4
_NAMED_TUPLES = frozenset({"namedtuple", "NamedTuple"})
_NAME_AND_FIELDS = 2


def index_module(file: SourceFile, module: str) -> ModuleFacts:
    """The facts of `file`. Raises SourceSyntaxError when it is not valid Python."""
    try:
        # Bytes, so that a byte-order mark and a coding cookie are honoured.
        tree = ast.parse(file.content)
        lines = _lines(file.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError) as error:
        line = getattr(error, "lineno", None) or 1
        raise SourceSyntaxError(
            f"{file.path} does not parse: {_reason(error)}",
            where=f"line {line}",
            hint="the ref may be broken, or need a newer Python than the one that runs the analyzer",
        ) from error
    return _Indexer(file.path, module, lines, rebound_variables(file.content, tree)).index(tree)


def _lines(content: bytes) -> list[str]:
    # Not splitlines(): it also splits on form feeds and separators, which the parser does not.
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    return [line + "\n" for line in text.split("\n")]


def _reason(error: BaseException) -> str:
    return (error.msg if isinstance(error, SyntaxError) else str(error)) or type(error).__name__


class _Indexer:
    def __init__(self, path: str, module: str, lines: list[str], reassigned: frozenset[str]) -> None:
        self._reassigned = reassigned
        self._path = path
        self._module = module
        self._lines = lines
        self._imports: dict[str, ImportBinding] = {}
        self._stars: list[str] = []
        self._functions: dict[str, Definition] = {}
        self._classes: dict[str, ClassFacts] = {}
        self._statements: list[ModuleStatement] = []
        self._calls: list[ModuleStatement] = []
        self._patches: list[ModuleStatement] = []
        self._bound: set[str] = set()
        # What is imported or defined in any case, and of that what is imported again under a condition.
        self._certain: set[str] = set()
        self._rebound: dict[str, ImportBinding] = {}

    def index(self, tree: ast.Module) -> ModuleFacts:
        for node in tree.body:
            self._visit(node)
        return ModuleFacts(
            self._module,
            self._path,
            tuple(self._stars),
            self._imports,
            self._functions,
            self._classes,
            tuple(self._statements),
            tuple(self._calls),
            self._reassigned,
            tuple(self._patches),
            self._rebound,
        )

    def _visit(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._bind(node, overwrite=True)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._functions[node.name] = self._definition(node, "")
            case ast.ClassDef():
                self._classes[node.name] = self._class(node)
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                # What only a type checker imports is a name in annotations, and binds nothing again.
                certain, self._certain = self._certain, set()
                self._compound(node)
                self._certain = certain
            case ast.If() | ast.Try() | ast.With():
                self._compound(node)
            case _:
                self._statement(node)

    def _compound(self, node: ast.stmt) -> None:
        """A top-level statement that may define names on some ways through it."""
        self._statement(node)
        for child in _nested_statements(node):
            if isinstance(child, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._visit_nested(child)

    def _bind(self, node: ast.Import | ast.ImportFrom, *, overwrite: bool) -> None:
        for binding in import_bindings(node, self._module, is_package=self._path.endswith("__init__.py")):
            if binding.member == "*":
                self._stars.append(binding.module)
            elif overwrite or binding.name not in self._imports:
                self._imports[binding.name] = binding
            elif binding.name in self._certain and binding != self._imports[binding.name]:
                self._rebound[binding.name] = binding
            if overwrite:
                self._certain.add(binding.name)
                self._rebound.pop(binding.name, None)

    def _visit_nested(self, node: ast.stmt) -> None:
        """A definition under a top-level if or try: the first one stands for all."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._bind(node, overwrite=False)
        elif isinstance(node, ast.ClassDef):
            self._classes.setdefault(node.name, self._class(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in self._functions:
            self._functions[node.name] = self._definition(node, "")

    def _statement(self, node: ast.stmt) -> None:
        names = frozenset(
            child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
        )
        for owner, attributes in _patched(node).items():
            if owner in self._bound:
                # What a variable of the module holds is changed where the variable is set.
                names |= {owner}
            else:
                self._patches.append(ModuleStatement(frozenset(attributes), self._text(node), node.lineno))
                break
        self._bound |= names
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                fields := _named_tuple(call)
            ) is not None:
                self._classes[name] = ClassFacts(
                    self._module, self._path, name, node.lineno, ("NamedTuple",), (), {}, _fields(fields, node.lineno)
                )
                return
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=changed)))):
                names |= {changed}
                self._calls.append(ModuleStatement(frozenset({changed}), self._text(node), node.lineno))
            case ast.Expr(value=ast.Call(func=func)):
                # `register("name")(function)` calls what `register` returns.
                called = root_of_callee(func)
                if isinstance(called, ast.Name):
                    self._calls.append(ModuleStatement(frozenset({called.id}), self._text(node), node.lineno))
            case _:
                pass
        if names:
            self._statements.append(ModuleStatement(names, self._text(node), node.lineno))

    def _class(self, node: ast.ClassDef) -> ClassFacts:
        methods: dict[str, Definition] = {}
        fields: dict[str, Field] = {}
        setters: dict[str, Definition] = {}
        deleters: dict[str, Definition] = {}
        bases = []
        for base in node.bases:
            inherited = _named_tuple(base) if isinstance(base, ast.Call) else None
            fields |= _fields(inherited or (), node.lineno)
            bases.append(ast.unparse(base) if inherited is None else "NamedTuple")
        for child in node.body:
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    definition = self._definition(child, f"{node.name}.")
                    # A property setter shares the name of its getter, which is what reads need.
                    if not any(decorator.endswith((".setter", ".deleter")) for decorator in definition.decorators):
                        methods[child.name] = definition
                    elif any(decorator.endswith(".setter") for decorator in definition.decorators):
                        setters[child.name] = definition
                    else:
                        deleters[child.name] = definition
                case ast.AnnAssign(target=ast.Name(id=name)):
                    value = None if child.value is None else self._text(child.value)
                    fields[name] = Field(name, ast.unparse(child.annotation), value, child.lineno)
                case ast.Assign(targets=targets):
                    for target in targets:
                        if isinstance(target, ast.Name):
                            fields[target.id] = Field(target.id, None, self._text(child.value), child.lineno)
        return ClassFacts(
            self._module,
            self._path,
            node.name,
            node.lineno,
            tuple(bases),
            tuple(ast.unparse(decorator) for decorator in node.decorator_list),
            methods,
            fields,
            setters,
            deleters,
        )

    def _definition(self, node: _FunctionNode, prefix: str) -> Definition:
        return Definition(
            self._module,
            self._path,
            prefix + node.name,
            node.lineno,
            self._text(node),
            tuple(ast.unparse(decorator) for decorator in node.decorator_list),
            _parameters(node.args),
            None if node.returns is None else ast.unparse(node.returns),
        )

    def _text(self, node: ast.stmt | ast.expr) -> str:
        """The source of `node`, dedented, without the decorators of a definition."""
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.expr):
            return ast.unparse(node)
        block = self._lines[node.lineno - 1 : end]
        if not node.col_offset:
            return "".join(block)
        if not block[0][: node.col_offset].isspace():
            return ast.unparse(node)
        # Not textwrap.dedent(): a multi-line string may be indented less than its statement.
        margin = node.col_offset
        # A blank line shorter than the margin stays a line, or all lines after it would move.
        return "".join((line[margin:] or "\n") if line[:margin].isspace() else line for line in block)


def _patched(root: ast.stmt) -> dict[str, set[str]]:
    """The names whose attributes a top-level statement sets, with these attributes; ``*`` for a computed one."""
    found: dict[str, set[str]] = {}
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                continue
            case ast.Attribute(attr=attribute, ctx=ast.Store() | ast.Del()):
                found.setdefault(dotted(node).partition(".")[0], set()).add(attribute)
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, _]):
                named = str(name.value) if isinstance(name, ast.Constant) else "*"
                found.setdefault(dotted(owner).partition(".")[0], set()).add(named)
            case _:
                pass
        pending.extend(ast.iter_child_nodes(node))
    return found


def _parameters(args: ast.arguments) -> tuple[tuple[str, str | None], ...]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return tuple((arg.arg, None if arg.annotation is None else ast.unparse(arg.annotation)) for arg in every)


def _nested_statements(node: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        for child in getattr(node, name, ()):
            yield child
            yield from _nested_statements(child) if isinstance(child, ast.If | ast.Try | ast.With) else ()
    for handler in getattr(node, "handlers", ()):
        yield from handler.body


def import_bindings(node: ast.Import | ast.ImportFrom, module: str, *, is_package: bool) -> list[ImportBinding]:
    """The names that an import statement in `module` binds."""
    if isinstance(node, ast.Import):
        return [
            ImportBinding(
                alias.asname or alias.name.split(".")[0], alias.name if alias.asname else alias.name.split(".")[0], None
            )
            for alias in node.names
        ]
    base = node.module or ""
    if node.level:
        parents = module.split(".") if is_package else module.split(".")[:-1]
        parents = parents[: len(parents) - (node.level - 1)] if node.level > 1 else parents
        base = ".".join([*parents, base] if base else parents)
    return [ImportBinding(alias.asname or alias.name, base, alias.name) for alias in node.names]


@lru_cache(maxsize=100_000)
def effects_of(text: str) -> Effects:  # noqa: C901 - one case for each construct that names something
    """The attribute names and callees that appear in a definition's source."""
    reads: set[str] = set()
    calls: set[str] = set()
    imports: list[ImportBinding] = []
    raises = False
    tree = ast.parse(text)
    passed: set[str] = set()
    named: set[str] = set()
    nodes = list(ast.walk(tree))
    changes = _Changes(tree, nodes)
    values, held = taken(tree, nodes)
    for child in nodes:
        changes.see(child)
        if isinstance(child, ast.Attribute):
            if isinstance(child.ctx, ast.Load):
                reads.add(child.attr)
            else:
                changes.write(
                    "self" if isinstance(child.value, ast.Name) and child.value.id == "self" else "?", child.attr
                )
        elif isinstance(child, ast.Call):
            calls.add(dotted(root_of_callee(child.func)))
            passed.update(dotted(argument) for argument in child.args if isinstance(argument, ast.Name | ast.Attribute))
            named.update(keyword.arg for keyword in child.keywords if keyword.arg)
            named.update(("*",) if _sets_any_attribute(child) else ())
            # Keyword writes (`override(label, name=value)`) name the attribute as a keyword.
            if isinstance(child.func, ast.Attribute) and child.func.attr in ("override", "setattr"):
                changes.writes.update(keyword.arg for keyword in child.keywords if keyword.arg)
            for owner, changed_name in _set_in_namespace(child):
                changes.write(owner, changed_name)
                named.update(("*",) if changed_name == "*" else ())
        elif isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store) and _namespace(child.value):
            key = child.slice.value if isinstance(child.slice, ast.Constant) else "*"
            changes.write(_namespace(child.value), str(key))
            named.update(("*",) if key == "*" else ())
        elif isinstance(child, ast.Dict):
            named.update(
                key.value for key in child.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )
        elif isinstance(child, ast.Raise | ast.Assert):
            raises = True
        elif isinstance(child, ast.Import | ast.ImportFrom):
            imports.extend(_raw_bindings(child))
    return Effects(
        frozenset(reads),
        frozenset(changes.writes),
        frozenset(changes.own_writes),
        frozenset(calls),
        raises,
        tuple(imports),
        frozenset(passed),
        frozenset(named),
        frozenset(changes.changed),
        tuple(changes.handed),
        frozenset(changes.filled),
        values,
        held,
    )


class _Changes:
    """What a function writes: attributes, and containers by what holds them."""

    def __init__(self, tree: ast.Module, nodes: list[ast.AST]) -> None:
        self.writes: set[str] = set()
        self.own_writes: set[str] = set()
        self.changed: set[str] = set()
        self.filled: set[str] = set()
        self.handed: list[tuple[str, Slot, str]] = []
        self._aliases = _aliases(nodes)
        self._parameters: dict[str, str] = {}
        self._function, self._computed = "", set[str]()
        for function in tree.body[:1]:
            if isinstance(function, _FunctionNode):
                args = function.args
                self._parameters = {arg.arg: arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
                self._parameters |= {args.vararg.arg: "*"} if args.vararg is not None else {}
                self._parameters |= {args.kwarg.arg: ""} if args.kwarg is not None else {}
                self._function, self._computed = function.name, set(_computed_defaults(args))
        self._locals = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def write(self, owner: str, attribute: str) -> None:
        """Note that an attribute of `owner` is set."""
        (self.own_writes if owner == "self" else self.writes).add(attribute)

    def see(self, node: ast.AST) -> None:
        """Note the container that `node` changes, and what it hands on."""
        match node:
            case ast.Subscript(value=container, ctx=ast.Store() | ast.Del()):
                place = self._place(container)
                if "." in place:
                    self.filled.add(place)
                else:
                    self._change(container)
            case ast.AugAssign(target=ast.Name() as target, value=value) if not isinstance(value, ast.Constant):
                self._change(target)
            case ast.Call(func=ast.Attribute(value=container, attr=method)) if method in CONTAINER_CHANGES:
                self._change(container)
            case ast.Call(
                func=ast.Name(id="setattr" | "delattr") | ast.Attribute(attr="__setattr__" | "__delattr__"),
                args=[ast.Name(id=owner), ast.Constant(str(attribute)), *_],
            ):
                self.write(owner, attribute)
            case _:
                pass
        if isinstance(node, ast.Call):
            self._hand(node)

    def _change(self, container: ast.expr) -> None:
        place = self._place(container)
        owner, _, name = place.rpartition(".")
        if owner:
            self.write(owner, name)
        elif name in self._parameters:
            if self._parameters[name] == name or (self._parameters[name] and isinstance(container, ast.Subscript)):
                self.changed.add(self._parameters[name])
            if name in self._computed:
                # All calls share a default value.
                self.writes.add(f"{self._function}({name})")
        elif name and name not in self._locals:
            self.writes.add(name)

    def _hand(self, call: ast.Call) -> None:
        callee = dotted(call.func).rpartition(".")[2]
        slots: list[tuple[Slot, ast.expr]] = [*enumerate(call.args)]
        slots += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        for slot, argument in slots if callee != "?" else ():
            elements = argument.value.elts if _is_spread(argument) else [argument]  # type: ignore[attr-defined]  # a starred display
            for element in elements:
                place = self._place(element)
                if "." in place or place in self._parameters or (place and place not in self._locals):
                    self.handed.append((callee, slot, place))

    def _place(self, node: ast.expr) -> str:
        """What holds the container that an expression stands for: a name or ``owner.attribute``; "" for neither."""
        node = _holder(node)
        place = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        for _ in range(_MAX_ALIASES):
            if place not in self._aliases or self._aliases[place] == place:
                break
            place = self._aliases[place]
        return place


def _holder(node: ast.expr) -> ast.expr:
    """What holds the container that an expression takes something out of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _named_tuple(call: ast.Call) -> list[tuple[str, str | None]] | None:
    """The fields, with their defaults, of a named tuple that a call makes; None for another call."""
    if dotted(call.func).rpartition(".")[2] not in _NAMED_TUPLES or len(call.args) != _NAME_AND_FIELDS:
        return None
    match call.args[1]:
        case ast.Constant(str(text)):
            names = text.replace(",", " ").split()
        case ast.List(elts) | ast.Tuple(elts):
            named = [
                element.elts[0] if isinstance(element, ast.Tuple) and element.elts else element for element in elts
            ]
            names = [str(name.value) for name in named if isinstance(name, ast.Constant)]
            if len(names) != len(elts):
                return None
        case _:
            return None
    defaults: list[ast.expr] = []
    for keyword in call.keywords:
        if keyword.arg != "defaults" or not isinstance(keyword.value, ast.List | ast.Tuple):
            return None
        defaults = keyword.value.elts
    values = [None] * (len(names) - len(defaults)) + [ast.unparse(default) for default in defaults]
    return list(zip(names, values, strict=False))


def _fields(names: Iterable[tuple[str, str | None]], line: int) -> dict[str, Field]:
    return {name: Field(name, "object", value, line) for name, value in names}


def _computed_defaults(args: ast.arguments) -> Iterator[str]:
    """The parameters whose default values are no constants."""
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    for parameter, default in (*pairs, *zip(args.kwonlyargs, args.kw_defaults, strict=True)):
        if default is not None and not isinstance(default, ast.Constant):
            yield parameter.arg


def _is_spread(node: ast.expr) -> bool:
    """Whether an argument is a display whose elements are arguments."""
    return isinstance(node, ast.Starred) and isinstance(node.value, ast.List | ast.Tuple)


def _aliases(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Local names for what other names and attributes hold: what is done to the container is done to theirs."""
    found: dict[str, str] = {}
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.For):
            continue
        match node:
            case ast.Assign(targets=targets, value=ast.Attribute() | ast.Name() | ast.Subscript() as value):
                holder = _holder(value)
                if isinstance(holder, ast.Attribute | ast.Name):
                    found.update((target.id, dotted(holder)) for target in targets if isinstance(target, ast.Name))
            case ast.For(target=ast.Name(id=name), iter=ast.Attribute() | ast.Name() as value):
                found[name] = dotted(value)
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Name(id="getattr"), args=[ast.Name(id=owner), ast.Constant(str(attribute)), *_]
                ),
            ):
                found[name] = f"{owner}.{attribute}"
    return found


def _namespace(node: ast.expr) -> str:
    """Whose attributes an expression stands for: ``x.__dict__`` and ``vars(x)``; "" when it does not."""
    match node:
        case ast.Attribute(value=owner, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return dotted(owner)
        case _:
            return ""


def _set_in_namespace(call: ast.Call) -> Iterator[tuple[str, str]]:
    """Owner and name of the attributes that ``x.__dict__.update(...)`` sets; ``*`` for those that it does not name."""
    match call:
        case ast.Call(func=ast.Attribute(value=value, attr="update")) if _namespace(value):
            owner = _namespace(value)
            yield from ((owner, keyword.arg or "*") for keyword in call.keywords)
            for argument in call.args:
                keys = argument.keys if isinstance(argument, ast.Dict) else [None]
                yield from ((owner, str(key.value) if isinstance(key, ast.Constant) else "*") for key in keys)
        case _:
            return


def _sets_any_attribute(call: ast.Call) -> bool:
    """Whether a call sets an attribute whose name is computed."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[_, name, _]):
            return not isinstance(name, ast.Constant)
        case _:
            return False


def _raw_bindings(node: ast.Import | ast.ImportFrom) -> list[ImportBinding]:
    """Import bindings of a function; a relative module keeps its leading dots for the resolver."""
    if isinstance(node, ast.Import):
        return import_bindings(node, "", is_package=False)
    module = "." * node.level + (node.module or "")
    return [ImportBinding(alias.asname or alias.name, module, alias.name) for alias in node.names]
