"""Inputs whose default changed: what leaving them unset does to the quantities that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from analyzer.compare.explain import Part
from analyzer.compare.findings import Finding
from analyzer.compare.ladder import Judgement
from analyzer.compare.pairing import Sides
from analyzer.compare.run import Run
from analyzer.domain.report import Kind, Witness
from analyzer.domain.terms import Term

InWords = Callable[[str, Witness | None], str]


def compare_default(  # noqa: PLR0913 - what is compared, and how it is reported
    run: Run,
    sides: Sides,
    name: str,
    readers: Iterable[str],
    *,
    scenarios: tuple[str, ...],
    guard: InWords | None = None,
) -> dict[str, Kind]:
    """Report a changed default once, for the first quantity that it moves; the kinds of all it moves."""
    old, new = sides.base.default(name), sides.head.default(name)
    if old is not None and new is not None and run.proven(old, new):
        return {}
    affected: dict[str, Judgement] = {}
    for reader in readers:
        judgement = _moved_by(run, sides, name, reader)
        if judgement.kind >= Kind.ROUNDING:
            affected[reader] = judgement
    if affected:
        first = max(affected, key=lambda reader: affected[reader].kind)
        condition = guard(first, affected[first].witness) if guard is not None else ""
        ordered = {first: affected[first], **affected}
        _report(run, name, _part(old, new), ordered, place=(scenarios, condition))
    return {reader: judgement.kind for reader, judgement in affected.items()}


def _moved_by(run: Run, sides: Sides, name: str, reader: str) -> Judgement:
    """What leaving `name` unset does to `reader`, all else being as in head."""
    term = sides.head.term(reader)
    assert term is not None
    term = sides.head.expand(term)
    before = sides.both_with(term, term, (name,), head=False)[0]
    after = sides.both_with(term, term, (name,), head=True)[0]
    return run.plain(before, after, reader, sides.scenario or "")


def _part(old: Term | None, new: Term | None) -> Part:
    action = "added" if old is None else "removed" if new is None else "changed"
    return Part("default", action, old, new)


def _report(
    run: Run, name: str, part: Part, affected: Mapping[str, Judgement], *, place: tuple[tuple[str, ...], str]
) -> None:
    first, *others = affected
    found, (scenarios, guard) = affected[first], place
    before, after = run.formulas(first)
    run.findings.append(
        Finding(
            quantity=first,
            kind=found.kind,
            part=part,
            scenarios=scenarios,
            before=before,
            after=after,
            affects=tuple(others),
            witness=None if found.witness is None else replace(found.witness, unset=(name,)),
            bound=found.bound,
            guard=guard,
            detail=name,
        )
    )
