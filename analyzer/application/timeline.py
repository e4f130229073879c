"""The use case of `timeline`: one quantity of one server over releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from analyzer.application.explain.formula import FormulaOf
from analyzer.application.model import Model, read_model
from analyzer.domain.errors import AnalyzerError
from analyzer.domain.evaluation import DEFAULT_SCENARIO, CaseResult, Value
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import GIVEN_FRACTION
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.terms import Scalar
from analyzer.domain.timeline import Moment, TimelineReport


@dataclass(frozen=True, slots=True)
class Subject:
    """The quantity and the server that are followed.

    `config` is the configuration of its model, empty when none is given; `scenario` None leaves the family to it.
    """

    quantity: str
    scenario: str | None
    config: Mapping[str, Any]
    arguments: Mapping[str, Scalar]
    given: Mapping[str, Value]


def follow(
    subject: Subject, releases: Iterable[str], load: Callable[[str], Snapshot], rules: RuleSet
) -> TimelineReport:
    """What each of `releases`, oldest first, computes; one that cannot be loaded stays in the report.

    Raises UsageError for inputs that no configuration could have.
    """
    moments: list[Moment] = []
    ignored: frozenset[str] | None = None
    model: Model | None = None
    for release in releases:
        try:
            found = load(release)
        except AnalyzerError as error:
            moments.append(Moment(release, None, subject.scenario or DEFAULT_SCENARIO, lost=str(error)))
            continue
        model = read_model(subject.config, subject.arguments, found.extraction, rules)
        result = _result(subject, model, found, rules)
        moments.append(_moment(release, found, result, subject.quantity))
        unread = frozenset(result.ignored) & subject.given.keys()
        ignored = unread if ignored is None else ignored & unread
    notes = [f"no release here reads {', '.join(sorted(ignored))}"] if ignored else []
    return _report(subject, _compared(moments), model, rules, [*_other_families(moments), *notes])


def _other_families(moments: Sequence[Moment]) -> Iterator[str]:
    """Which releases size the model as another family than the last one does: they may not know it at all."""
    sized = [moment for moment in moments if moment.result is not None]
    for family, group in groupby(sized, key=lambda moment: moment.scenario):
        named = [moment.release for moment in group]
        if family != sized[-1].scenario:
            span = named[0] if len(named) == 1 else f"{named[0]} to {named[-1]}"
            yield (
                f"{span}: sized as {family}, since no rule that could be followed there tells of "
                f"{sized[-1].scenario}; whether the model is supported there is not known"
            )


def _result(subject: Subject, model: Model, found: Snapshot, rules: RuleSet) -> CaseResult:
    formula = FormulaOf(found.revision, found.extraction, rules, subject.scenario or model.scenario)
    inputs = replace(model.inputs, values={**model.inputs.values, **subject.given})
    return formula.result(inputs, [subject.quantity])


def _moment(release: str, found: Snapshot, result: CaseResult, quantity: str) -> Moment:
    return Moment(
        release=release,
        revision=found.revision,
        scenario=result.case.scenario,
        result=result.quantities[quantity],
        fraction=result.defaults.get(GIVEN_FRACTION),
    )


def _compared(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """The moments, each with the last number before it and whether it differs from its neighbour."""
    done: list[Moment] = []
    number: int | float | None = None
    for moment in moments:
        changed = bool(done) and done[-1].result != moment.result
        done.append(replace(moment, before=number, changed=changed))
        number = moment.number if moment.number is not None else number
    return tuple(done)


def _report(
    subject: Subject, moments: tuple[Moment, ...], model: Model | None, rules: RuleSet, notes: Iterable[str]
) -> TimelineReport:
    units = [moment.result.unit for moment in moments if moment.result is not None and moment.result.unit]
    scenario = moments[-1].scenario if moments else subject.scenario or DEFAULT_SCENARIO
    return TimelineReport(
        quantity=subject.quantity,
        unit=units[-1] if units else rules.quantities[subject.quantity].unit,
        scenario=scenario,
        inputs=dict(subject.given),
        moments=moments,
        assumed={} if model is None else model.assumptions((scenario,)),
        notes=tuple(notes),
    )
