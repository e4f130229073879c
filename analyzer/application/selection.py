"""Which scenarios and quantities a report is about; unknown names are errors with a suggestion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from analyzer.application.scope import Scope
from analyzer.domain.characters import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.rules import QUANTITY_ROOTS, RUNNER, SETTINGS, RuleSet, ScenarioRule
from analyzer.domain.suggest import nearest

# A longer list of names helps nobody on one line.
_LISTED: Final = 20


def scenario_title(name: str, rules: RuleSet) -> str:
    """The scenario `name` in words: its family and its modifiers."""
    return ", ".join(part.title for part in _parts(name, rules))


def audience(name: str, rules: RuleSet) -> str:
    """Whom the scenario `name` is about."""
    return ", on ".join(part.who for part in _parts(name, rules) if part.who)


def _parts(name: str, rules: RuleSet) -> list[ScenarioRule]:
    family, *modifiers = name.split("+")
    parts = [family, *(f"+{modifier}" for modifier in modifiers)]
    return [rules.scenarios[part] for part in parts if part in rules.scenarios]


def select_scenarios(names: Iterable[str], rules: RuleSet) -> tuple[str, ...]:
    """The scenarios asked for, or every family when none is. Raises UsageError."""
    chosen = tuple(dict.fromkeys(names))
    if chosen:
        from analyzer.domain.scenario import scenario_values  # noqa: PLC0415 - a report on everything skips it

        for name in chosen:
            scenario_values(rules, name)
    return chosen or tuple(name for name in rules.scenarios if not name.startswith("+"))


def select_quantities(names: Iterable[str], available: Sequence[str], extra: Collection[str] = ()) -> tuple[str, ...]:
    """The quantities asked for, or all that are `available`; `extra` ones exist on request. Raises UsageError."""
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        require(name, [*available, *extra], "quantity")
    return chosen or tuple(available)


def select_roots(names: Iterable[str], rules: RuleSet) -> tuple[str, ...]:
    """The roots that lead to the quantities `names`, every one when none is asked for; sub-quantities hang on all."""
    wanted = {rules.quantities[name].root if name in rules.quantities else None for name in names}
    every = not wanted or None in wanted
    return QUANTITY_ROOTS if every else tuple(root for root in QUANTITY_ROOTS if root in wanted)


def select_roots_to_compare(names: Iterable[str], rules: RuleSet) -> tuple[str, ...]:
    """The roots that a comparison of the quantities `names` needs: how the options that they read are set as well."""
    roots = select_roots(names, rules)
    return (*roots, SETTINGS) if RUNNER in roots else roots


def check_scope(scope: Scope, rules: RuleSet) -> None:
    """Refuse names that no rule declares, before anything is extracted. Raises UsageError."""
    select_scenarios(scope.scenarios, rules)
    for name in scope.quantities:
        require(name, rules.quantities, "quantity")


def require(name: str, known: Collection[str], what: str) -> str:
    """`name` when it is one of `known`. Raises UsageError that names the nearest."""
    if name in known:
        return name
    near = nearest(name, known)
    listing = f"known are {', '.join(sorted(known))}" if len(known) <= _LISTED else ""
    hint = f"did you mean {' or '.join(near)}?" if near else listing
    raise UsageError(f"unknown {what} '{printable(name)}'", hint=hint)
