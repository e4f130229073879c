"""Comparing every quantity under every scenario, each difference reported where it arises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.compare.defaults import compare_default
from analyzer.compare.explain import Part
from analyzer.compare.findings import Finding
from analyzer.compare.ladder import Judgement
from analyzer.compare.pairing import Sides
from analyzer.compare.run import Run
from analyzer.domain.extraction import Formula
from analyzer.domain.report import Kind
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION
from analyzer.domain.terms import UNSET, Term, atom, symbols_of


def compare_scenarios(run: Run) -> None:
    """Fill in the verdicts and the findings of every scenario."""
    for name in run.verdicts:
        _compare_presence(run, name)
    free = [name for name in run.verdicts if run.is_scenario_free(name)]
    bound = [name for name in run.verdicts if name not in free]
    for scenario in run.scenarios:
        _ScenarioRun(run, Sides(run.base, run.head, run.rules, scenario), bound, (scenario,)).compare()
    if free:
        _ScenarioRun(run, Sides(run.base, run.head, run.rules, ""), free, run.scenarios).compare()
    for name in run.verdicts:
        _compare_order(run, name)


def _compare_presence(run: Run, name: str) -> None:
    """A quantity that only one side computes has no formula to compare with."""
    before, after = run.base.quantities.get(name), run.head.quantities.get(name)
    if before is not None and after is not None:
        return
    # What base does not compute at all is new behaviour; what head no longer yields may be a failed search.
    kind = Kind.LOST if after is None else Kind.SEMANTIC
    action = "removed" if after is None else "added"
    part = Part("extraction", action, before.term if before else None, after.term if after else None)
    run.verdicts[name] = dict.fromkeys(run.scenarios, kind)
    run.findings.append(Finding(name, kind, part, run.scenarios, before, after))


def _compare_order(run: Run, name: str) -> None:
    """The same measurement made before or after something else is another value, whatever its formula."""
    before, after = run.base.quantities.get(name), run.head.quantities.get(name)
    if before is None or after is None or before.preceded_by == after.preceded_by:
        return
    part = Part("measurement", "changed", _moment(before), _moment(after))
    run.verdicts[name] = {scenario: max(kind, Kind.SEMANTIC) for scenario, kind in run.verdicts[name].items()}
    run.findings.append(Finding(name, Kind.SEMANTIC, part, run.scenarios, before, after, affects=_readers(run, name)))


def _moment(formula: Formula) -> Term:
    """When something is measured, in words."""
    steps = " and ".join(formula.preceded_by)
    return atom(f"measured after {steps}" if steps else "measured before anything is loaded")


def _readers(run: Run, name: str) -> tuple[str, ...]:
    """The quantities that depend on a measurement, directly or through others."""
    found = {name}
    formulas = {**run.base.quantities, **run.head.quantities}
    while True:
        more = {other for other, formula in formulas.items() if symbols_of(formula.term) & found} - found
        if not more:
            return tuple(sorted(found - {name}))
        found |= more


class _ScenarioRun:
    """The comparison of some quantities under one scenario."""

    def __init__(self, run: Run, sides: Sides, names: Sequence[str], scenarios: tuple[str, ...]) -> None:
        self._run = run
        self._sides = sides
        self._names = [name for name in names if sides.pair(name) is not None]
        self._scenarios = scenarios
        self._own: dict[str, Judgement] = {}

    def compare(self) -> None:
        """Judge every quantity and what it reads, and report each difference once."""
        for name in self._names:
            self._own[name] = self._judged(name)
        subs = sorted({sub for name in self._names for sub in self._sides.reads(name)} - self._own.keys())
        below = {sub: self._judged(sub) for sub in subs if self._is_compared(sub)}
        coloured = {name: self._own[name].kind for name in self._names}
        for name, judgement in below.items():
            self._colour(name, judgement, coloured, report=True)
        for name, judgement in self._own.items():
            self._colour(name, judgement, coloured, report=False)
        for name in self._sides.defaults_apart:
            moved = compare_default(self._run, self._sides, name, self._readers(name), scenarios=self._scenarios)
            for reader, kind in moved.items():
                coloured[reader] = max(coloured[reader], kind)
        for name, kind in coloured.items():
            self._run.verdicts[name].update(dict.fromkeys(self._scenarios, kind))

    def _is_compared(self, name: str) -> bool:
        return name not in self._run.verdicts and name != GIVEN_FRACTION and self._sides.pair(name) is not None

    def _judged(self, name: str) -> Judgement:
        pair = self._sides.pair(name)
        assert pair is not None
        if pair == (UNSET, UNSET):
            return Judgement(Kind.IDENTICAL, *pair)
        found = self._run.judge(self._sides, name, pair)
        if found.kind > Kind.UNIT:
            found = self._within_defaults(name, pair, found)
        kind = self._run.presented(name, found.kind)
        if kind < Kind.UNDECIDED and self._run.new_gaps(name, pair):
            kind = Kind.UNDECIDED
        return replace(found, kind=kind)

    def _within_defaults(self, name: str, pair: tuple[Term, Term], found: Judgement) -> Judgement:
        """The difference that is left when inputs no scenario leaves open take either side's default."""
        rules = self._sides.rules
        closed = [
            other for other in self._sides.defaults_apart if not (other in rules.symbols and rules.symbols[other].free)
        ]
        if not closed:
            return found
        results = [
            self._run.judge(self._sides, name, self._sides.both_with(*pair, closed, head=head))
            for head in (False, True)
        ]
        return max(results, key=lambda result: result.kind)

    def _readers(self, name: str) -> list[str]:
        if name == DEFAULT_FRACTION:
            return [other for other in self._run.verdicts if self._reads_fraction(other)]
        return [other for other in self._names if name in self._sides.reads(other)]

    def _reads_fraction(self, name: str) -> bool:
        return any(
            GIVEN_FRACTION in symbols_of(formula.term)
            for formula in self._run.formulas(name)
            if formula is not None and name != DEFAULT_FRACTION
        ) or GIVEN_FRACTION in self._sides.reads(name)

    def _colour(self, name: str, judgement: Judgement, coloured: dict[str, Kind], *, report: bool) -> None:
        """Pass the kind of `name` on to what depends on it, and report it."""
        kind, readers = judgement.kind, self._readers(name)
        if kind >= Kind.ROUNDING and name != DEFAULT_FRACTION:
            readers = [reader for reader in readers if not self._run.cancels_out(self._sides, name, reader)]
            for reader in readers:
                coloured[reader] = max(coloured[reader], kind)
            if report and not readers:
                return
        if kind is not Kind.IDENTICAL and (not report or kind >= Kind.UNIT):
            self._run.report(name, judgement, self._scenarios, readers if kind >= Kind.UNIT else ())
