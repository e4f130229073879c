"""Extracting the formulas of one ref: find the root, interpret to a fixpoint, read off the quantities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzer.application.discovery import Exploration
from analyzer.application.history.recording import Recorder
from analyzer.application.option_discovery import OptionExploration
from analyzer.domain.errors import ExtractionError
from analyzer.domain.extraction import Call, Extraction
from analyzer.domain.history import Needs
from analyzer.domain.rules import OPTIONS, RuleSet
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.steps import Step
from analyzer.flow.trace import read_path
from analyzer.ports import SourceTree
from analyzer.symbolic.option_reading import OptionReading
from analyzer.symbolic.reading import Reading


def extract(tree: SourceTree, rules: RuleSet, root: str) -> Extraction:
    """The formulas of `tree` that one root leads to. Raises ExtractionError when it is not found."""
    return _extract(tree, rules, root, None)


def extract_with_needs(tree: SourceTree, rules: RuleSet, root: str) -> tuple[Extraction | ExtractionError, Needs]:
    """The formulas of `tree` that one root leads to, or why there are none, and what of its files that depends on."""
    recorder = Recorder()
    try:
        found: Extraction | ExtractionError = _extract(tree, rules, root, recorder)
    except ExtractionError as error:
        found = error
    return found, recorder.needs(by_name=root == OPTIONS)


def _extract(tree: SourceTree, rules: RuleSet, root: str, recorder: Recorder | None) -> Extraction:
    exploration = Exploration(tree, rules, recorder)
    return (_extract_options if root == OPTIONS else _extract_sizing)(tree, rules, exploration)


def _extract_sizing(tree: SourceTree, rules: RuleSet, exploration: Exploration) -> Extraction:
    """What the runner makes of the memory it measures."""
    root = exploration.root()
    run, sizing = exploration.interpret(root)
    with deep_recursion():
        reading = Reading(run, root.sink, sizing, tree.display_path)
        reading.read()
    steps = reading.steps()
    return Extraction(
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


def _explored_calls(steps: Iterable[Step], tree: SourceTree) -> tuple[Call, ...]:
    """The calls that were gone into, each once, in the order of the run; the root has no caller."""
    found = dict.fromkeys((s.caller, s.callee, s.span) for s in steps if s.kind == "call" and s.span.line)
    return tuple(
        Call(caller, callee, replace(span, path=tree.display_path(span.path))) for caller, callee, span in found
    )


def _extract_options(tree: SourceTree, rules: RuleSet, exploration: Exploration) -> Extraction:
    """What the options become on their own, before a runner is made."""
    options = OptionExploration(tree, rules, exploration)
    root = options.root()
    run, beside = options.interpret(root)
    with deep_recursion():
        reading = OptionReading(run, root.sink, beside, tree.display_path)
        reading.read()
    return Extraction(
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
