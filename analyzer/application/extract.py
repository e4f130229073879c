"""Extracting the formulas of one ref: find the root, interpret to a fixpoint, read off the quantities."""

from __future__ import annotations

from analyzer.application.discovery import Exploration
from analyzer.domain.extraction import Extraction
from analyzer.domain.rules import RuleSet
from analyzer.domain.semantics import deep_recursion
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
    return Extraction(
        entry=root.definition.qualname,
        quantities=reading.quantities,
        definitions=reading.definitions,
        inputs=reading.inputs,
        hops=read_path(reading.steps(), reading.values, rules.anchors, tree.display_path),
        gaps=reading.gaps(),
        coverage=reading.coverage(exploration.modules),
        unit_conversions=reading.conversions(),
        unit_findings=reading.unit_findings(),
        manifest=exploration.manifest,
    )
