"""What one commit changed, from the formulas before and after it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from analyzer.application.analysis import SnapshotCodec, together, without
from analyzer.application.comparisons import ReportCodec
from analyzer.application.diff import diff, lost_change, lost_rule
from analyzer.application.history.log import Step
from analyzer.application.scope import Scope
from analyzer.domain.errors import ExtractionError
from analyzer.domain.history import Point
from analyzer.domain.report import Change, DiffReport
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision
from analyzer.ports import BlobStore

_KIND: Final = "diff"


class StepComparisons:
    """Compares the formulas around commits, and remembers what it found by their content."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is compared, and how it is remembered
        self, rules: RuleSet, store: BlobStore, codec: SnapshotCodec, pack: ReportCodec, scope: Scope, build: str
    ) -> None:
        self._rules = rules
        self._store = store
        self._codec = codec
        self._pack = pack
        self._scope = scope
        self._prefix = f"{build}:{rules.digest}:{scope!r}"

    def changes(self, step: Step) -> tuple[Change, ...]:
        """What the commit of `step` changed."""
        key = self._key(step)
        stored = self._store.get(_KIND, key)
        report = None if stored is None else self._pack.decode(stored)
        if report is None:
            report = self._compare(step)
            self._store.put(_KIND, key, self._pack.encode(report))
        return (*report.changes, *([self._restored(step)] if step.restores else []))

    def _restored(self, step: Step) -> Change:
        """A formula that could not be extracted is there again."""
        lost = next(iter(step.after))
        summary = f"the formula from the {lost} can be extracted again"
        return lost_change(lost_rule(self._rules), "added", summary, ("restored", lost))

    def _key(self, step: Step) -> str:
        parts = [self._prefix]
        for side in (step.before, step.after):
            parts += [f"{root}:{hashlib.sha256(p.content).hexdigest()}:{p.error}" for root, p in side.items()]
        return "\0".join(parts)

    def _compare(self, step: Step) -> DiffReport:
        sha = step.commit.sha
        if next(iter(step.before.values())).error:
            # Nothing was there before that could be compared with.
            step = replace(step, before=step.after)
        before = self._snapshot(step.before, Revision(f"{sha}^", f"{sha[:12]}^", f"{sha}^"))
        after = Revision(sha, sha[:12], sha)
        return diff(before, after, lambda: self._snapshot(step.after, after), self._rules, self._scope)

    def _snapshot(self, points: Mapping[str, Point], revision: Revision) -> Snapshot:
        """What the points say together. Raises ExtractionError where the first of them has failed."""
        (_, first), *others = points.items()
        if first.error:
            raise ExtractionError(first.error)
        found = replace(self._codec.decode(first.content), revision=revision)
        for root, point in others:
            if point.error:
                found = without(found, root, point.error, self._rules)
            else:
                found = together(found, self._codec.decode(point.content), root)
        return found
