"""Takes the formula of a token count apart: measured, headroom, reservations, bytes, tokens, clamps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from analyzer.application.docs.pages import Failure, Step
from analyzer.domain.build import rewrite
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import in_result_unit
from analyzer.domain.terms import (
    NONE,
    Apply,
    Conditional,
    Constant,
    Opaque,
    Raise,
    Symbol,
    Term,
    children,
    post_order,
    symbol,
    symbols_of,
    walk,
)
from analyzer.symbolic.budget import find_budget, in_unit
from analyzer.units import Inference
from analyzer.units.declared import declared_units

BEFORE: Final = "pre_model_load_memory"
AFTER: Final = "available_gpu_memory"
FRACTION: Final = "effective_mem_fraction_static"
BUDGET: Final = "rest_memory"
COST: Final = "cell_size"
TOKENS: Final = "max_total_num_tokens"
_HEADROOM: Final = "headroom"
_BYTES: Final = "budget_bytes"
_STAGES: Final = (BEFORE, AFTER, FRACTION, BUDGET, COST, TOKENS)


class Formulas:
    """The formulas of one release under one scenario, with what the count is made of under its own names."""

    def __init__(self, extraction: Extraction, rules: RuleSet, settle: Callable[[Term], Term]) -> None:
        self._extraction = extraction
        self._rules = rules
        self._settle = settle
        self._units = Inference(declared_units(rules))
        self._parts = self._find_parts()

        self._links: dict[Term, Term] = {}

    def steps(self) -> tuple[Step, ...]:
        """Every step, in the order in which the server takes them."""
        return tuple(self._steps())

    def failures(self) -> tuple[Failure, ...]:
        """What can be raised on the way, for each quantity whose condition is its own."""
        found: dict[Term, str] = {}
        for name, formula in self._extraction.quantities.items():
            if formula.error is not None:
                error = self._with_names(self._settle(formula.error))
                if error is not NONE and not isinstance(error, Raise):
                    found.setdefault(error, name)
        return tuple(Failure(name, error) for error, name in found.items())

    def _steps(self) -> Iterator[Step]:
        for name in (BEFORE, AFTER):
            if name in self._extraction.quantities:
                yield self._step(name, "measured")
        if FRACTION in self._extraction.quantities:
            yield self._step(FRACTION, _HEADROOM)
        yield from self._budget()
        if self._has(COST):
            yield self._step(COST, "cost")
        yield from self._count()
        for name in self._extraction.quantities:
            if name not in _STAGES and self._has(name) and self._rule_root(name):
                yield self._step(name, "pool")

    def _rule_root(self, name: str) -> bool:
        """Whether a quantity hangs on the scenario, as the default fraction does not."""
        rule = self._rules.quantities.get(name)
        return rule is None or not rule.scenario_free

    def _has(self, name: str) -> bool:
        """Whether the scenario computes a quantity of its own, rather than none or what the user gives."""
        formula = self._extraction.quantities.get(name)
        return formula is not None and not isinstance(self._settle(formula.term), Raise | Symbol | Constant | Opaque)

    def _find_parts(self) -> dict[Term, Term]:
        """The budget and the bytes per token inside the count, where it does not read them by name."""
        tokens = self._extraction.quantities.get(TOKENS)
        if tokens is None:
            return {}
        settled = self._settle(tokens.term)
        budget = find_budget(settled, self._units)
        if budget is None or not budget.exact:
            return {}
        parts: dict[Term, Term] = {}
        known = symbols_of(settled)
        if children(budget.memory) and BUDGET not in known and self._is_quantity(BUDGET, budget.memory, budget.unit):
            parts[budget.memory] = in_unit(symbol(BUDGET), "GiB", budget.unit, like=budget.memory)
        if children(budget.cost) and COST not in known and self._is_quantity(COST, budget.cost, "byte/token"):
            parts[budget.cost] = symbol(COST)
        return parts

    def _is_quantity(self, name: str, part: Term, unit: str) -> bool:
        """Whether `part` of the count is the formula of `name`."""
        formula = self._extraction.quantities.get(name)
        return formula is not None and formula.source_unit == unit and self._settle(formula.term) is part

    def _step(self, name: str, stage: str) -> Step:
        formula = self._extraction.quantities[name]
        term = self._named(name, formula)
        return Step(stage, self._title(name), name, term, formula.unit, self._conversion(formula), formula.locations)

    def _named(self, name: str, formula: Formula) -> Term:
        """The formula of `name`, with the parts that have names but itself under them."""
        settled = self._settle(in_result_unit(formula))
        parts = {term: known for term, known in self._parts.items() if name not in symbols_of(known)}
        return rewrite(rewrite(settled, parts.get), self._links.get)

    def _with_names(self, term: Term) -> Term:
        """`term` over the names of what the count is made of."""
        return rewrite(rewrite(term, self._parts.get), self._links.get)

    def _conversion(self, formula: Formula) -> tuple[str, str] | None:
        return (formula.source_unit, formula.unit) if formula.source_unit != formula.unit else None

    def _title(self, name: str) -> str:
        return self._rules.quantities[name].title if name in self._rules.quantities else name

    def _budget(self) -> Iterator[Step]:
        formula = self._extraction.quantities.get(BUDGET)
        if formula is None:
            return
        whole = self._named(BUDGET, formula)
        asides: dict[Term, Term] = {}
        for part in [part for sign, part in _summands(whole) if sign == "-"]:
            if BEFORE in symbols_of(part) and AFTER not in symbols_of(part):
                yield Step(_HEADROOM, "headroom", _HEADROOM, part, formula.unit)
                continue
            asides[part] = symbol(f"reservation_{len(asides) + 1}")
            yield Step("reservation", "reservation", f"reservation_{len(asides)}", part, formula.unit)
        yield Step(
            "budget",
            self._title(BUDGET),
            BUDGET,
            _below(whole, asides),
            formula.unit,
            self._conversion(formula),
            formula.locations,
        )

    def _count(self) -> Iterator[Step]:
        formula = self._extraction.quantities.get(TOKENS)
        if formula is None:
            return
        whole = self._named(TOKENS, formula)
        divisions = [node for node in walk(whole) if _is_division(node)]
        if len(divisions) != 1:
            yield Step("tokens", self._title(TOKENS), TOKENS, whole, formula.unit, None, formula.locations)
            return
        yield from self._chain(whole, divisions[0], formula)

    def _chain(self, whole: Term, division: Term, formula: Formula) -> Iterator[Step]:
        """The division and what is done to its result, one step for each thing that it is done with."""
        numerator = children(division)[0]
        unit = self._units.of(numerator)
        parts: dict[Term, Term] = {}
        if unit is not None and unit.is_memory and children(numerator):
            converts = ("GiB", str(unit)) if str(unit) != "GiB" else None
            yield Step("bytes", "budget in the unit of the division", _BYTES, numerator, str(unit), converts)
            parts[numerator] = symbol(_BYTES)
        links = _links(whole, division)
        for number, link in enumerate(links):
            is_last = number == len(links) - 1
            name = TOKENS if is_last else f"tokens_{number + 1}"
            stage, title = (
                ("tokens", "tokens that fit") if number == 0 else ("clamp", self._clamp_title(link, links[number - 1]))
            )
            yield Step(
                stage, title, name, _below(link, parts), formula.unit, None, formula.locations if is_last else ()
            )
            parts = self._links = {**self._links, link: symbol(name)}

    def _clamp_title(self, link: Term, inner: Term) -> str:
        """What a clamp hangs on, in the words of the rules."""
        names = sorted(symbols_of(link) - symbols_of(inner))
        known = [self._rules.symbols[name].description for name in names if name in self._rules.symbols]
        return "; ".join(known) or "a fixed limit"


def _summands(term: Term) -> list[tuple[str, Term]]:
    """The parts of a sum with their signs; a term that is no sum is its only part."""
    match term:
        case Apply("-" | "+" as sign, (left, right)):
            return [*_summands(left), (sign, right)]
        case _:
            return [("+", term)]


def _is_division(term: Term) -> bool:
    """Whether a term divides the budget by bytes per token."""
    if not (isinstance(term, Apply) and term.op in ("/", "//")):
        return False
    numerator, cost = term.args
    over, under = symbols_of(numerator), symbols_of(cost)
    return bool({BUDGET, AFTER} & over) and not {BUDGET, AFTER} & under and (COST not in over)


def _links(root: Term, start: Term) -> list[Term]:
    """The terms between `start` and `root` through which every use of `start` goes, innermost first.

    A term that hangs on nothing but what the one below it hangs on belongs to that one.
    """
    order = post_order(root)
    below: dict[Term, int] = {}
    for term in order:
        below[term] = 1 if term is start else sum(below[child] for child in children(term))
    above: dict[Term, int] = dict.fromkeys(order, 0)
    above[root] = 1
    for term in reversed(order):
        for child in children(term):
            above[child] += above[term]
    passed = [term for term in order if below[term] and above[term] * below[term] == below[root]]
    found: list[Term] = []
    hangs_on = [frozenset[str]()]
    for term in passed:
        new = _own(term, found[-1] if found else None)
        if found and new <= hangs_on[-1] and not _limits(term):
            found[-1] = term
        else:
            found.append(term)
            hangs_on.append(new)
    return found


def _limits(term: Term) -> bool:
    """Whether a term bounds or chooses, so that it is a step even if it hangs on nothing new."""
    return isinstance(term, Conditional) or (isinstance(term, Apply) and term.op in ("min", "max"))


def _below(link: Term, parts: Mapping[Term, Term]) -> Term:
    """`link` over the names of `parts`, never its own."""
    return rewrite(link, lambda term: None if term is link else parts.get(term))


def _own(term: Term, inner: Term | None) -> frozenset[str]:
    """The symbols that `term` reads beside what `inner` reads."""
    if inner is None:
        return frozenset()
    kept = rewrite(term, {inner: symbol("")}.get)
    return symbols_of(kept) - {""}
