"""Scenarios: what a family of models fixes, and the part of a formula that is left under it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from analyzer.domain.build import apply, conditional, is_boolean, map_leaves, rebuild
from analyzer.domain.errors import UsageError
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.iteration import ITERATIONS, computed, is_of_loop
from analyzer.domain.operators import SEQUENCES
from analyzer.domain.report import Value
from analyzer.domain.rules import RuleSet, ScenarioRule
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.terms import (
    FALSE,
    NONE,
    TRUE,
    Apply,
    Atom,
    Conditional,
    Constant,
    Opaque,
    Raise,
    Symbol,
    Term,
    children,
    constant,
    is_absent,
    opaque,
    post_order,
)
from analyzer.domain.unit import parse_unit

# The fraction is given to every quantity but the one that says what it is by default.
GIVEN_FRACTION: Final = "mem_fraction_static"
DEFAULT_FRACTION: Final = "default_mem_fraction_static"
# Inside the options the given name still means what the user gave; outside, what the runner is handed.
USER_FRACTION: Final = "user_mem_fraction_static"
# What one device has in all, None where nothing tells.
CAPACITY: Final = "gpu_mem"

_EQUALITIES: Final = frozenset({"is", "=="})
_FALSE_WHEN_OFF: Final = frozenset(
    {"bool", "present", "<", "<=", ">", ">=", "in", "startswith", "endswith", "isinstance"}
)
_TRUE_WHEN_OFF: Final = frozenset({"not", "not in"})
_PASSES_OFF: Final = frozenset({"upper", "lower", "strip", "str", "rank_min", "item"}) | SEQUENCES
_GUARDS: Final = _EQUALITIES | _FALSE_WHEN_OFF | _TRUE_WHEN_OFF | {"is not", "!="}


def scenario_values(rules: RuleSet, scenario: str) -> Mapping[str, Value]:
    """What `scenario` fixes; modifiers after ``+`` are applied over the family, in order."""
    values: dict[str, Value] = {}
    for part in _parts(rules, scenario):
        values.update(part.values)
    return values


def scenario_inputs(rules: RuleSet, scenario: str) -> frozenset[str]:
    """What `scenario` leaves open beside the symbols that are open everywhere."""
    return frozenset(name for part in _parts(rules, scenario) for name in part.open)


def _parts(rules: RuleSet, scenario: str) -> list[ScenarioRule]:
    """The family and the modifiers that `scenario` names."""
    family, *modifiers = scenario.split("+")
    names = [family] * bool(family) + [f"+{modifier}" for modifier in modifiers]
    for name in names:
        if name not in rules.scenarios:
            near = difflib.get_close_matches(name, rules.scenarios, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(rules.scenarios))}"
            raise UsageError(f"unknown scenario {scenario!r}", hint=hint)
    return [rules.scenarios[name] for name in names]


def value_term(value: Value) -> Term:
    """The literal term of a scenario's or a case's value."""
    if isinstance(value, tuple):
        return apply("tuple", *(constant(item) for item in value))
    return constant(value)


def in_result_unit(formula: Formula) -> Term:
    """The value in the unit of results, whatever unit the source computes in."""
    ratio = parse_unit(formula.source_unit).step / parse_unit(formula.unit).step
    value = formula.term
    if ratio.numerator > 1:
        value = apply("*", value, constant(ratio.numerator))
    if ratio.denominator > 1:
        value = apply("/", value, constant(ratio.denominator))
    return value


def outcome(formula: Formula) -> Term:
    """The value in the unit of results, and a raise where SGLang would stop before it exists."""
    value = in_result_unit(formula)
    if formula.error is None:
        return value
    return map_leaves(formula.error, lambda leaf: value if leaf is NONE else leaf)


def defaults(name: str, extraction: Extraction, rules: RuleSet) -> Iterator[Term]:
    """What `name` is worth when nobody sets it, as it is tried: the release's default, then the rules'."""
    facts, rule = extraction.inputs.get(name), rules.symbols.get(name)
    own = None if facts is None else facts.default
    # None where no None makes sense is an option that SGLang fills in later.
    if own is not None and not (own is NONE and rule is not None and not rule.domain.optional):
        yield own
    if rule is not None and rule.default is not None:
        yield rule.default


class Specialiser:
    """Partial evaluation of one extraction's terms under one scenario.

    `open_symbols` stay inputs whatever their default is.
    """

    def __init__(
        self,
        extraction: Extraction,
        rules: RuleSet,
        values: Mapping[str, Value],
        *,
        open_symbols: Iterable[str] = (),
    ) -> None:
        self._extraction = extraction
        self._rules = rules
        self._values = values
        self._open = {GIVEN_FRACTION, *open_symbols}
        self._symbols: dict[str, Term] = {}
        self._pending: set[str] = set()
        self._memo: dict[Term, Term] = {}
        self._touched_off: dict[Term, bool] = {}

    def term(self, root: Term) -> Term:
        """`root` with everything that the scenario settles folded away."""
        with deep_recursion():
            return self._settle_graph(root)

    def _settle_graph(self, root: Term) -> Term:
        memo = self._memo
        if root not in memo:
            for term in post_order(root, memo):
                # Settling a symbol may have settled what follows.
                if term not in memo:
                    memo[term] = self._settle(term)
        return memo[root]

    def error(self, root: Term) -> Term:
        """`root`, the raises before a value, settled as evaluation settles it.

        A condition that cannot be computed, such as one that asks an attribute of an object that nobody set, does not
        hold.
        """
        with deep_recursion():
            return self._settle_error(root, {})

    def _settle_error(self, term: Term, known: dict[Term, Term]) -> Term:
        if term not in known:
            if isinstance(term, Conditional):
                guard = map_leaves(self._settle_graph(term.guard), _false_where_it_raises)
                branches = (self._settle_error(term.then, known), self._settle_error(term.otherwise, known))
                known[term] = conditional(guard, *branches)
            else:
                known[term] = self._settle_graph(term)
        return known[term]

    def default(self, name: str) -> Term | None:
        """What `name` is worth when nobody sets it, settled; None when that hangs on an option that is off."""
        if name in self._pending:
            return None
        for candidate in defaults(name, self._extraction, self._rules):
            settled = self._within(name, candidate)
            if not self._is_off(settled):
                return settled
        return None

    def _within(self, name: str, term: Term) -> Term:
        self._pending.add(name)
        try:
            return self._settle_graph(term)
        finally:
            self._pending.discard(name)

    def _settle(self, term: Term) -> Term:
        if isinstance(term, Symbol):
            if term.name in self._pending:
                return term
            if term.name not in self._symbols:
                self._symbols[term.name] = self._settle_symbol(term)
            return self._symbols[term.name]
        if not children(term):
            return term
        return self._fold(term, tuple(self._memo[child] for child in children(term)))

    def _settle_symbol(self, term: Symbol) -> Term:
        name = term.name
        if name in self._values:
            return value_term(self._values[name])
        rule = self._rules.symbols.get(name)
        if name in self._open or name in self._extraction.quantities or (rule is not None and rule.free):
            return term
        if name in self._extraction.definitions:
            settled = self._within(name, self._extraction.definitions[name].term)
            # Another name for a record is that record.
            return settled if _is_ground(settled) or self._rules.is_record(settled) else term
        settled_default = self.default(name)
        return term if settled_default is None else settled_default

    def _fold(self, term: Term, args: tuple[Term, ...]) -> Term:
        if isinstance(term, Opaque) and term.name in ITERATIONS:
            return computed(opaque(term.name, args))
        if isinstance(term, Apply) and term.op in _GUARDS and any(map(self._may_be_off, args)):
            return self._fold_guard(term.op, args)
        return rebuild(term, args)

    def _fold_guard(self, op: str, args: tuple[Term, ...]) -> Term:
        for position, arg in enumerate(args):
            if isinstance(arg, Conditional):
                return map_leaves(arg, lambda leaf, p=position: self._fold_guard(op, (*args[:p], leaf, *args[p + 1 :])))  # type: ignore[misc]  # a lambda with defaults has no inferable type
        off = [arg for arg in args if self._is_off(arg)]
        return _settle_off(op, args, off[0]) if off else apply(op, *args)

    def _is_off(self, term: Term) -> bool:
        """Whether `term` is an option that nobody sets."""
        match term:
            case Opaque(op, args) if op in ITERATIONS and op != "item":
                return any(self._is_off(arg) for arg in args)
            case Opaque():
                return not is_of_loop(term)
            case Symbol(name):
                return name not in self._rules.symbols and not (
                    name in self._open or name in self._extraction.definitions or name in self._extraction.quantities
                )
            case Apply(op, args) if op in _PASSES_OFF:
                return any(self._is_off(arg) for arg in args)
            case _:
                return False

    def _may_be_off(self, root: Term) -> bool:
        """Whether one of the values that `root` can take is an unset option."""
        if not isinstance(root, Conditional):
            return self._is_off(root)
        for term in post_order(root, self._touched_off):
            if term not in self._touched_off:
                branches = (term.then, term.otherwise) if isinstance(term, Conditional) else ()
                touched = any(self._touched_off.get(branch, False) for branch in branches)
                self._touched_off[term] = touched or self._is_off(term)
        return self._touched_off[root]


def _false_where_it_raises(term: Term) -> Term:
    return FALSE if isinstance(term, Raise) else term


def _is_ground(term: Term) -> bool:
    return isinstance(term, Constant | Atom) or (
        isinstance(term, Apply) and term.op == "tuple" and all(map(_is_ground, term.args))
    )


def _settle_off(op: str, args: tuple[Term, ...], off: Term) -> Term:
    """A guard on an unset option, decided as evaluation decides it."""
    if op in _EQUALITIES or op in ("is not", "!="):
        others = [arg for arg in args if arg is not off]
        if others and not isinstance(others[0], Constant | Atom) and not is_boolean(others[0]):
            return apply(op, *(NONE if arg is off else arg for arg in args))
        same = not others or others[0] is NONE
        return TRUE if same == (op in _EQUALITIES) else FALSE
    return TRUE if op in _TRUE_WHEN_OFF else FALSE


def scenario_formula(extraction: Extraction, rules: RuleSet, quantity: str, scenario: str) -> Formula:
    """The formula of `quantity` (or of a sub-quantity) as `scenario` leaves it."""
    formula = extraction.quantities.get(quantity) or extraction.definitions[quantity]
    values, inputs = scenario_values(rules, scenario), scenario_inputs(rules, scenario)
    specialiser = Specialiser(extraction, rules, values, open_symbols=inputs)
    term = specialiser.term(formula.term)
    # What these models do not have cannot fail.
    error = None if formula.error is None or is_absent(term) else specialiser.term(formula.error)
    return replace(formula, term=term, error=None if error is NONE else error)
