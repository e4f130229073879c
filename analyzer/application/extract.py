"""Extracting the formulas of one ref: find the root, interpret to a fixpoint, read off the quantities."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from analyzer.application.discovery import Exploration, UnsettledError
from analyzer.application.history.recording import Index, Recorder
from analyzer.application.option_discovery import OptionExploration
from analyzer.domain.errors import ExtractionError
from analyzer.domain.extraction import Call, Coverage, Extraction
from analyzer.domain.history import Needs
from analyzer.domain.relevance import Relevance
from analyzer.domain.rules import OPTIONS, RUNNER, SETTINGS, RuleSet
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.steps import Step
from analyzer.flow.trace import read_path
from analyzer.ports import SourceTree
from analyzer.symbolic.option_reading import OptionReading
from analyzer.symbolic.reading import Reading
from analyzer.symbolic.setting_reading import SettingReading

# How much of the code the formulas cover is not for settings to say.
_NOTHING: Final = Coverage(0, 0, 0, 0, ())


def extract(tree: SourceTree, rules: RuleSet, root: str, likely: Relevance | None = None) -> Extraction:
    """The formulas of `tree` that one root leads to. Raises ExtractionError when it is not found.

    What is `likely` to matter, as in another release, makes it faster and changes nothing.
    """
    return explore(tree, rules, root, likely=likely).extraction


@dataclass(frozen=True, slots=True)
class Explored:
    """The formulas of a tree, and what was found to matter for them: a tree much the same begins with it."""

    extraction: Extraction
    settled: tuple[Relevance, ...]


def extract_with_needs(
    tree: SourceTree, rules: RuleSet, root: str, index: Index, before: tuple[Relevance, ...] = ()
) -> tuple[Explored | ExtractionError, Needs]:
    """The formulas of `tree` that one root leads to, or why there are none, and what of its files that depends on.

    `index` reads a file, and `before` is what mattered in a tree that is much the same.
    """
    if before:
        recorder = Recorder(index)
        # What mattered before may be what fails, and matter no more.
        with suppress(ExtractionError, UnsettledError):
            return explore(tree, rules, root, recorder, before), recorder.needs(by_name=root != RUNNER)
    recorder = Recorder(index)
    try:
        found: Explored | ExtractionError = explore(tree, rules, root, recorder)
    except ExtractionError as error:
        found = error
    return found, recorder.needs(by_name=root != RUNNER)


def explore(  # noqa: PLR0913, PLR0917 - what is explored, who listens, and what is known
    tree: SourceTree,
    rules: RuleSet,
    root: str,
    recorder: Recorder | None = None,
    before: tuple[Relevance, ...] = (),
    likely: Relevance | None = None,
) -> Explored:
    """The formulas of `tree` that one root leads to, and what matters for them. Raises ExtractionError."""
    exploration = Exploration(tree, rules, recorder)
    if root == OPTIONS:
        # Most of what matters for the options of another release does not for these: it would be followed in vain.
        return _extract_options(tree, rules, exploration, before)
    if root == SETTINGS:
        return _extract_settings(tree, rules, exploration, before, likely)
    return _extract_sizing(tree, rules, exploration, before, likely)


def _extract_sizing(
    tree: SourceTree,
    rules: RuleSet,
    exploration: Exploration,
    before: tuple[Relevance, ...],
    likely: Relevance | None,
) -> Explored:
    """What the runner makes of the memory it measures."""
    root = exploration.root()
    run, sizing, settled = exploration.interpret(root, before, likely)
    with deep_recursion():
        reading = Reading(run, root.sink, sizing, tree.display_path)
        reading.read()
    steps = reading.steps()
    extraction = Extraction(
        entry=root.definition.qualname,
        # In the order in which a snapshot stores them: a comparison must not depend on whether one was stored.
        quantities=dict(sorted(reading.quantities.items())),
        definitions=dict(sorted(reading.definitions.items())),
        inputs=dict(sorted(reading.inputs.items())),
        hops=read_path(steps, reading.values, rules.anchors, tree.display_path),
        gaps=reading.gaps(),
        coverage=reading.coverage(exploration.modules),
        unit_conversions=reading.conversions(),
        unit_findings=(*reading.unit_findings(), *reading.misnamed_units()),
        manifest=exploration.manifest,
        calls=_explored_calls(steps, tree),
    )
    return Explored(extraction, settled)


def _explored_calls(steps: Iterable[Step], tree: SourceTree) -> tuple[Call, ...]:
    """The calls that were gone into, each once, in the order of the run; the root has no caller."""
    found = dict.fromkeys((s.caller, s.callee, s.span) for s in steps if s.kind == "call" and s.span.line)
    return tuple(
        Call(caller, callee, replace(span, path=tree.display_path(span.path))) for caller, callee, span in found
    )


def _extract_options(
    tree: SourceTree, rules: RuleSet, exploration: Exploration, before: tuple[Relevance, ...]
) -> Explored:
    """What the options become on their own, before a runner is made."""
    options = OptionExploration(tree, rules, exploration)
    root = options.root()
    run, beside, settled = options.interpret(root, before)
    with deep_recursion():
        reading = OptionReading(run, root.sink, beside, tree.display_path)
        reading.read()
    extraction = Extraction(
        entry=root.definition.qualname,
        quantities=reading.quantities,
        definitions=reading.definitions,
        inputs=reading.inputs,
        hops=(),
        gaps=reading.gaps(),
        coverage=reading.coverage(exploration.modules),
        unit_conversions=reading.conversions(),
        unit_findings=(*reading.unit_findings(), *reading.misnamed_units()),
        manifest=exploration.manifest,
    )
    return Explored(extraction, settled)


def _extract_settings(
    tree: SourceTree,
    rules: RuleSet,
    exploration: Exploration,
    before: tuple[Relevance, ...],
    likely: Relevance | None,
) -> Explored:
    """What becomes of the options that the sizing reads, before a runner is made."""
    options = OptionExploration(tree, rules, exploration)
    root = options.root()
    run, followed, settled = options.follow(root, before, likely)
    with deep_recursion():
        reading = SettingReading(run, followed, tree.display_path)
        reading.read()
    extraction = Extraction(
        entry=root.definition.qualname,
        quantities={},
        definitions={},
        inputs={},
        hops=(),
        gaps=(),
        coverage=_NOTHING,
        unit_conversions=(),
        unit_findings=(),
        manifest=exploration.manifest,
        settings=dict(sorted(reading.definitions.items())),
        setting_gaps=reading.gaps(),
    )
    return Explored(extraction, settled)
