"""Code at the top level of modules and classes: run once, when somebody reads what it binds."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from analyzer.domain.build import conditional, negate, truth
from analyzer.domain.modules import ClassFacts, Field, ModuleFacts, ModuleStatement
from analyzer.domain.syntax import Expr, ImportBinding, Name
from analyzer.domain.terms import FALSE, NONE, TRUE, Handle, Term, atom, constant, handle
from analyzer.symbolic.effects import walk_syntax
from analyzer.symbolic.state import Frame, State
from analyzer.symbolic.world import ObjectInfo

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine


def _annotation(statement: ModuleStatement, name: str) -> str | None:
    """What a statement says that the type of a name is."""
    found = re.match(rf"{re.escape(name)}\s*:\s*([^=\n]+)", statement.text)
    return None if found is None else found.group(1).strip()


class TopLevel:
    """Module variables and class attributes."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._globals: dict[str, Term] = {}
        # The names that somebody has set on a class or a module from outside.
        self.patched: set[str] = set()

    def field_value(self, cls: ClassFacts, field: Field) -> Term:
        """A class-level value; a dataclass field gives its default."""
        assert field.value is not None
        key = f"{cls.key}.{field.name}"
        if key not in self._globals:
            self._globals[key] = self.machine.world.unknown(
                "cycle", "a class attribute that needs itself", self.machine.span
            )
            self._globals[key] = self._class_value(cls, field)
            self._announce(self._globals[key], cls, field.name)
        return self._globals[key]

    def _class_value(self, cls: ClassFacts, field: Field) -> Term:
        """The value of a field, evaluated in the body of its class."""
        assert field.value is not None
        expression = self.machine.lowering.expression(field.value)
        state = State(Frame(cls.module, cls.path, field.line, "<module>"))
        state.env = self.class_scope(cls, (expression,), field.line)
        value = self.machine.force(self.machine.expressions.evaluate(expression, state))
        self.keep(state)
        return value

    def class_scope(self, cls: ClassFacts, expressions: Iterable[Expr], line: int) -> dict[str, Term]:
        """What the names in `expressions` are bound to in the body of `cls` before `line`."""
        bound: dict[str, Term] = {}
        for name in {part.id for node in expressions for part in walk_syntax(node) if isinstance(part, Name)}:
            method, field = cls.methods.get(name), cls.fields.get(name)
            if field is not None and field.value is not None and field.line < line:
                bound[name] = self.field_value(cls, field)
            elif method is not None and method.line < line:
                bound[name] = handle("function", f"{cls.key}|{method.key}")
        return bound

    def _announce(self, value: Term, owner: ClassFacts, name: str) -> None:
        """Tell a descriptor its name, as Python does when it makes the class."""
        info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
        if (
            info is None
            or info.class_key is None
            or self.machine.attributes.find_method(info.class_key, "__set_name__") is None
        ):
            return
        state = State(Frame(owner.module, owner.path, owner.line, "<class>"))
        hook = self.machine.attributes.read(value, "__set_name__", state)
        self.machine.force(self.machine.calls.call(hook, (handle("class", owner.key), constant(name)), {}, state))
        self.keep(state)

    def evaluate_text(self, text: str, module: str, path: str, line: int) -> Term:
        """An expression evaluated at the top level of a module."""
        state = State(Frame(module, path, line, "<module>"))
        expression = self.machine.lowering.expression(text)
        value = self.machine.force(self.machine.expressions.evaluate(expression, state))
        self.keep(state)
        return value

    def keep(self, state: State) -> None:
        """What ran once, outside every path, holds for all of them."""
        for target, attributes in state.heap.items():
            self.machine.world.base.setdefault(target, {}).update(attributes)

    def keep_made(self, state: State, start: int) -> None:
        """Of what ran outside every path, keep what it made after `start`, and what it set on classes and modules.

        `start` is what the world had counted to. What it entered into what was there before is entered again by
        whoever runs it for that.
        """
        for target, attributes in state.heap.items():
            shared = isinstance(target, Handle) and target.kind in ("class", "module")
            if shared or self.machine.world.is_newer(target, start):
                self.machine.world.base.setdefault(target, {}).update(attributes)

    def patch(self, modules: Iterable[ModuleFacts]) -> None:
        """Carry out what the top level of `modules` sets on classes and modules."""
        for facts in modules:
            for statement in facts.patches:
                self._keep_earlier(facts, statement)
                self._run_patch(facts, statement)

    def _keep_earlier(self, facts: ModuleFacts, patch: ModuleStatement) -> None:
        """What a variable took from a class before a patch is not what the patch makes of it."""
        for statement in facts.statements:
            if statement.line < patch.line and any(name in statement.text for name in patch.names):
                for name in sorted(statement.names):
                    self.from_resolution("global", f"{facts.module}:{name}")

    def _run_patch(self, facts: ModuleFacts, statement: ModuleStatement) -> None:
        machine, before, eager = self.machine, self.machine.span, self.machine.eager
        start = machine.world.counter
        state = State(Frame(facts.module, facts.path, statement.line, "<module>"))
        machine.eager = True
        with machine.unnoted():
            machine.statements.block(machine.lowering.statements(statement.text), state)
        machine.span, machine.eager = before, eager
        for target, attributes in state.heap.items():
            if isinstance(target, Handle) and target.kind in ("class", "module"):
                self.patched.update(attributes)
        self.keep_made(state, start)

    def patched_name(self, module: str, name: str) -> Term | None:
        """What somebody else has set a name of `module` to, None when nobody has.

        Whoever imports a name by itself has it from before or from after that.
        """
        rebound = self._rebound(module, name)
        if rebound is not None or name not in self.patched:
            return rebound
        own = self._set_on(module, name)
        if own is not None:
            return own
        facts = self.machine.program.module(module)
        binding = None if facts is None else facts.imports.get(name)
        while binding is not None and binding.member is not None:
            written = self._set_on(binding.module, binding.member)
            if written is not None:
                found = self.machine.program.resolve(module, name)
                original = NONE if found is None else self.from_resolution(found.kind, found.key)
                reason = "a name that is imported before or after another module sets it"
                order = self.machine.world.unknown(f"{binding.module}.{binding.member}", reason, self.machine.span)
                return conditional(truth(order), written, original)
            facts = self.machine.program.module(binding.module)
            binding = None if facts is None else facts.imports.get(binding.member)
        return None

    def missing(self, module: str, binding: ImportBinding) -> Term:
        """The guard under which an import fails: known for the analysed package, up to the machine for any other."""
        program = self.machine.program
        if binding.module.startswith(".") or program.is_internal(binding.module):
            found = program.resolve_import(module, binding.module, binding.member)
            return constant(found is None or (found.kind == "module" and program.module(found.key) is None))
        if binding.module.partition(".")[0] in sys.stdlib_module_names:
            return FALSE
        name = f"installed.{binding.module}"
        return negate(truth(self.machine.input(name, f"import {binding.module}", lambda: TRUE)))

    def _rebound(self, module: str, name: str) -> Term | None:
        """A name that is imported again under a condition is one or the other; None when it is not."""
        facts = self.machine.program.module(module)
        binding = None if facts is None or not facts.rebound else facts.rebound.get(name)
        if binding is None:
            return None
        first = self.machine.program.resolve(module, name)
        again = self.machine.program.resolve_import(module, binding.module, binding.member)
        if first is None or again is None or first == again:
            return None
        reason = "a name that is imported again under a condition"
        which = self.machine.world.unknown(f"{module.rsplit('.', 1)[-1]}.{name}", reason, self.machine.span)
        one, other = (self.from_resolution(found.kind, found.key) for found in (first, again))
        return conditional(truth(which), other, one)

    def _set_on(self, module: str, name: str) -> Term | None:
        return self.machine.world.base.get(handle("module", module), {}).get(name)

    def read_module(self, module: str, name: str) -> Term:
        """A name at the top level of an analysed module."""
        patched = self.patched_name(module, name)
        if patched is not None:
            return patched
        if module.startswith("external:"):
            return atom(f"{module.removeprefix('external:')}.{name}")
        found = self.machine.program.resolve(module, name)
        if found is None:
            sub = self.machine.program.resolve_import(module, module, name)
            if sub is None:
                return self.machine.world.unknown(
                    f"{module}.{name}", "a name that its module does not define", self.machine.span
                )
            found = sub
        return self.from_resolution(found.kind, found.key)

    def from_resolution(self, kind: str, key: str) -> Term:
        """The value of a resolved name."""
        match kind:
            case "function":
                return handle("function", f"|{key}")
            case "class":
                return self.machine.decorators.of_class(key)
            case "module":
                return handle("module", key)
            case "global":
                value = self._global(key)
                info = self.machine.world.objects.get(value) if isinstance(value, Handle) else None
                if info is not None and info.kind in ("list", "dict"):
                    module, _, name = key.rpartition(":")
                    self.machine.note_variable(name)
                    self.machine.registries.fill_variable(module, name)
                return value
            case _:
                return atom(key)

    def _global(self, key: str) -> Term:
        """A module-level variable: the statements that bind it are executed once."""
        if key not in self._globals:
            module, name = key.split(":")
            self._globals[key] = self.machine.world.unknown(
                name, "a module variable that needs itself", self.machine.span
            )
            self._globals[key] = self._run_global(module, name)
        return self._globals[key]

    def _run_global(self, module: str, name: str) -> Term:
        facts = self.machine.program.module(module)
        assert facts is not None
        if not facts.reassigned.isdisjoint((name, "*")):
            return self._set_at_run_time(facts, name)
        before = self.machine.span
        state = State(Frame(module, facts.path, 1, "<module>"))
        for statement in facts.statements:
            if name in statement.names:
                state.frame = Frame(module, facts.path, statement.line, "<module>")
                self.machine.statements.block(self.machine.lowering.statements(statement.text), state)
        self.machine.span = before
        self.keep(state)
        if name not in state.env:
            declared = self._declared(facts, name)
            if declared is not None:
                return declared
        return self.machine.force(state.env.get(name, NONE))

    def _set_at_run_time(self, facts: ModuleFacts, name: str) -> Term:
        """A variable that functions set: what it is declared to be, once it is set; whether it is, is not known."""
        reason = "a module variable that functions set at run time"
        label = f"{facts.module.rsplit('.', 1)[-1]}.{name}"
        unknown = self.machine.world.unknown(label, reason, self.machine.span)
        declared = self._declared(facts, name)
        return unknown if declared is None else conditional(truth(unknown), NONE, declared)

    def _declared(self, facts: ModuleFacts, name: str) -> Handle | None:
        """An instance of the class that a variable is annotated with; None when it is annotated with no class."""
        annotation = next(filter(None, (_annotation(s, name) for s in facts.statements if name in s.names)), None)
        made = self.machine.attributes.symbolic_instance(facts.module, annotation, name)
        if made is not None and made in self.machine.world.objects and made.kind == "object":
            info = self.machine.world.objects[made]
            if info.kind == "symbolic":
                info.variable, info.module = name, facts.module
        return made

    def is_written_anew(self, info: ObjectInfo, name: str) -> bool:
        """Whether a subclass of the class of a variable, one that its module knows, has its own `name`."""
        program = self.machine.program
        facts = program.module(info.module)
        if facts is None or info.class_key is None:
            return False
        above = {cls.key for cls in program.mro(info.class_key)}
        known = (program.resolve(info.module, imported) for imported in (*facts.imports, *facts.classes))
        families = (program.mro(found.key) for found in known if found is not None and found.kind == "class")
        return any(
            name in cls.methods or name in cls.fields
            for family in families
            if any(cls.key == info.class_key for cls in family)
            for cls in family
            if cls.key not in above
        )
