"""Cases to evaluate, and what came out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.domain.source import Revision
from analyzer.domain.terms import Scalar

Value = Scalar | tuple[Scalar, ...]
DEFAULT_SCENARIO = "mha"


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs for one evaluation; `problem` says why a case from a file cannot be evaluated.

    `facts` are values of inputs that no rule declares, under the names that the release has for them.
    """

    inputs: Mapping[str, Value] = field(default_factory=dict)
    scenario: str = DEFAULT_SCENARIO
    problem: str | None = None
    facts: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of the formula, and why those that nobody gave are what they are.

    `facts` are values of inputs that no rule declares, as in `Case`.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    facts: Mapping[str, Value] = field(default_factory=dict)
    assumed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The value of one quantity in its unit, or why there is none.

    `missing` are the inputs it lacks, `error` is the exception that SGLang raises before it exists. `absent` tells
    that the release has no such quantity for the model of the case. `error_missing` are the inputs without which
    it is not known whether SGLang gets to the value at all or raises before it.
    """

    value: Value = None
    unit: str = ""
    missing: tuple[str, ...] = ()
    absent: bool = False
    error: str | None = None
    error_missing: tuple[str, ...] = ()

    @property
    def number(self) -> int | float | None:
        """The value when it is a number."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return self.value if is_number else None  # type: ignore[return-value]  # narrowed through a name


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What one case gives; `error` is the first exception SGLang would raise, `problem` a fault of the case.

    `defaults` holds what SGLang picks for inputs that the case leaves to it and the results hang on. `left_open` are
    options that SGLang chooses by the device in a way that is not followed, with the choices that give other results.
    """

    case: Case
    quantities: Mapping[str, Result] = field(default_factory=dict)
    error: str | None = None
    ignored: tuple[str, ...] = ()
    problem: str | None = None
    defaults: Mapping[str, Value] = field(default_factory=dict)
    left_open: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    def error_of(self, quantity: str) -> str | None:
        """The exception that SGLang raises before it has `quantity`."""
        found = self.quantities.get(quantity)
        return found.error if found is not None else None


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The results of all cases on one ref, in the order of the cases.

    `assumed` says why inputs that no case gives are what they are.
    """

    revision: Revision
    results: tuple[CaseResult, ...]
    assumed: Mapping[str, str] = field(default_factory=dict)
