"""Comparing two extractions: every quantity in every scenario, then what differs and who is affected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.compare.explain import Part, explain
from analyzer.compare.findings import Finding, to_changes
from analyzer.compare.ladder import Judge, Judgement, exceptions_of
from analyzer.compare.outside import outside_guard
from analyzer.compare.pairing import NEVER_OPENED, Sides, preferred_values, quantity_symbols
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.notation import to_text
from analyzer.domain.report import Change, Kind
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION
from analyzer.domain.terms import Term, symbols_of

_MEASURED: Final = ("pre_model_load_memory", "available_gpu_memory")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the formulas of two refs relate; `verdict` is the strongest kind of all."""

    verdicts: Mapping[str, Mapping[str, Kind]]
    changes: tuple[Change, ...]
    verdict: Kind
    notes: tuple[str, ...]


def compare_extractions(
    base: Extraction,
    head: Extraction,
    rules: RuleSet,
    *,
    scenarios: Sequence[str],
    quantities: Sequence[str],
    outside: bool = True,
) -> Comparison:
    """Compare `quantities` (all when empty) in `scenarios`, and beyond all of them when `outside`."""
    known = [*rules.quantities, *base.quantities, *head.quantities]
    quantities = quantities or tuple(dict.fromkeys(known))
    run = _Run(base, head, rules, scenarios, quantities)
    run.compare_scenarios()
    if outside:
        run.compare_outside()
    changes = to_changes(run.findings, rules)
    kinds = [kind for row in run.verdicts.values() for kind in row.values()]
    verdict = max([*kinds, *(change.kind for change in changes)], default=Kind.IDENTICAL)
    return Comparison(run.verdicts, changes, verdict, tuple(dict.fromkeys(run.notes)))


class _Run:
    """One comparison in progress."""

    def __init__(
        self, base: Extraction, head: Extraction, rules: RuleSet, scenarios: Sequence[str], quantities: Sequence[str]
    ) -> None:
        self._base = base
        self._head = head
        self._rules = rules
        self._scenarios = tuple(scenarios)
        self._quantities = tuple(quantities)
        self._judge = Judge({**quantity_symbols(rules), **rules.symbols})
        self.verdicts: dict[str, dict[str, Kind]] = {name: {} for name in quantities if self._known(name)}
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self._cancelled: dict[tuple[str | None, str], bool] = {}

    def _known(self, name: str) -> bool:
        return name in self._base.quantities or name in self._head.quantities

    def compare_scenarios(self) -> None:
        """Fill in the verdicts and the findings of every scenario."""
        for name in self.verdicts:
            self._compare_presence(name)
        free = [name for name in self.verdicts if self._is_scenario_free(name)]
        for scenario in self._scenarios:
            bound = [name for name in self.verdicts if name not in free]
            _ScenarioRun(self, Sides(self._base, self._head, self._rules, scenario), bound, (scenario,)).compare()
        if free:
            _ScenarioRun(self, Sides(self._base, self._head, self._rules, ""), free, self._scenarios).compare()

    def _is_scenario_free(self, name: str) -> bool:
        rule = self._rules.quantities.get(name)
        return rule is not None and rule.scenario_free

    def _compare_presence(self, name: str) -> None:
        """A quantity that only one side computes has no formula to compare with."""
        before, after = self._base.quantities.get(name), self._head.quantities.get(name)
        if before is not None and after is not None:
            return
        # What base does not compute at all is new behaviour; what head no longer yields may be a failed search.
        kind = Kind.LOST if after is None else Kind.SEMANTIC
        part = Part("extraction", "removed" if after is None else "added", before and before.term, after and after.term)
        self.verdicts[name] = dict.fromkeys(self._scenarios, kind)
        self.findings.append(Finding(name, kind, part, self._scenarios, before, after))

    def preferred(self, scenario: str) -> Mapping[str, object]:
        """Where the search for a witness starts."""
        return preferred_values(self._rules, scenario)

    def judge(self, sides: Sides, name: str, pair: tuple[Term, Term]) -> Judgement:
        """Place the pair of formulas of `name` on the ladder, opening sub-quantities where that helps."""
        before, after = pair
        unit = self._unit(name)
        if before is after:
            return Judgement(Kind.IDENTICAL, before, after)
        aligned, opened = sides.aligned(before, after), sides.opened(before, after)
        for pair in dict.fromkeys(((before, after), aligned, opened)):
            if self._judge.alike(*pair):
                return Judgement(Kind.REFACTOR, before, after)
        preferred = self.preferred(sides.scenario or self._first_scenario())
        found = self._judge.judge(*aligned, unit, preferred)
        if found.kind > Kind.UNIT and opened != aligned:
            if found.kind is not Kind.SEMANTIC or self._suspicious(sides, *aligned):
                # With sub-quantities held apart, a difference may be one that their formulas rule out.
                deeper = self._judge.judge(*opened, unit, preferred)
                found = deeper if deeper.kind < found.kind else found
        return found

    def _first_scenario(self) -> str:
        return self._scenarios[0] if self._scenarios else ""

    def _suspicious(self, sides: Sides, before: Term, after: Term) -> bool:
        """Whether a sub-quantity differs, or one side reads what a sub-quantity of the other is made of."""
        first, second = symbols_of(before), symbols_of(after)
        apart = first ^ second
        below = set[str]()
        for name in first | second:
            pair = sides.pair(name)
            if pair is not None and pair[0] is not pair[1]:
                return True
            below |= sides.reads(name)
        return bool(apart & below)

    def formulas(self, name: str) -> tuple[Formula | None, Formula | None]:
        """The formulas of `name` as the sources have them."""
        return (
            self._base.quantities.get(name) or self._base.definitions.get(name),
            self._head.quantities.get(name) or self._head.definitions.get(name),
        )

    def _unit(self, name: str) -> str:
        rule = self._rules.quantities.get(name) or self._rules.symbols.get(name)
        return rule.unit if rule is not None else ""

    def presented(self, name: str, kind: Kind) -> Kind:
        """`kind` with what the text alone does not show: another unit, another place."""
        before, after = self.formulas(name)
        if before is None or after is None or kind > Kind.REFACTOR:
            return kind
        if before.source_unit != after.source_unit:
            return Kind.UNIT
        if kind is Kind.IDENTICAL and self._moved(name, before, after):
            return Kind.MOVED
        return kind

    def _moved(self, name: str, before: Formula, after: Formula) -> bool:
        places = [{span.path for span in formula.locations} for formula in (before, after)]
        if before.source_name != after.source_name or places[0] != places[1]:
            return True
        return name in _MEASURED and _path(self._base) != _path(self._head)

    def parts(self, judgement: Judgement) -> tuple[Part, ...]:
        """What the difference consists of, in the areas that rules have for its kind."""
        whole = (judgement.before, judgement.after)
        match judgement.kind:
            case Kind.MOVED:
                return (Part("path", "changed", *whole),)
            case Kind.UNIT:
                return (Part("unit", "changed", *whole),)
            case Kind.IDENTICAL | Kind.REFACTOR:
                self._note_exceptions(judgement)
                return (Part("order", "changed", *whole),)
        if self._judge.equal(*whole):
            # Undecided for what the analysis could not follow, not for what it found.
            return (Part("extraction", "changed", *whole),)
        found = explain(*whole, self._judge.equal)
        if judgement.kind is Kind.ROUNDING and not (len(found) == 1 and found[0].area == "rounding"):
            return (Part("rounding", "changed", *_shown(found, whole)),)
        return found

    def _note_exceptions(self, judgement: Judgement) -> None:
        raised = exceptions_of(judgement.before), exceptions_of(judgement.after)
        if raised[0] != raised[1]:
            old, new = (", ".join(sorted(names)) or "no error" for names in raised)
            self.notes.append(f"the exception raised changed from {old} to {new} under the same conditions")

    def report(
        self, name: str, judgement: Judgement, scenarios: tuple[str, ...], affects: Iterable[str], guard: str = ""
    ) -> None:
        """Add a finding for every part of the difference."""
        before, after = self.formulas(name)
        readers = tuple(other for other in affects if other != name)
        for part in self.parts(judgement):
            self.findings.append(
                Finding(
                    quantity=name,
                    kind=judgement.kind,
                    part=part,
                    scenarios=scenarios,
                    before=before,
                    after=after,
                    affects=readers,
                    witness=judgement.witness,
                    bound=judgement.bound,
                    guard=guard,
                    detail=to_text(part.condition) if part.condition is not None else "",
                )
            )

    def proven(self, before: Term, after: Term) -> bool:
        """Whether the two terms are proven equal."""
        return self._judge.equal(before, after)

    def cancels_out(self, sides: Sides, name: str, reader: str) -> bool:
        """Whether `reader` is the same after all once sub-quantities such as `name` are opened."""
        pair = sides.pair(reader)
        if pair is None or name in NEVER_OPENED:
            return False
        key = (sides.scenario, reader)
        if key not in self._cancelled:
            self._cancelled[key] = self.proven(*sides.opened(*pair))
        return self._cancelled[key]

    def plain(self, before: Term, after: Term, name: str, scenario: str) -> Judgement:
        """The pair as it is, nothing opened."""
        return self._judge.judge(before, after, self._unit(name), self.preferred(scenario))

    def new_gaps(self, name: str) -> bool:
        """Whether the analysis of `name` stopped at places that differ between the sides."""
        sides = [
            {(gap.construct, gap.reason) for gap in extraction.gaps if name in gap.affects}
            for extraction in (self._base, self._head)
        ]
        return sides[0] != sides[1]

    def compare_outside(self) -> None:
        """Look for differences in conditions that no scenario asks for."""
        sides = Sides(self._base, self._head, self._rules, None)
        reported = {finding.quantity for finding in self.findings if finding.kind >= Kind.ROUNDING}
        names = [name for name in self.verdicts if not self._is_scenario_free(name)]
        subs = sorted({sub for name in names for sub in sides.reads(name)} - set(names) - {DEFAULT_FRACTION})
        found: list[tuple[str, Judgement]] = []
        for name in (*names, *subs):
            pair = sides.pair(name)
            if name in reported or pair is None or pair[0] is pair[1] or name == GIVEN_FRACTION:
                continue
            judgement = self.judge(sides, name, pair)
            if judgement.kind >= Kind.ROUNDING:
                found.append((name, judgement))
        for name, judgement in found:
            affects = [other for other in names if name in sides.reads(other) and not self.cancels_out(sides, name, other)]
            if name in subs and not affects:
                continue
            guard = outside_guard(judgement.witness, self._rules, self._scenarios)
            self.report(name, judgement, (), affects, guard)


class _ScenarioRun:
    """The comparison of some quantities under one scenario."""

    def __init__(self, run: _Run, sides: Sides, names: Sequence[str], scenarios: tuple[str, ...]) -> None:
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
            self._compare_default(name, coloured)
        for name, kind in coloured.items():
            self._run.verdicts[name].update(dict.fromkeys(self._scenarios, kind))

    def _is_compared(self, name: str) -> bool:
        return name not in self._run.verdicts and name != GIVEN_FRACTION and self._sides.pair(name) is not None

    def _judged(self, name: str) -> Judgement:
        pair = self._sides.pair(name)
        assert pair is not None
        found = self._run.judge(self._sides, name, pair)
        if found.kind > Kind.UNIT:
            found = self._within_defaults(name, pair, found)
        kind = self._run.presented(name, found.kind)
        if kind < Kind.UNDECIDED and self._run.new_gaps(name):
            kind = Kind.UNDECIDED
        return Judgement(kind, found.before, found.after, found.witness, found.bound)

    def _within_defaults(self, name: str, pair: tuple[Term, Term], found: Judgement) -> Judgement:
        """The difference that is left when inputs no scenario leaves open take either side's default."""
        rules = self._sides.rules
        closed = [
            other
            for other in self._sides.defaults_apart
            if not (other in rules.symbols and rules.symbols[other].free)
        ]
        if not closed:
            return found
        results = [
            self._run.judge(self._sides, name, self._sides.both_with(*pair, closed, head=head)) for head in (False, True)
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

    def _compare_default(self, name: str, coloured: dict[str, Kind]) -> None:
        """A default that changed is reported once, for the first quantity that it moves."""
        old, new = self._sides.base.default(name), self._sides.head.default(name)
        if old is not None and new is not None and self._run.proven(old, new):
            return
        affected: dict[str, Judgement] = {}
        for reader in self._readers(name):
            judgement = self._moved_by_default(name, reader)
            if judgement.kind >= Kind.ROUNDING:
                affected[reader] = judgement
                coloured[reader] = max(coloured[reader], judgement.kind)
        if affected:
            self._report_default(name, old, new, affected)

    def _moved_by_default(self, name: str, reader: str) -> Judgement:
        """What leaving `name` unset does to `reader`, all else being as in head."""
        term = self._sides.head.term(reader)
        assert term is not None
        term = self._sides.head.expand(term)
        before = self._sides.both_with(term, term, (name,), head=False)[0]
        after = self._sides.both_with(term, term, (name,), head=True)[0]
        return self._run.plain(before, after, reader, self._sides.scenario or "")

    def _report_default(
        self, name: str, old: Term | None, new: Term | None, affected: Mapping[str, Judgement]
    ) -> None:
        first = next(iter(affected))
        found = affected[first]
        action = "added" if old is None else "removed" if new is None else "changed"
        before, after = self._run.formulas(first)
        witness = found.witness
        if witness is not None:
            witness = type(witness)(witness.inputs, (name,), witness.before, witness.after)
        self._run.findings.append(
            Finding(
                first,
                found.kind,
                Part("default", action, old, new),
                self._scenarios,
                before,
                after,
                tuple(affected)[1:],
                witness,
                found.bound,
                "",
                name,
            )
        )


def _shown(parts: tuple[Part, ...], whole: tuple[Term, Term]) -> tuple[Term, Term]:
    first = parts[0]
    if len(parts) > 1 or first.before is None or first.after is None:
        return whole
    return first.before, first.after


def _path(extraction: Extraction) -> list[tuple[str, ...]]:
    return [(hop.kind, hop.caller, hop.callee, hop.source, hop.target, hop.path) for hop in extraction.hops]
