"""Reading the quantities off a finished run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from analyzer.domain.build import apply, conditional, conjunction, map_leaves, negate, rewrite
from analyzer.domain.extraction import Coverage, Formula, Gap, InputFacts, UnitConversion, UnitFinding
from analyzer.domain.iteration import is_computable
from analyzer.domain.notation import abridged
from analyzer.domain.source import Span
from analyzer.domain.steps import Step
from analyzer.domain.terms import (
    NONE,
    Conditional,
    Constant,
    Handle,
    Opaque,
    Raise,
    Symbol,
    Term,
    children,
    constant,
    opaque,
    raising,
    symbol,
    symbols_of,
    walk,
    with_owners,
)
from analyzer.domain.unit import Unit
from analyzer.symbolic.boundary import opaque_calls
from analyzer.symbolic.budget import Budget, find_budget, find_fraction, in_unit
from analyzer.symbolic.interpreter import Run
from analyzer.symbolic.state import raised
from analyzer.symbolic.world import ELEMENT, UNKNOWN_LENGTH, Measurement, RaiseSite
from analyzer.units import Inference, declared_units, stated_units

Time = tuple[int, ...]
_PRE = symbol("pre_model_load_memory")
_POST = symbol("available_gpu_memory")
_STEPS: Final = {"the weights are loaded": "weight_loaders"}
_DRAFTS: Final = symbol("is_draft_worker")
_LEFT_IN_OPTIONS: Final = {
    "draft_runner_cache_size": "target_max_total_num_tokens",
    "max_num_reqs": "target_max_running_requests",
}
_HANDED_ON: Final = {
    "target_max_total_num_tokens": "max_total_num_tokens",
    "target_full_max_total_num_tokens": "full_max_total_num_tokens",
    "target_swa_max_total_num_tokens": "swa_max_total_num_tokens",
    "target_max_running_requests": "max_num_reqs",
}


class Reading:
    """The formulas of one run, with measurements named by when they are made."""

    def __init__(self, run: Run, sink: str, sizing: str, display: Callable[[str], str]) -> None:
        self._run = run
        self._machine = run.machine
        self._sink = sink
        self._sizing = sizing
        self._display = display
        self._names: dict[Term, Term] = {}
        self._renamed: dict[Term, Term] = {}
        self._parts: dict[Term, Term] = {}
        self._places: dict[Term, Span] = {}
        self._written_places: dict[Term, Span] = {}
        self._placed = 0
        self._units = Inference(declared_units(run.machine.rules))
        self.quantities: dict[str, Formula] = {}
        self.definitions: dict[str, Formula] = {}
        self.inputs: dict[str, InputFacts] = {}
        self.values: list[Term] = []

    def read(self) -> None:
        """Fill `quantities`, `definitions` and `inputs`."""
        tokens = self._run.sink_value(self._sink)
        self._name_measurements(tokens)
        left = self._name_what_the_target_leaves()
        tokens = self._named(tokens)
        self.values = [tokens]
        budget = find_budget(tokens, self._units)
        if budget is not None:
            self._read_budget(budget)
        self._add("max_total_num_tokens", tokens, error=self._error())
        for name, path in self._run.sinks.items():
            value = self._named(self._run.quantity_value(name))
            self.values.append(value)
            self._add(name, value, error=self._error(self._written_at(path)))
        self._define_what_the_target_hands_on(left)
        self._read_definitions()
        self._read_inputs()

    # ---- measurements ------------------------------------------------------------------

    def _name_measurements(self, tokens: Term) -> None:
        """The first measurement that the count depends on is made before loading, the second one after.

        Later ones belong to an opt-in second sizing.
        """
        used = symbols_of(tokens)
        found = [m for m in self._machine.world.measurements if m.term.name in used]
        found.sort(key=lambda m: m.time)
        tracked = list(zip(found, (_PRE, _POST), strict=False))
        units = {name: self._memory_unit(measurement.define()) for measurement, name in tracked}
        for measurement, name in tracked:
            self._names[measurement.term] = in_unit(name, "GiB", units[name])
        for index, measurement in enumerate(found[2:], 1):
            self._names[measurement.term] = symbol(f"later_free_memory_{index}")
        for measurement, name in tracked:
            defined = self._named(measurement.define())
            self._add(name.name, defined, source_unit=units[name], extra=(measurement.span,))
            formula = self.quantities[name.name]
            self.quantities[name.name] = replace(formula, preceded_by=self._steps_before(measurement.time))
            self._mark_return(measurement, name)

    def _steps_before(self, time: Time) -> tuple[str, ...]:
        """What takes memory of the device before a measurement: it counts as free what is loaded later."""
        steps, anchors = self._machine.world.steps, self._machine.rules.anchors
        return tuple(
            label
            for label, anchor in _STEPS.items()
            if any(steps[name] < time for name in anchors[anchor] if name in steps)
        )

    def _memory_unit(self, measured: Term) -> str:
        """The unit that the measuring function returns; GiB, as ever, when it cannot be told."""
        unit = self._units.of(measured)
        return str(unit) if unit is not None and unit.is_memory else "GiB"

    def _mark_return(self, measurement: Measurement, name: Term) -> None:
        """The measuring function's own return is a hop: there the value gets its unit."""
        events = self._machine.world.events
        inside = [e for e in events if e.kind == "return" and e.caller == measurement.function and e.span.path]
        if inside:
            events.append(replace(inside[-1], value=name, time=measurement.time, extent=()))

    def _named(self, term: Term) -> Term:
        return rewrite(term, self._names.get, self._renamed)

    # ---- quantities --------------------------------------------------------------------

    def _read_budget(self, budget: Budget) -> None:
        """Split the count into budget, bytes per token and the rest, each a quantity of its own."""
        fraction = find_fraction(budget.memory)
        if fraction is not None:
            self._add("effective_mem_fraction_static", fraction)
            self._parts[_headroom(fraction)] = _headroom(symbol("effective_mem_fraction_static"))
        self._add("rest_memory", budget.memory, source_unit=budget.unit)
        self._add("cell_size", budget.cost)
        if budget.exact and not isinstance(budget.cost, Symbol | Constant):
            self._parts[budget.cost] = symbol("cell_size")
        if budget.exact:
            self._parts[budget.memory] = in_unit(symbol("rest_memory"), "GiB", budget.unit, like=budget.memory)

    def _written_at(self, path: str) -> Time | None:
        """When the attribute that a sink path ends in was last set; None when it is an argument or never set."""
        attribute = path.rsplit(".", 1)[-1]
        times = [
            event.time
            for event in self._machine.world.events
            if event.kind in ("attribute", "field") and event.target.rsplit(".", 1)[-1] == attribute
        ]
        return max(times, default=None)

    def _error(self, before: Time | None = None) -> Term | None:
        """The raises that belong to the sizing, as a term, those `before` a time; None when there are none."""
        kept = {
            label
            for label, site in self._machine.world.raises.items()
            if self._belongs(site) and (before is None or site.time < before)
        }

        def keep(leaf: Term) -> Term:
            return leaf if isinstance(leaf, Raise) and leaf.exception in kept else NONE

        errors = [(time, path, map_leaves(error, keep)) for time, path, error in self._machine.world.late_errors]
        late = sorted((entry for entry in errors if entry[2] is not NONE), key=lambda entry: entry[0], reverse=True)
        early = map_leaves(self._named(self._run.state.error), keep)
        term: Term = NONE
        after: Time | None = None
        # What was computed when needed may have raised at its time, on the path that led there.
        for time, path, error in late:
            sooner = self._raised_between(time, after, early)
            guard = conjunction(*(fact if holds else negate(fact) for fact, holds in path.items()), raised(error))
            term = self._named(conditional(guard, error, conditional(raised(sooner), sooner, term)))
            after = time
        sooner = self._raised_between((), after, early)
        term = conditional(raised(sooner), sooner, term)
        return None if term is NONE else term

    def _raised_between(self, start: Time, end: Time | None, error: Term) -> Term:
        """What of `error` is raised at `start` or later, and before `end` if there is one."""
        raises = self._machine.world.raises

        def keep(leaf: Term) -> Term:
            if not isinstance(leaf, Raise):
                return leaf
            time = raises[leaf.exception].time
            return leaf if start <= time and (end is None or time < end) else NONE

        return map_leaves(error, keep)

    def _belongs(self, site: RaiseSite) -> bool:
        """Whether a raise is part of the sizing: before the count is set, or decided by a measured value."""
        foreign = tuple(self._machine.rules.anchors["opaque_modules"])
        if self._sizing not in site.calls or site.calls[-1].startswith(foreign):
            return False
        set_at = [time for receiver, _, _, _, time in self._machine.world.sink_writes if receiver is self._run.runner]
        measured = {m.term.name for m in self._machine.world.measurements}
        # A start that fails before the count is set never sets it.
        return not set_at or site.time < set_at[0] or bool(symbols_of(site.guard) & measured)

    def _add(
        self,
        name: str,
        term: Term,
        *,
        error: Term | None = None,
        source_unit: str = "",
        extra: tuple[Span, ...] = (),
    ) -> None:
        rule = self._machine.rules.quantities[name]
        self.quantities[name] = Formula(
            self._write(term),
            rule.unit,
            source_unit or rule.unit,
            None if error is None else self._write(error),
            self._source_name(name),
            self._locations(term, extra),
        )

    def _source_name(self, name: str) -> str:
        return {"max_total_num_tokens": self._sink}.get(name, name)

    def _write(self, term: Term) -> Term:
        """`term` over the quantities it is made of, without anything of the interpreter.

        Handles become names and raises lose their places; where the operations are is noted.
        """
        written: dict[Term, Term] = {}
        result = rewrite(term, self._final, written)
        self._find_places()
        for node, final in written.items():
            if node in self._places and node not in self._parts:
                self._written_places.setdefault(final, self._places[node])
        return result

    def _final(self, node: Term) -> Term | None:
        if node in self._parts:
            return self._parts[node]
        if isinstance(node, Handle):
            if node.kind in ("deferred", "bag"):
                return self._write(self._named(self._machine.value(node)))
            return self._machine.external_argument(node)
        if isinstance(node, Raise):
            site = self._machine.world.raises.get(node.exception)
            return node if site is None else raising(site.exception)
        return None

    def _find_places(self) -> None:
        """Carry the places of operations over to their terms with named measurements."""
        if len(self._renamed) == self._placed:
            return
        origins = self._machine.world.origins
        for raw, named in islice(self._renamed.items(), self._placed, None):
            if raw in origins and origins[raw].path:
                self._places.setdefault(named, origins[raw])
        self._placed = len(self._renamed)

    def _locations(self, term: Term, extra: tuple[Span, ...] = ()) -> tuple[Span, ...]:
        """Where the operations of `term` are written, those of the quantities inside it left out."""
        self._find_places()
        found = set(extra)
        seen: set[Term] = set()
        stack = [term]
        while stack:
            node = stack.pop()
            if node in seen or (node in self._parts and node is not term):
                continue
            seen.add(node)
            if node in self._places:
                found.add(self._places[node])
            stack.extend(children(node))
        return tuple(sorted({self._place(span) for span in found if span.path}))

    def _place(self, span: Span) -> Span:
        return Span(self._display(span.path), span.line, span.end_line)

    # ---- sub-quantities and inputs -----------------------------------------------------

    def _read_definitions(self) -> None:
        """The formulas of the symbols that the quantities read, and of those that they read."""
        pending = [s for f in (*self.quantities.values(), *self.definitions.values()) for s in self._symbols(f)]
        while pending:
            name = pending.pop()
            if name in self.definitions or name in self.quantities:
                continue
            definition = self._machine.world.definition(name)
            if definition is None:
                continue
            named = self._named(definition)
            term = self._write(named)
            if term is symbol(name) or (isinstance(term, Opaque) and not is_computable(term)):
                continue
            rule = self._machine.rules.symbols.get(name)
            if term is NONE and rule is not None and not rule.domain.optional:
                # None where no None makes sense is filled in later, by something that was not seen.
                continue
            unit = rule.unit if rule is not None else "1"
            formula = Formula(term, unit, unit, None, self._sources(name), self._locations(named))
            self.definitions[name] = formula
            pending.extend(self._symbols(formula))

    # ---- what the target worker hands to its draft worker --------------------------------

    def _name_what_the_target_leaves(self) -> dict[str, Term]:
        """Options that the target writes and its draft worker reads: a symbol for the one, and what it writes."""
        left: dict[str, Term] = {}
        for option, name in _LEFT_IN_OPTIONS.items():
            value = self._run.option_value(option)
            untouched, written = (self._where(value, drafts=drafts) for drafts in (True, False))
            if isinstance(untouched, Symbol) and written is not untouched:
                self._names[untouched] = conditional(_DRAFTS, symbol(name), untouched)
                left[name] = written
        return left

    def _where(self, term: Term, *, drafts: bool) -> Term:
        """`term` for the draft worker, or for its target."""
        return rewrite(term, lambda node: constant(drafts) if node is _DRAFTS else None)

    def _define_what_the_target_hands_on(self, left: Mapping[str, Term]) -> None:
        """What a draft worker is handed is what the same formula gives its target."""
        read = {name for formula in self.quantities.values() for name in self._symbols(formula)}
        for name, quantity in _HANDED_ON.items():
            found = self.quantities.get(quantity)
            if name not in read or found is None:
                continue
            term = self._write(self._named(left[name])) if name in left else found.term
            sources = self._sources(name) or quantity
            self.definitions[name] = replace(
                found, term=self._where(term, drafts=False), error=None, source_name=sources
            )
        for quantity, formula in list(self.quantities.items()):
            if formula.error is not None and not self.definitions.keys().isdisjoint(self._symbols(formula)):
                # Where the target does not start, there is no draft worker.
                of_target = conditional(_DRAFTS, self._where(formula.error, drafts=False), NONE)
                error = conditional(raised(formula.error), formula.error, of_target)
                self.quantities[quantity] = replace(formula, error=error)

    def _symbols(self, formula: Formula) -> list[str]:
        error = () if formula.error is None else (formula.error,)
        return sorted(with_owners(symbols_of(formula.term, *error)))

    def _sources(self, name: str) -> str:
        return ", ".join(self._machine.world.input_sources.get(name, {}))

    def _read_inputs(self) -> None:
        formulas = [*self.quantities.values(), *self.definitions.values()]
        names = {name for formula in formulas for name in self._symbols(formula)}
        world = self._machine.world
        for name in sorted(names - self.quantities.keys()):
            default = world.input_defaults.get(name, lambda: None)()
            sources = world.input_sources.get(name, {})
            spans = tuple(sorted({self._place(span) for span in sources.values() if span.path}))
            self.inputs[name] = InputFacts(name, default, tuple(sorted(sources)), spans)

    # ---- the rest ----------------------------------------------------------------------

    def steps(self) -> tuple[Step, ...]:
        """The events of the run with their values resolved; what nobody asked for has the value None."""
        sinks = self._machine.rules.anchors["sink_attributes"]
        for event in list(self._machine.world.events):
            if event.kind == "attribute" and event.target in sinks:
                self._machine.value(event.value)
        kinds = self._sink_kinds()
        return tuple(
            replace(event, value=self._resolve(event.value), kind=kinds.get((event.kind, event.span), event.kind))
            for event in self._machine.world.events
        )

    def _sink_kinds(self) -> dict[tuple[str, Span], str]:
        """Where the runner gets its count; outside the sizing it is a second, opt-in count."""
        return {
            ("attribute", span): "sink" if self._sizing in calls else "second_sink"
            for receiver, _, calls, span, _ in self._machine.world.sink_writes
            if receiver is self._run.runner
        }

    def _resolve(self, value: Term) -> Term:
        forced = self._machine.world.forced
        while isinstance(value, Handle) and value.kind == "deferred":
            if value not in forced:
                return NONE
            value = forced[value]
        if isinstance(value, Handle):
            return self._carried(value)
        if isinstance(value, Conditional):
            return self._named(map_leaves(value, self._resolve))
        return self._named(value)

    def _carried(self, reference: Handle) -> Term:
        """An object stands for the values it carries."""
        info = self._machine.world.objects.get(reference)
        if reference not in self._machine.world.constructed or info is None or info.class_key is None:
            return NONE
        if self._machine.attributes.find_method(info.class_key, "__init__") is not None:
            # A pool keeps its size; only records pass values on.
            return NONE
        content = {**self._machine.world.base.get(reference, {}), **self._run.state.heap.get(reference, {})}
        carried = [self._named(map_leaves(value, self._known)) for value in content.values()]
        return opaque("object", (value for value in carried if not isinstance(value, Constant)))

    def _known(self, value: Term) -> Term:
        """What a deferred value turned out to be; None when nobody asked, or when it is an object."""
        forced = self._machine.world.forced
        while isinstance(value, Handle) and value in forced:
            value = forced[value]
        return NONE if isinstance(value, Handle) else value

    def gaps(self) -> tuple[Gap, ...]:
        """Every place that was not followed and that a formula depends on."""
        reasons = self._unknowns()
        found: dict[tuple[str, int, str], set[str]] = {}
        why: dict[tuple[str, int, str], str] = {}
        for name, formula in (*self.quantities.items(), *self.definitions.items()):
            roots = (formula.term,) if formula.error is None else (formula.term, formula.error)
            for node in walk(*roots):
                if node in reasons:
                    span, construct, reason = reasons[node]
                    if _follows_from_another(node, reason, reasons):
                        continue
                    key = (self._display(span.path), span.line, construct)
                    found.setdefault(key, set()).add(name)
                    why[key] = reason
        return tuple(Gap(*key, why[key], tuple(sorted(names))) for key, names in sorted(found.items()))

    def _unknowns(self) -> dict[Term, tuple[Span, str, str]]:
        """Everything that was not followed, as it is written in a formula; with the place, what it is, and why."""
        reasons = self._machine.world.opaque_reasons
        found: dict[Term, tuple[Span, str, str]] = {}
        done = 0
        # Writing one evaluates what was put off in it, which may meet others.
        while done < len(reasons):
            for term, entry in list(reasons.items())[done:]:
                found[self._write(self._named(term))] = entry
                done += 1
        return found

    def coverage(self, modules: int) -> Coverage:
        """How much was explored, what was decided and what stayed opaque."""
        world = self._machine.world
        terms = (term for f in self.quantities.values() for term in (f.term, f.error) if term is not None)
        found = opaque_calls(terms, self._unknowns(), self._machine.rules.anchors["machine_readings"])
        decided = sum(world.guards.values())
        undecided = len(world.guards) - decided
        return Coverage(modules, len(world.functions_run), decided, undecided, tuple(sorted(found)))

    # ---- units -------------------------------------------------------------------------

    def conversions(self) -> tuple[UnitConversion, ...]:
        """Where memory changes its unit on the way, by place."""
        self._infer_units()
        changes = {node: units for node, units in self._units.conversions.items() if node in self._written_places}
        # `x // 1024 // 1024` is one change.
        inner = {
            node: arg for node in changes for arg in children(node) if arg in changes and self._together(node, arg)
        }
        found: dict[tuple[Span, str, str], str] = {}
        for node in changes:
            if node in inner.values():
                continue
            first = node
            while first in inner:
                first = inner[first]
            before, after = changes[first][0], changes[node][1]
            found.setdefault((self._place(self._written_places[node]), str(before), str(after)), abridged(node))
        return tuple(UnitConversion(text, old, new, place) for (place, old, new), text in sorted(found.items()))

    def _together(self, *nodes: Term) -> bool:
        return len({self._written_places[node] for node in nodes}) == 1

    def unit_findings(self) -> tuple[UnitFinding, ...]:
        """Where memory in different units is mixed, by place."""
        self._infer_units()
        problems = dict(self._units.problems)
        for name, formula in self.quantities.items():
            unit = self._units.of(formula.term)
            if unit is not None and unit.is_memory and str(unit) != formula.source_unit:
                problems[formula.term] = f"{name} is taken for {formula.source_unit} and comes out in {unit}"
        found = {
            (self._place(self._written_places[node]), f"{problem}: {abridged(node)}")
            for node, problem in problems.items()
            if node in self._written_places
        }
        return tuple(UnitFinding(message, place) for place, message in sorted(found))

    def misnamed_units(self) -> tuple[UnitFinding, ...]:
        """Comments and docstrings that name another unit of memory than the code beside them uses."""
        self._infer_units()
        found: dict[Span, str] = {}
        for definition in map(self._machine.program.definition, sorted(self._machine.world.functions_run)):
            offset = definition.line - 1
            for stated in stated_units(definition.text):
                nodes = self._nodes_at(definition.path, offset + stated.first, offset + stated.last)
                used = self._memory_units(part for node in nodes for part in (node, *children(node)))
                if not used or any(unit.same_step(named) for unit in used for named in stated.named):
                    continue
                inner = {part for node in nodes for part in children(node)}
                results = self._memory_units(node for node in nodes if node not in inner) or used
                names = " and ".join(sorted({_scale(unit) for unit in results}))
                where = self._place(Span(definition.path, offset + stated.line, offset + stated.line))
                message = f"{stated.words} of {definition.name} names {_scale(stated.unit)}, the code has {names}"
                found.setdefault(where, message)
        return tuple(UnitFinding(message, place, is_wording=True) for place, message in sorted(found.items()))

    def _memory_units(self, terms: Iterable[Term]) -> set[Unit]:
        """The units of those that count memory."""
        units = map(self._units.of, terms)
        return {unit for unit in units if unit is not None and unit.bytes_power == 1 and unit.is_named}

    def _nodes_at(self, path: str, first: int, last: int) -> list[Term]:
        """What is computed on some lines."""
        return [
            node
            for node, span in self._written_places.items()
            if span.path == path and first <= span.line and span.end_line <= last
        ]

    def _infer_units(self) -> None:
        for formula in (*self.quantities.values(), *self.definitions.values()):
            self._units.of(formula.term)
            if formula.error is not None:
                self._units.of(formula.error)


def _follows_from_another(gap: Term, reason: str, gaps: Collection[Term]) -> bool:
    """Whether another gap is the cause: what made a sequence unknown, or the loop over it that an element is of."""
    is_loop = reason.endswith(UNKNOWN_LENGTH)
    # What one iteration of a loop would do comes after what it runs over.
    parts = walk(*children(gap)[:1]) if is_loop else walk(*children(gap))
    return any(part is ELEMENT or (is_loop and part in gaps) for part in parts)


def _scale(unit: Unit) -> str:
    """The name of the step that a value counts memory in, whatever it is counted for."""
    return str(replace(unit, dimensions=(("byte", 1),)))


def _headroom(fraction: Term) -> Term:
    return apply("-", constant(1), fraction)
