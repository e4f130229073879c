"""Turning differences into findings: rule, sentence, sides, fingerprint, order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from analyzer.compare.explain import Part
from analyzer.domain.extraction import Formula
from analyzer.domain.notation import to_latex, to_text
from analyzer.domain.report import Change, Kind, Side, Witness
from analyzer.domain.rules import FALLBACK_RULE, LEVELS, ChangeRule, RuleSet
from analyzer.domain.terms import Apply, Constant, Term

_SHORT: Final = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference of one quantity in some scenarios, before a rule is chosen for it."""

    quantity: str
    kind: Kind
    part: Part
    scenarios: tuple[str, ...]
    before: Formula | None
    after: Formula | None
    affects: tuple[str, ...] = ()
    witness: Witness | None = None
    bound: str | None = None
    guard: str = ""
    detail: str = ""


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings with those that say the same merged into one."""
    grouped: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = _identity(finding)
        known = grouped.get(key)
        grouped[key] = finding if known is None else _merged(known, finding)
    return tuple(grouped.values())


def to_changes(findings: Iterable[Finding], rules: RuleSet) -> tuple[Change, ...]:
    """One change per distinct finding, in a total order."""
    order = {name: position for position, name in enumerate(rules.quantities)}
    changes = [_change(finding, rules) for finding in findings]
    changes.sort(key=lambda change: (*_weight(change), order.get(change.quantity, len(order)), *_text(change)))
    return tuple(changes)


def _weight(change: Change) -> tuple[bool, int, int, int, float]:
    """Who is affected and how much, the most first: what shows in no scenario comes last."""
    outside = not change.scenarios and change.kind is not Kind.LOST
    relative = change.witness.relative if change.witness is not None else None
    return (outside, -change.kind, -len(change.scenarios), -LEVELS.index(change.level), -abs(relative or 0))


def _text(change: Change) -> tuple[str, ...]:
    """What puts changes of the same weight in one order."""
    return (change.quantity, change.rule, change.summary, change.guard, change.fingerprint)


def _identity(finding: Finding) -> tuple[object, ...]:
    part = finding.part
    if Kind.MOVED <= finding.kind <= Kind.UNIT:
        # Which text was rewritten differs from scenario to scenario; that it was is one fact.
        return (finding.quantity, finding.kind)
    # Two options can be set to the same values.
    which = finding.detail if part.area == "setting" else ""
    sides = (part.before, part.after)
    return (finding.quantity, finding.kind, part.area, part.action, which, *sides, bool(finding.scenarios))


def _merged(first: Finding, second: Finding) -> Finding:
    scenarios = tuple(dict.fromkeys((*first.scenarios, *second.scenarios)))
    affects = tuple(dict.fromkeys((*first.affects, *second.affects)))
    return replace(first, scenarios=scenarios, affects=affects, witness=first.witness or second.witness)


def _change(finding: Finding, rules: RuleSet) -> Change:
    rule = choose_rule(rules.changes, finding.part.area, finding.part.action, finding.kind, finding.quantity)
    before, after = (
        _side(finding.part.before, finding.before, finding.kind),
        _side(finding.part.after, finding.after, finding.kind),
    )
    order = {name: position for position, name in enumerate(rules.quantities)}
    return Change(
        rule=rule.id,
        kind=finding.kind,
        level=rule.level,
        action=finding.part.action,
        quantity=finding.quantity,
        affects=tuple(sorted(finding.affects, key=lambda name: (order.get(name, len(order)), name))),
        scenarios=finding.scenarios,
        guard=finding.guard,
        summary=_summary(rule, finding, before, after),
        before=before,
        after=after,
        witness=finding.witness,
        bound=finding.bound,
        commits=(),
        fingerprint=fingerprint(rule.id, _subject(finding), before, after),
    )


def _subject(finding: Finding) -> str:
    """What a finding is about: a quantity, and the option of it that is set in another way."""
    return f"{finding.quantity}:{finding.detail}" if finding.part.area == "setting" else finding.quantity


def choose_rule(rules: Sequence[ChangeRule], area: str, action: str, kind: Kind, quantity: str) -> ChangeRule:
    """The most specific rule for a difference."""
    fitting = [
        rule
        for rule in rules
        if rule.area == area
        and rule.action in (action, "any")
        and (not rule.kinds or kind.label in rule.kinds)
        and (not rule.quantities or quantity in rule.quantities)
    ]
    fitting.sort(key=lambda rule: (not rule.quantities, rule.action == "any", not rule.kinds, rule.id))
    return fitting[0] if fitting else FALLBACK_RULE


def _side(term: Term | None, formula: Formula | None, kind: Kind) -> Side | None:
    if term is None:
        return None
    if formula is None:
        return Side(to_text(term), to_latex(term), "")
    if kind is Kind.UNIT:
        term = _as_in_source(term, formula)
    unit = formula.source_unit if kind is Kind.UNIT else formula.unit
    return Side(to_text(term), to_latex(term), unit, formula.locations)


def _as_in_source(term: Term, formula: Formula) -> Term:
    """What the source computes, before our own conversion to the unit of results."""
    match term:
        case Apply("*" | "/", (value, Constant())) if formula.source_unit != formula.unit:
            return value
        case _:
            return term


def _summary(rule: ChangeRule, finding: Finding, before: Side | None, after: Side | None) -> str:
    old, new = _shortened(before.text if before else "nothing"), _shortened(after.text if after else "nothing")
    witness = finding.witness
    if finding.part.area == "default" and witness is not None and witness.inputs and _is_cut(before, after):
        # The beginnings of two long formulas do not tell what people get.
        where = ", ".join(f"{name} = {value}" for name, value in witness.inputs.items())
        old, new = f"{witness.before}", f"{witness.after}, for example where {where}"
    return rule.message.format(
        quantity=finding.quantity,
        detail=_shortened(finding.detail),
        before=old,
        after=new,
        old_unit=before.unit if before else "nothing",
        new_unit=after.unit if after else "nothing",
        scenarios=", ".join(finding.scenarios) or "no scenario",
    )


def _is_cut(*sides: Side | None) -> bool:
    return any(side is not None and len(side.text) > _SHORT for side in sides)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 3]}..."


def fingerprint(rule: str, quantity: str, before: Side | None, after: Side | None) -> str:
    """What stays the same when lines move and sentences are reworded."""
    parts = (rule, quantity, before.text if before else "", after.text if after else "")
    return sha256("\0".join(parts).encode()).hexdigest()[:16]
