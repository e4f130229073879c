"""The use case of `timeline --coverage`: how much of each release the analysis could follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from sys import stdlib_module_names

from analyzer.domain.coverage import CoverageReport, OpaqueCall, ReleaseCoverage
from analyzer.domain.errors import AnalyzerError
from analyzer.domain.rules import RuleSet
from analyzer.domain.snapshot import Snapshot


def measure_coverage(releases: Iterable[str], load: Callable[[str], Snapshot], rules: RuleSet) -> CoverageReport:
    """The coverage of each of `releases`, oldest first; one that cannot be loaded stays in the report."""
    return CoverageReport(tuple(_of_release(release, load, rules) for release in releases))


def _of_release(release: str, load: Callable[[str], Snapshot], rules: RuleSet) -> ReleaseCoverage:
    try:
        found = load(release)
    except AnalyzerError as error:
        return ReleaseCoverage(release, None, lost=str(error))
    extraction = found.extraction
    inputs = {name.split(".", 1)[0] for name in (*extraction.inputs, *rules.symbols)}
    calls = tuple(OpaqueCall(name, _reason(name, rules, inputs)) for name in extraction.coverage.opaque_calls)
    return ReleaseCoverage(release, found.revision, extraction.coverage, extraction.every_gap, calls)


def _reason(name: str, rules: RuleSet, inputs: Collection[str]) -> str:
    """Why a function is not looked into; `inputs` are the names of what a formula is told."""
    owner, _, member = name.partition(".")
    if name.removesuffix("()") in rules.anchors.values.get("opaque_functions", ()):
        return "what it returns is read from files or devices when the server starts"
    if member and (not owner or owner in inputs or owner[0].isupper()):
        return "a method of an object whose class only the running server knows"
    if owner in stdlib_module_names:
        return "a function of Python's library, of what is given when the server starts"
    return "a function of another library" if member else "a function of Python over a value that is not known"
