"""The formula of one release with the numbers of one start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.application.evaluate import evaluate_cases
from analyzer.application.explain.inputs import COST
from analyzer.application.given import GivenParts
from analyzer.domain.binding import Binding
from analyzer.domain.build import rewrite
from analyzer.domain.errors import UsageError
from analyzer.domain.evaluation import Case, CaseResult, Inputs
from analyzer.domain.explanation import Step
from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import in_result_unit, scenario_values
from analyzer.domain.semantics import MissingInputError, Off, RaisedError
from analyzer.domain.source import Revision
from analyzer.domain.terms import (
    Apply,
    Conditional,
    Symbol,
    Term,
    children,
    constant,
    post_order,
    raw_apply,
    raw_conditional,
    symbol,
    symbols_of,
)
from analyzer.symbolic.budget import find_budget
from analyzer.units import Inference
from analyzer.units.declared import declared_units

_TEXT_LIMIT: Final = 2_000
_STEPS: Final = (
    "effective_mem_fraction_static",
    "rest_memory",
    "cell_size",
    "max_total_num_tokens",
    "full_max_total_num_tokens",
    "swa_max_total_num_tokens",
    "max_mamba_cache_size",
    "max_num_reqs",
)


@dataclass(frozen=True, slots=True)
class FormulaOf:
    """The extraction of one release under one scenario, ready to be evaluated again and again."""

    revision: Revision
    extraction: Extraction
    rules: RuleSet
    scenario: str

    def results(self, inputs: Iterable[Inputs], names: Sequence[str] = ()) -> list[CaseResult]:
        """The quantities `names`, all that are tracked when empty, for each of `inputs`.

        Raises UsageError for inputs that no configuration could have.
        """
        cases = [Case(dict(item.values), self.scenario, facts=dict(item.facts)) for item in inputs]
        asked = tuple(names or dict.fromkeys([*self.extraction.quantities, COST]))
        found = evaluate_cases(self.extraction, self.rules, cases, asked)
        for result in found:
            if result.problem is not None:
                raise UsageError(result.problem)
        return found

    def result(self, inputs: Inputs, names: Sequence[str] = ()) -> CaseResult:
        """The quantities `names`, all that are tracked when empty, for `inputs`. Raises UsageError as `results`."""
        return self.results([inputs], names)[0]

    def steps(self, inputs: Inputs, result: CaseResult) -> tuple[Step, ...]:
        """The quantities from the fraction to the count, each with its formula on the branch taken."""
        fixed = {**inputs.facts, **scenario_values(self.rules, self.scenario)}
        extraction = GivenParts(self.extraction, self.rules).extraction(fixed, inputs.values)
        binding = Binding(extraction, self.rules, fixed, inputs.values)
        taken = _Taken(binding)
        parts = self._parts(taken, extraction)
        names = [name for name in _STEPS if name in extraction.quantities and name not in inputs.values]
        return tuple(
            _step(
                name,
                taken,
                rewrite(taken.part(in_result_unit(extraction.quantities[name])), _others(parts, name).get),
                result,
            )
            for name in names
            if name in result.quantities and result.quantities[name].value is not None
        )

    def _parts(self, taken: _Taken, extraction: Extraction) -> dict[Term, Term]:
        """What the count is made of, as far as it was merged into it."""
        tokens = extraction.quantities.get("max_total_num_tokens")
        budget = None if tokens is None else find_budget(taken.part(tokens.term), Inference(declared_units(self.rules)))
        if budget is None:
            return {}
        known = symbols_of(tokens.term) if tokens is not None else frozenset()
        found: dict[Term, Term] = {}
        if children(budget.memory) and "rest_memory" not in known:
            found[budget.memory] = symbol("rest_memory")
        if children(budget.cost) and "cell_size" not in known:
            found[budget.cost] = symbol("cell_size")
        return found


def _others(parts: Mapping[Term, Term], name: str) -> dict[Term, Term]:
    return {term: known for term, known in parts.items() if known is not symbol(name)}


class _Taken:
    """The part of a term that one case takes: conditionals decided, everything else as it is."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._memo: dict[Term, Term] = {}

    def part(self, root: Term) -> Term:
        """`root` without the branches not taken; a guard that cannot be decided stays."""
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self._memo:
                stack.pop()
                continue
            needed = self._needed(term)
            waiting = [child for child in needed if child not in self._memo]
            if waiting:
                stack.extend(waiting)
                continue
            self._memo[term] = self._rebuilt(term, needed)
            stack.pop()
        return self._memo[root]

    def _needed(self, term: Term) -> tuple[Term, ...]:
        if not isinstance(term, Conditional):
            return children(term)
        try:
            return (term.then,) if self.binding.value(term.guard) else (term.otherwise,)
        except (MissingInputError, RaisedError):
            return children(term)

    def _rebuilt(self, term: Term, needed: Sequence[Term]) -> Term:
        parts = tuple(self._memo[part] for part in needed)
        if isinstance(term, Conditional):
            return parts[0] if len(parts) == 1 else raw_conditional(*parts)
        return raw_apply(term.op, parts) if isinstance(term, Apply) else term

    def numbers(self, term: Term) -> Term:
        """`term` with every input replaced by its number."""
        memo: dict[Term, Term] = {}
        for node in post_order(term):
            if isinstance(node, Symbol):
                memo[node] = self._number(node)
            elif isinstance(node, Apply):
                memo[node] = raw_apply(node.op, tuple(memo[arg] for arg in node.args))
            elif isinstance(node, Conditional):
                memo[node] = raw_conditional(*(memo[part] for part in node.args))
            else:
                memo[node] = node
        return memo[term]

    def _number(self, node: Symbol) -> Term:
        try:
            value = self.binding.value(node)
        except (MissingInputError, RaisedError):
            return node
        return (
            node
            if isinstance(value, Off) or not isinstance(value, int | float | str | None)
            else constant(_short(value))
        )


def _short(value: float | str | None) -> float | str | None:
    """A number as it is read from a log, without the digits that binary fractions add."""
    return float(f"{value:.10g}") if isinstance(value, float) else value


def _step(name: str, taken: _Taken, term: Term, result: CaseResult) -> Step:
    found = result.quantities[name]
    text = to_text(term, limit=_TEXT_LIMIT)
    numbers = to_text(taken.numbers(term), limit=_TEXT_LIMIT)
    return Step(name, text, numbers, found.value, found.unit)
