"""Calls: what is inlined, what is deferred, what stays an uninterpreted function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from analyzer.domain.build import conditional
from analyzer.domain.modules import Definition
from analyzer.domain.source import Span
from analyzer.domain.syntax import Expr, Literal, Parameter
from analyzer.domain.terms import (
    NONE,
    UNSET,
    Apply,
    Atom,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    handle,
    opaque,
    raising,
    symbol,
)
from analyzer.symbolic.attributes import ENUM_BASES
from analyzer.symbolic.builtins import Builtins
from analyzer.symbolic.externals import Externals
from analyzer.symbolic.kinds import note_kind
from analyzer.symbolic.presence import is_present
from analyzer.symbolic.state import Frame, State
from analyzer.symbolic.world import TARGET, FunctionValue, Measurement, ObjectInfo, SymbolFormula

if TYPE_CHECKING:
    from analyzer.symbolic.machine import Machine

_MAX_DEPTH = 60
# A function that hands itself on is gone into again; what calls itself without end is not.
_MAX_RECURSION = 4

Arguments = tuple[Term, ...]
Keywords = Mapping[str, Term]


class Calls:
    """Decides what a call does, and does it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.builtins = Builtins(machine)
        self.externals = Externals(machine)
        self.extent: tuple[int, ...] = ()
        self._measured: dict[tuple[Span, str], Term] = {}
        self._handed: dict[str, Term] = {}
        self._completions: dict[tuple[str, Term], Term] = {}
        # The object that a symbol was asked of when nothing was measured yet.
        self._asked_early: dict[str, Term] = {}
        self._defaults: dict[tuple[str, int], Term] = {}

    def call(self, callee: Term, args: Arguments, keywords: Keywords, state: State) -> Term:
        """The result of `callee(*args, **keywords)`; effects go to `state`."""
        return self.machine.each_leaf(callee, state, lambda leaf, s: self._call_leaf(leaf, args, keywords, s))

    def _call_leaf(self, callee: Term, args: Arguments, keywords: Keywords, state: State) -> Term:
        match callee:
            case Raise():
                return callee
            case Constant():
                return raising("TypeError")
            case Handle():
                return self._call_handle(callee, args, keywords, state)
            case Atom(name):
                return self.externals.call(name, args, keywords, state)
            case Symbol(name) if name.endswith(".get") and args and isinstance(args[0], Constant):
                return self._looked_up(name.removesuffix(".get"), args, state)
            case Symbol(name) if f"{name}()" in self.machine.origins:
                return self.machine.origins[f"{name}()"]
            case Symbol(name):
                return opaque(f"{name}()", self.machine.external_arguments((*args, *keywords.values())))
            case Opaque(name, (owner,)) if name.startswith("."):
                return self.builtins.method(owner, name.removeprefix("."), (*args, *keywords.values()), {}, state)
            case _:
                return opaque("call", (callee, *self.machine.external_arguments((*args, *keywords.values()))))

    def _looked_up(self, owner: str, args: Arguments, state: State) -> Term:
        """`record.get(key, default)` on a part of the model's configuration: what it has under the key."""
        key, *default = (self.machine.value(arg) for arg in args)
        found = self.machine.attributes.read(symbol(owner), str(getattr(key, "value", "")), state)
        return conditional(is_present(found), found, default[0] if default else NONE)

    def _call_handle(self, callee: Handle, args: Arguments, keywords: Keywords, state: State) -> Term:
        world, key = self.machine.world, callee.key
        match callee.kind:
            case "function":
                return self._call_definition(key, args, keywords, state)
            case "bound":
                function, receiver = world.bound[callee]
                return self.call(function, (receiver, *args), keywords, state)
            case "undecorated":
                owner, definition = key.split("|")
                return self.body(self.machine.program.definition(definition), owner, args, keywords, state)
            case "class":
                return self.construct(key, args, keywords, state)
            case "closure":
                return self.run(world.functions[callee], args, keywords, state)
            case "method":
                receiver, name = world.bound[callee]
                assert isinstance(name, Constant)
                return self.builtins.method(receiver, str(name.value), args, keywords, state)
            case "builtin":
                return self.builtins.call(key, args, keywords, state)
            case "object":
                return self._call_object(callee, args, keywords, state)
            case "decorated" | "staticmethod" | "classmethod" | "partial":
                return self._call_wrapped(callee, args, keywords, state)
            case _:
                return opaque(f"call {callee.kind}")

    def _call_wrapped(self, callee: Handle, args: Arguments, keywords: Keywords, state: State) -> Term:
        """Call the function in a wrapper; one that is not followed leaves its mark on what is returned."""
        if callee.kind == "partial":
            function, given, named = self.machine.world.partial[callee]
            return self.call(function, (*given, *args), {**named, **keywords}, state)
        function, name = self.machine.world.bound[callee]
        returned = self.call(function, args, keywords, state)
        if callee.kind != "decorated":
            return returned
        return self.machine.decorators.result(str(getattr(name, "value", "")), returned)

    def _call_object(self, callee: Handle, args: Arguments, keywords: Keywords, state: State) -> Term:
        info = self.machine.world.objects.get(callee)
        if info is not None and info.class_key is not None:
            method = self.machine.attributes.find_method(info.class_key, "__call__")
            if method is not None:
                return self.call(self.machine.attributes.read(callee, "__call__", state), args, keywords, state)
        return opaque("call object")

    # ---- analysed functions --------------------------------------------------------------

    def _call_definition(  # noqa: C901 - one case for each list of functions in the anchors
        self, key: str, args: Arguments, keywords: Keywords, state: State
    ) -> Term:
        owner, definition_key = key.split("|")
        definition = self.machine.program.definition(definition_key)
        anchors = self.machine.rules.anchors
        if definition.name in anchors["measure_functions"]:
            return self._measure(definition, owner, args, keywords, state)
        if definition.name in anchors["freeing_functions"]:
            return self.externals.empty_reserve(state)
        if definition.name in anchors["config_writers"] and owner:
            return self.write_config(keywords, state)
        if definition.name in anchors["completing_functions"] and len(args) == 1 and not keywords:
            return self.machine.each_leaf(args[0], state, lambda arg, s: self._completed(definition, owner, arg, s))
        inline = partial(self.inline, definition, owner, args, keywords)
        origin = self._origin(definition, owner)
        if origin is not None:
            return self._boundary(origin, definition, inline, args[0] if owner and args else None, state)
        if self._returns(definition, "bag_classes"):
            return handle("bag", "")
        if self._returns(definition, "config_classes") and not definition.parameters:
            return handle("object", "config")
        if definition.name in anchors["ignored_functions"]:
            return NONE
        if definition.name in anchors["opaque_functions"]:
            result = opaque(f"{definition.name}()")
            self.machine.world.returned_by[result] = definition
            return result
        if (
            self.machine.eager
            or definition.name == "__init__"
            or self._matters(definition, owner)
            or self._hands_on(args, state)
            or self._changes(definition, args, keywords, state)
        ):
            return inline(state)
        if self.machine.relevance.may_raise(definition) and self.machine.statements.handlers.waiting(state):
            return inline(state)
        self.machine.skip_calls((definition.name,))
        return self.machine.defer(inline, state, definition.name)

    def _completed(self, definition: Definition, owner: str, record: Term, state: State) -> Term:
        """What a function returns that completes a record: the first time for all, whatever is known where it runs."""
        known = self._completions.get((definition.key, record))
        if known is None:
            facts = state.facts
            self.machine.backends.assume(state)
            known = self.machine.value(self.inline(definition, owner, (record,), {}, state))
            state.facts = state.facts.beside(facts)
            self._completions[definition.key, record] = known
        return state.refine(known)

    def _changes(self, definition: Definition, args: Arguments, keywords: Keywords, state: State) -> bool:
        """Whether a definition changes a container that it is given."""
        changed = self.machine.relevance.changed_parameters(definition)
        if not changed:
            return False
        names = [name for name, _ in definition.parameters]
        given = {**dict(zip(names, args, strict=False)), **keywords, "*": self.machine.tuple_of(args[len(names) :])}
        for name in sorted(changed & given.keys()):
            value = given[name]
            parts = value.args if name == "*" and isinstance(value, Apply) else (value,)
            if any(self.machine.expressions.may_hold(part, state) for part in parts):
                return True
        return False

    def _matters(self, definition: Definition, owner: str) -> bool:
        """Whether a function may write something relevant, or a method that it stands in for."""
        relevance = self.machine.relevance
        if relevance.matters(definition) or not owner:
            return relevance.matters(definition)
        above = self.machine.program.mro(owner)[1:]
        return any(relevance.matters(cls.methods[definition.name]) for cls in above if definition.name in cls.methods)

    def constructs_in_place(self, key: str) -> bool:
        """Whether what the constructor of a class does matters beyond the object that it makes."""
        if self._is_runner(key):
            return True
        found = self.machine.attributes.find_method(key, "__init__")
        return found is not None and self.machine.relevance.matters(found[1])

    def _is_runner(self, key: str) -> bool:
        return not self.machine.program.base_names(key).isdisjoint(self.machine.rules.anchors["runner_classes"])

    def _hands_on(self, args: Arguments, state: State) -> bool:
        """Whether an argument is a function that matters: whoever gets it may call it."""
        return any(isinstance(arg, Handle) and self.machine.higher_order.matters(arg, state) for arg in args)

    def _returns(self, definition: Definition, anchor: str) -> bool:
        returned = (definition.returns or "").strip("\"'")
        return returned in self.machine.rules.anchors[anchor]

    def _origin(self, definition: Definition, owner: str) -> Term | None:
        origins = self.machine.origins
        if not owner:
            return origins.get(f"{definition.name}()")
        for name in self.machine.program.base_names(owner):
            found = origins.get(f"{name}.{definition.name}()")
            if found is not None:
                return found
        return None

    def _boundary(
        self,
        origin: Term,
        definition: Definition,
        inline: Callable[[State], Term],
        receiver: Term | None,
        state: State,
    ) -> Term:
        world = self.machine.world
        if isinstance(origin, Symbol):
            source = f"{definition.qualname}()"
            world.input_sources.setdefault(origin.name, {}).setdefault(source, self.machine.span)
            # A record is taken as it is: how it is found, and that it may be missing, is not the formula's business.
            if self._defines(origin, receiver) and not self.machine.rules.is_record(origin):
                later = self.machine.defer(inline, state, origin.name)
                world.call_definitions[origin.name] = SymbolFormula(
                    first=lambda: self.machine.value(later), last=lambda: self._at_the_end(inline, later)
                )
        elif isinstance(origin, Conditional):
            asked = self.machine.defer(inline, state, definition.name)
            note_kind(world, origin, lambda: self.machine.value(asked))
        opted_into = isinstance(origin, Symbol) and origin.name in self.machine.opt_in
        if self.machine.relevance.matters(definition) and not opted_into:
            # The symbol stands for what is returned, not for what is done besides.
            self.machine.force(inline(state))
        return origin

    def _defines(self, origin: Symbol, receiver: Term | None) -> bool:
        """Whether a call gives the formula of a symbol: the first one, on the same object after the measurement if any.

        What is asked of it before may be asked for something else than the sizing.
        """
        world = self.machine.world
        is_known = origin.name in world.call_definitions
        if not world.measurements:
            if not is_known and receiver is not None:
                self._asked_early[origin.name] = receiver
            return not is_known
        early = self._asked_early.pop(origin.name, None)
        return not is_known or (early is not None and early is receiver)

    def _at_the_end(self, inline: Callable[[State], Term], later: Term) -> Term:
        """What a call gives once the run is over: what it reads may be written after the first such call."""
        final = self.machine.final
        return self.machine.value(later if final is None else self.machine.defer(inline, final, "call"))

    def _measure(self, definition: Definition, owner: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        world = self.machine.world
        time = self.machine.tick()
        # A call site is one measurement of a function, however many branches and workers reach it.
        site = self.machine.span, definition.key
        known = self._measured.get(site)
        if known is not None:
            return known
        term = symbol(f"measurement#{len(world.measurements) + 1}")
        measure = partial(self.inline, definition, owner, args, keywords)
        later = self.machine.defer(lambda s: self._measured_value(measure, s), state, definition.name)
        self._measured[site] = term
        place = Span(definition.path, definition.line, definition.line)
        world.measurements.append(
            Measurement(
                term, time, self.machine.span, lambda: self.machine.value(later), definition.qualname, state.frame.calls
            )
        )
        self.machine.record("measure", state.frame, definition.name, term, callee=definition.qualname)
        self.machine.record("call", state.frame, definition.name, term, callee=definition.qualname, span=place)
        return term

    def _measured_value(self, measure: Callable[[State], Term], state: State) -> Term:
        outer, self.machine.measuring = self.machine.measuring, True
        self.externals.fill_reserve(state)
        value = self.machine.force(measure(state))
        self.machine.measuring = outer
        return value

    def write_config(self, keywords: Keywords, state: State) -> Term:
        """`override(label, name=value)` and `declare(owner, label, name=value)`: keyword writes of options."""
        for name, value in keywords.items():
            self.machine.attributes.write(handle("object", "config"), name, value, state)
            self.machine.record("attribute", state.frame, f"server_args.{name}", value)
        return NONE

    def inline(self, definition: Definition, owner: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """Interpret what the name of `definition` stands for in place."""
        decorated = self.machine.decorators.of_function(definition, owner)
        if decorated is not None:
            return self.call(decorated, args, keywords, state)
        return self.body(definition, owner, args, keywords, state)

    def body(self, definition: Definition, owner: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """Interpret the body of `definition` in place."""
        syntax = self.machine.lowering.function(definition.text)
        frame = Frame(definition.module, definition.path, definition.line, definition.qualname, owner or None)
        function = FunctionValue(definition.name, syntax.parameters, syntax.body, frame, definition)
        self.machine.world.functions_run.add(definition.key)
        return self.run(function, args, keywords, state)

    def run(self, function: FunctionValue, args: Arguments, keywords: Keywords, state: State) -> Term:
        """Bind arguments, execute the body, restore the caller."""
        machine = self.machine
        caller_env, caller_frame, call_span = state.env, state.frame, machine.span
        frame = self._frame(function, caller_frame)
        if len(caller_frame.calls) > _MAX_DEPTH or caller_frame.calls.count(frame.calls[-1]) > _MAX_RECURSION:
            return machine.world.unknown(f"{function.name}()", "a recursion that is not unfolded", call_span)
        outer = self.extent
        machine.closures.share(state)
        arguments = self._bind(function, args, keywords, state, frame)
        for name in sorted(function.rebinds):
            held = machine.closures.variable(name, frame, state)
            if held is not None:
                arguments.setdefault(name, held)
        machine.record("call", caller_frame, "", NONE, callee=frame.qualname)
        self.extent = (*outer, len(machine.world.events) - 1)
        for name, value in arguments.items():
            if name == "self":
                continue
            machine.record("argument", caller_frame, name, value, callee=frame.qualname)
        state.env, state.frame = arguments, frame
        if isinstance(function.body, tuple):
            result = machine.statements.function(function.body, state)
        else:
            result = machine.expressions.evaluate(function.body, state)
        machine.closures.share(state)
        machine.closures.rebind(function.rebinds, frame, state.env, state)
        state.env, state.frame, machine.span, self.extent = caller_env, caller_frame, call_span, outer
        machine.closures.take_back(state)
        return result

    def _frame(self, function: FunctionValue, caller: Frame) -> Frame:
        definition = function.definition
        frame = function.frame
        qualname = definition.qualname if definition is not None else frame.qualname
        key = definition.key if definition is not None else f"{qualname}.{function.name}"
        calls = (*caller.calls, key)
        return replace(frame, qualname=qualname, calls=calls)

    def _bind(
        self, function: FunctionValue, args: Arguments, keywords: Keywords, state: State, frame: Frame
    ) -> dict[str, Term]:
        env: dict[str, Term] = {}
        rest = list(args)
        named = dict(keywords)
        for parameter in function.parameters:
            if parameter.kind == "*":
                env[parameter.name] = self.machine.tuple_of(tuple(rest))
                rest = []
            elif parameter.kind == "**":
                env[parameter.name] = self.machine.dict_of(named, state)
                named = {}
            elif parameter.kind == "positional" and rest:
                env[parameter.name] = rest.pop(0)
            elif parameter.name in named:
                env[parameter.name] = named.pop(parameter.name)
            else:
                env[parameter.name] = self._default(parameter, function, frame)
        return env

    def _default(self, parameter: Parameter, function: FunctionValue, frame: Frame) -> Term:
        if parameter.name in function.defaults:
            return function.defaults[parameter.name]
        if parameter.default is None:
            return self.parameter_value(parameter.name, parameter.annotation, frame)
        if parameter.name in self.machine.rules.anchors["handed_parameters"]:
            handed = self._handed_by_target(parameter, frame)
            if handed is not None:
                return handed
        if isinstance(parameter.default, Literal):
            return self.machine.expressions.evaluate(parameter.default, State(frame))
        return self._shared_default(parameter.name, parameter.default, function, frame)

    def _shared_default(self, name: str, node: Expr, function: FunctionValue, frame: Frame) -> Term:
        """A default that is computed once, when the function is defined; all calls share it."""
        place = f"{frame.module}:{function.name}({name})", frame.first_line
        if place not in self._defaults:
            apart = State(frame)
            self._defaults[place] = self.machine.expressions.evaluate(node, apart)
            self.machine.toplevel.keep(apart)
        self.machine.note_variable(f"{function.name}({name})")
        return self._defaults[place]

    def _handed_by_target(self, parameter: Parameter, frame: Frame) -> Term | None:
        """What a draft worker is handed and its target, which computes it, is not; None for no analysed class."""
        if parameter.name not in self._handed:
            made = self.machine.attributes.symbolic_instance(frame.module, parameter.annotation, parameter.name)
            if made is None:
                return None
            info = self.machine.world.objects[made]
            info.variable, info.module = TARGET, frame.module
            drafts = self.machine.input("is_draft_worker", f"{frame.qualname}({parameter.name})", lambda: None)
            self._handed[parameter.name] = conditional(drafts, made, NONE)
        return self._handed[parameter.name]

    def parameter_value(self, name: str, annotation: str | None, frame: Frame) -> Term:
        """A parameter that no caller on the path supplies: its annotation says what it is."""
        if name in self.machine.rules.anchors["config_names"]:
            return handle("object", "config")
        found = self.machine.attributes.symbolic_instance(frame.module, annotation, name)
        if found is not None:
            return found
        return self.machine.input(name, f"{frame.qualname}({name})", lambda: None)

    # ---- construction --------------------------------------------------------------------

    def construct(self, key: str, args: Arguments, keywords: Keywords, state: State) -> Term:
        """An instance of an analysed class."""
        program = self.machine.program
        names = program.base_names(key)
        if names & ENUM_BASES:
            return self._enum_value(key, args, state)
        facts = program.class_facts(key)
        if facts.name in self.machine.rules.anchors["config_classes"]:
            return handle("object", "config")
        if self._is_runner(key):
            self.machine.backends.note(key, state)
        self.machine.decorators.make_subclass(key)
        maker = self.machine.attributes.find_method(key, "__new__")
        if maker is not None:
            made = self.body(maker[1], maker[0], (handle("class", key), *args), keywords, state)
            return self.machine.each_leaf(made, state, lambda leaf, s: self._initialized(key, leaf, args, keywords, s))
        return self._initialize(self.machine.world.allocate(ObjectInfo("instance", key)), key, args, keywords, state)

    def _initialized(self, key: str, made: Term, args: Arguments, keywords: Keywords, state: State) -> Term:
        """What ``__new__`` returned, initialized if it is an instance of the class."""
        info = self.machine.world.objects.get(made) if isinstance(made, Handle) else None
        own = info.class_key if info is not None else None
        if not isinstance(made, Handle) or own is None or all(c.key != key for c in self.machine.program.mro(own)):
            return made
        method = self.machine.attributes.find_method(own, "__init__")
        self.machine.world.constructed[made] = (args, dict(keywords))
        if method is not None:
            self.inline(method[1], method[0], (made, *args), keywords, state)
        return made

    def _initialize(self, reference: Handle, key: str, args: Arguments, keywords: Keywords, state: State) -> Handle:
        """A new instance, initialized now or when an attribute of it is asked for."""
        self.machine.world.constructed[reference] = (args, dict(keywords))
        method = self.machine.attributes.find_method(key, "__init__")
        if method is None:
            self._construct_fields(reference, key, args, keywords, state)
            return reference
        owner, definition = method
        initialize = partial(self.inline, definition, owner, (reference, *args), keywords)
        if self.machine.eager or self.constructs_in_place(key):
            initialize(state)
        else:
            self._construct_lazily(reference, definition, initialize, state)
        return reference

    def _construct_lazily(
        self, reference: Handle, definition: Definition, initialize: Callable[[State], Term], state: State
    ) -> None:
        info = self.machine.world.objects[reference]
        later = self.machine.defer(initialize, state, definition.qualname)
        info.initializer = lambda: self.machine.initialize(later)

    def _construct_fields(self, reference: Handle, key: str, args: Arguments, keywords: Keywords, state: State) -> None:
        """A dataclass, struct or named tuple: keywords and defaults become attributes, then ``__post_init__``."""
        attributes: dict[str, Term] = {}
        positional = list(args)
        for cls in reversed(self.machine.program.mro(key)):
            for field in cls.fields.values():
                if field.annotation is None or "ClassVar" in field.annotation:
                    continue
                if field.name in keywords:
                    attributes[field.name] = keywords[field.name]
                elif positional and "init=False" not in (field.value or ""):
                    attributes[field.name] = positional.pop(0)
                elif field.value is not None:
                    default = self._field_default(cls.module, cls.path, field.value, field.line)
                    if default is not UNSET:
                        attributes[field.name] = default
        state.put(reference, {**state.heap.get(reference, {}), **attributes})
        lines = self.machine.keyword_lines
        for name, value in attributes.items():
            span = state.frame.span(lines[name]) if name in lines else None
            self.machine.record("field", state.frame, f"{key.rsplit(':', 1)[-1]}.{name}", value, span=span)
        post = self.machine.attributes.find_method(key, "__post_init__")
        if post is not None:
            self.inline(post[1], post[0], (reference,), {}, state)

    def _field_default(self, module: str, path: str, text: str, line: int) -> Term:
        return self.machine.toplevel.evaluate_text(text, module, path, line)

    def _enum_value(self, key: str, args: Arguments, state: State) -> Term:
        """`Kind(value)`: the member with that value."""
        facts = self.machine.program.class_facts(key)
        result: Term = opaque(f"{facts.name}()", self.machine.external_arguments(args))
        if not args:
            return result
        for name in reversed(list(facts.fields)):
            member = self.machine.attributes.read(handle("class", key), name, state)
            value = self.machine.attributes.read(member, "value", state)
            result = conditional(self.machine.apply("==", args[0], value), member, result)
        return result
