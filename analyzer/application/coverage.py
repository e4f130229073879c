"""The use case of `timeline --coverage`: how much of each release the analysis could follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from analyzer.domain.coverage import CoverageReport, OpaqueCall, ReleaseCoverage
from analyzer.domain.errors import AnalyzerError
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot

_METHOD: Final = "call"


def measure_coverage(releases: Iterable[str], load: Callable[[str], Snapshot], rules: RuleSet) -> CoverageReport:
    """The coverage of each of `releases`, oldest first; one that cannot be loaded stays in the report."""
    kept = frozenset(rules.anchors.values.get("opaque_functions", ()))
    return CoverageReport(tuple(_of_release(release, load, kept) for release in releases))


def _of_release(release: str, load: Callable[[str], Snapshot], kept: Collection[str]) -> ReleaseCoverage:
    try:
        found = load(release)
    except AnalyzerError as error:
        return ReleaseCoverage(release, None, lost=str(error))
    extraction = found.extraction
    calls = tuple(OpaqueCall(name, _reason(name, kept)) for name in extraction.coverage.opaque_calls)
    return ReleaseCoverage(release, found.revision, extraction.coverage, extraction.gaps, calls)


def _reason(name: str, kept: Collection[str]) -> str:
    """Why a function is not looked into."""
    if name.removesuffix("()") in kept:
        return "what it returns is read from files or devices when the server starts"
    if name == _METHOD or name.startswith("."):
        return "a method of an object that comes from outside the source"
    return "a function of another library" if "." in name else "a function of Python over a value that is not known"
