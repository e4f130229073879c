"""One comparison in progress: what both extractions say, what was judged, what is to be reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzer.compare.explain import Part, explain
from analyzer.compare.findings import Finding
from analyzer.compare.ladder import Judge, Judgement, Probe, exceptions_of
from analyzer.compare.pairing import NEVER_OPENED, Sides, preferred_values, quantity_symbols
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.notation import to_text
from analyzer.domain.report import Kind, Value
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import DEFAULT_FRACTION, GIVEN_FRACTION
from analyzer.domain.terms import NONE, Constant, Opaque, Term, symbols_of, walk

_MAX_PARTS: Final = 4
_MEASURED: Final = ("pre_model_load_memory", "available_gpu_memory")


class Run:
    """One comparison in progress."""

    def __init__(
        self, base: Extraction, head: Extraction, rules: RuleSet, scenarios: Sequence[str], quantities: Sequence[str]
    ) -> None:
        self.base = base
        self.head = head
        self.rules = rules
        self.scenarios = tuple(scenarios)
        self._quantities = tuple(quantities)
        self._judge = Judge({**quantity_symbols(rules), **rules.symbols})
        self.verdicts: dict[str, dict[str, Kind]] = {name: {} for name in quantities if self._known(name)}
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self._cancelled: dict[tuple[str | None, str], bool] = {}

    def _known(self, name: str) -> bool:
        return name in self.base.quantities or name in self.head.quantities

    def is_scenario_free(self, name: str) -> bool:
        """Whether `name` is the same in every scenario."""
        rule = self.rules.quantities.get(name)
        return rule is not None and rule.scenario_free

    def preferred(self, scenario: str) -> Mapping[str, Value]:
        """Where the search for a witness starts."""
        return preferred_values(self.rules, scenario)

    def judge(self, sides: Sides, name: str, pair: tuple[Term, Term]) -> Judgement:
        """Place the pair of formulas of `name` on the ladder, opening sub-quantities where that helps."""
        before, after = pair
        unit = self._unit(name)
        if before is after:
            return Judgement(Kind.IDENTICAL, before, after)
        aligned = sides.aligned(before, after)
        if self._judge.alike(before, after) or self._judge.alike(*aligned):
            return Judgement(Kind.REFACTOR, before, after)
        # With sub-quantities held apart, a difference may be one that their formulas rule out.
        opened = sides.opened(before, after)
        if aligned[0] is not aligned[1] and self._judge.alike(*opened):
            return Judgement(Kind.REFACTOR, before, after)
        preferred = self.preferred(sides.scenario or self._first_scenario())
        found = self._judge.judge(*aligned, unit, preferred)
        inlined = self._inlined(sides, *aligned)
        if found.kind <= Kind.UNIT or not (found.kind < Kind.SEMANTIC or inlined or self._redefined(sides, *aligned)):
            return found
        if found.kind is Kind.ROUNDING:
            return Judgement(Kind.REFACTOR, before, after) if self._judge.equal(*opened) else found
        whole = self._judge.judge(*opened, unit, preferred)
        if whole.kind <= Kind.REFACTOR:
            return Judgement(Kind.REFACTOR, before, after)
        settles = whole.kind is Kind.ROUNDING or inlined
        return whole if settles and whole.kind < found.kind else found

    def _first_scenario(self) -> str:
        return self.scenarios[0] if self.scenarios else ""

    def _redefined(self, sides: Sides, before: Term, after: Term) -> bool:
        """Whether the two read a sub-quantity that has another formula on the other side."""
        pairs = [sides.pair(name) for name in symbols_of(before, after) if name not in NEVER_OPENED]
        return any(pair is not None and pair[0] is not pair[1] for pair in pairs)

    def _inlined(self, sides: Sides, before: Term, after: Term) -> bool:
        """Whether one side reads what a sub-quantity of the other is made of."""
        first, second = symbols_of(before), symbols_of(after)
        below = {name for symbol in first | second for name in sides.reads(symbol)}
        return not below.isdisjoint(first ^ second)

    def formulas(self, name: str) -> tuple[Formula | None, Formula | None]:
        """The formulas of `name` as the sources have them."""
        return (
            self.base.quantities.get(name) or self.base.definitions.get(name),
            self.head.quantities.get(name) or self.head.definitions.get(name),
        )

    def _unit(self, name: str) -> str:
        rule = self.rules.quantities.get(name) or self.rules.symbols.get(name)
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
        if _writers(self.base, before) != _writers(self.head, after):
            return True
        return name in _MEASURED and _path(self.base) != _path(self.head)

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
        found = _live(explain(*whole, self._judge.close), judgement.probe)
        if judgement.kind is Kind.ROUNDING and not (len(found) == 1 and found[0].area == "rounding"):
            return (Part("rounding", "changed", *_shown(found, whole)),)
        return found

    def _note_exceptions(self, judgement: Judgement) -> None:
        """Say that what was an error is another one now; an error that one side alone has is one it never raises."""
        old, new = exceptions_of(judgement.before), exceptions_of(judgement.after)
        if not old or not new or old == new:
            return
        before = " or ".join(sorted(old - new or old))
        after = " or ".join(sorted(new - old or new))
        verb = "raises" if len(new) == 1 else "can raise"
        self.notes.append(f"what raised {before} {verb} {after} now, under the same conditions")

    def report(
        self, name: str, judgement: Judgement, scenarios: tuple[str, ...], affects: Iterable[str], guard: str = ""
    ) -> None:
        """Add a finding for every part of the difference."""
        before, after = self.formulas(name)
        readers = tuple(other for other in affects if other != name)
        # People read what the default is now, not from which terms it is made.
        only_error = before is not None and after is not None and before.term is after.term
        whole = name == DEFAULT_FRACTION and judgement.kind in (Kind.SEMANTIC, Kind.UNDECIDED) and not only_error
        default = Part("default", "changed", judgement.before, judgement.after)
        for part in (default,) if whole else self.parts(judgement):
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
                    detail=GIVEN_FRACTION if whole else to_text(part.condition) if part.condition is not None else "",
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
        # An attribute of a record stays when the record is opened.
        attributes = any(other.startswith(f"{name}.") for other in sides.reads(reader))
        return self._cancelled[key] and not attributes

    def settings(self, option: str, before: Term, after: Term) -> Judgement:
        """How two settings of an option relate."""
        preferred = preferred_values(self.rules, "")
        facts = self.head.inputs.get(option)
        if facts is not None and isinstance(facts.default, Constant) and facts.default is not NONE:
            preferred.setdefault(option, facts.default.value)
        return self._judge.judge(before, after, self._unit(option), preferred)

    def effect(self, name: str, before: Term, after: Term) -> Judgement:
        """What another setting does to `name`: where it is rounded to something else alone, however far, no more."""
        found = self.plain(before, after, name, "")
        if found.kind is Kind.SEMANTIC and self._judge.equal_but_for_rounding(before, after):
            return replace(found, kind=Kind.ROUNDING, bound="what rounding alone makes of it")
        return found

    def plain(self, before: Term, after: Term, name: str, scenario: str) -> Judgement:
        """The pair as it is, nothing opened."""
        return self._judge.judge(before, after, self._unit(name), self.preferred(scenario))

    def new_gaps(self, name: str, pair: tuple[Term, Term]) -> bool:
        """Whether the analysis of `name` stopped at places that differ between the sides and are in `pair`.

        A gap is an uninterpreted function of its construct's name; one that the scenario's formulas do
        not contain lies behind a guard that the scenario closes.
        """
        present = {node.name for node in walk(*pair) if isinstance(node, Opaque)}
        sides = [
            {(gap.construct, gap.reason) for gap in extraction.gaps if name in gap.affects and gap.construct in present}
            for extraction in (self.base, self.head)
        ]
        return sides[0] != sides[1]


def _live(parts: tuple[Part, ...], probe: Probe | None) -> tuple[Part, ...]:
    """The parts that make a difference at the witness; all of them when that cannot be told."""
    if probe is None or len(parts) == 1:
        return parts[:_MAX_PARTS]
    return (tuple(part for part in parts if _matters(part, probe)) or parts)[:_MAX_PARTS]


def _matters(part: Part, probe: Probe) -> bool:
    try:
        if not any(all(probe(guard) for step in path for guard in step if guard is not None) for path in part.paths):
            return False
        if part.before is not None and part.after is not None:
            return bool(probe(part.before) != probe(part.after))
        return part.condition is None or bool(probe(part.condition))
    except KeyError:
        # A call that the formulas do not hold in this form.
        return True


def _shown(parts: tuple[Part, ...], whole: tuple[Term, Term]) -> tuple[Term, Term]:
    first = parts[0]
    if len(parts) > 1 or first.before is None or first.after is None:
        return whole
    return first.before, first.after


def _path(extraction: Extraction) -> list[tuple[str, ...]]:
    return [(hop.kind, hop.caller, hop.callee, hop.source, hop.target, hop.path) for hop in extraction.hops]


def _writers(extraction: Extraction, formula: Formula) -> set[str]:
    """The functions on the value path that set what a formula is the value of."""
    return {hop.caller for hop in extraction.hops if hop.kind == "assign" and hop.target == formula.source_name}
