"""Extracting the formulas of one ref: find the root, interpret to a fixpoint, read off the quantities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzer.application.discovery import Exploration
from analyzer.domain.extraction import Call, Extraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.semantics import deep_recursion
from analyzer.domain.steps import Step
from analyzer.flow.trace import read_path
from analyzer.ports import SourceTree
from analyzer.symbolic.reading import Reading


def extract(tree: SourceTree, rules: RuleSet) -> Extraction:
    """The formulas of `tree`. Raises ExtractionError when no formula can be found."""
    exploration = Exploration(tree, rules)
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
        unit_findings=reading.unit_findings(),
        manifest=exploration.manifest,
        calls=_explored_calls(steps, tree),
    )


def _explored_calls(steps: Iterable[Step], tree: SourceTree) -> tuple[Call, ...]:
    """The calls that were gone into, each once, in the order of the run; the root has no caller."""
    found = dict.fromkeys((s.caller, s.callee, s.span) for s in steps if s.kind == "call" and s.span.line)
    return tuple(
        Call(caller, callee, replace(span, path=tree.display_path(span.path))) for caller, callee, span in found
    )
