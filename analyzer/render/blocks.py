"""Parts that several text reports share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from analyzer.domain.evaluation import Value
from analyzer.domain.extraction import Coverage, Gap, Hop
from analyzer.domain.judgement import CheckReport
from analyzer.domain.report import DiffReport, Kind
from analyzer.domain.rules import LEVELS
from analyzer.domain.source import Revision, Span
from analyzer.render.document import Document
from analyzer.render.page import Page

VERDICTS: Final[Mapping[Kind, str]] = {
    Kind.IDENTICAL: "The formulas are identical.",
    Kind.MOVED: "The formulas are the same; they only moved or were renamed.",
    Kind.REFACTOR: "The formulas are written differently and proven equal.",
    Kind.UNIT: "A value carries another unit on its way; the results are the same.",
    Kind.ROUNDING: "The results differ by rounding only.",
    Kind.UNDECIDED: "The formulas differ, and it could not be decided whether the results do.",
    Kind.SEMANTIC: "The formulas differ: the same inputs can give other results.",
    Kind.LOST: "The formula can no longer be found in the newer version.",
}
_MAX_LOCATIONS: Final = 12
_SHORT_COMMIT: Final = 12
# Anything else is the name of an archive, a folder or the working tree.
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def number(value: Value) -> str:
    """A value as people write it: thousands separated, floats to ten digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


def share(relative: float) -> str:
    """A relative change in percent, to three digits where it is small."""
    return f"{100 * relative:+,.0f} %" if abs(relative) >= 1 else f"{100 * relative:+.3g} %"


def plural(count: int, noun: str) -> str:
    """``1 gap``, ``2 gaps``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def is_commit(revision: Revision) -> bool:
    """Whether a revision is a commit of a repository."""
    return _COMMIT.fullmatch(revision.commit) is not None


def revision_title(revision: Revision) -> str:
    """A ref as the reader gave it, and what it stands for."""
    commit = revision.commit[:_SHORT_COMMIT] if is_commit(revision) else revision.commit
    known = dict.fromkeys(name for name in (revision.resolved, commit) if name not in ("", revision.spec))
    return f"{revision.spec} ({', '.join(known)})" if known else revision.spec


def places(spans: Iterable[Span], limit: int = _MAX_LOCATIONS) -> str:
    """Where something is, file by file, a few places at most."""
    found = list(dict.fromkeys((span.path, span.line) for span in spans))
    lines: dict[str, list[str]] = {}
    for path, line in found[:limit]:
        lines.setdefault(path, []).append(str(line))
    more = f" and {len(found) - limit} more" if len(found) > limit else ""
    return "; ".join(f"{path}:{', '.join(numbers)}" for path, numbers in lines.items()) + more


def verdict_sentence(report: DiffReport) -> str:
    """What the verdict means, and that it is about what is left when something was accepted."""
    if not report.accepted:
        return VERDICTS[report.verdict]
    accepted = f"{plural(len(report.accepted), 'change')} accepted"
    if report.verdict is Kind.IDENTICAL and report.breaks_a_limit:
        return f"Nothing else changed in the formulas; {accepted}, but not what they do to a server."
    if report.verdict is Kind.IDENTICAL:
        return f"Nothing else changed; {accepted}."
    return f"{VERDICTS[report.verdict].rstrip('.')}; {accepted}."


def findings_sentence(report: CheckReport) -> str:
    """How many findings there are, loudest first."""
    accepted = len(report.findings) - len(report.open_findings)
    more = f"; {plural(accepted, 'finding')} accepted" if accepted else ""
    levels = [finding.level for finding in report.open_findings]
    counts = [plural(levels.count(level), level) for level in reversed(LEVELS) if level in levels]
    return f"{', '.join(counts) or 'No finding'}{more}."


def write_path(document: Document, hops: Sequence[Hop]) -> None:
    """The value path, a hop a paragraph."""
    for position, hop in enumerate(hops, 1):
        document.say(f"{position:>3}. {hop.kind:<11} {_hop_route(hop)}", hanging=5)
        document.say(f"{hop.path}:{hop.line}", "place", indent=2, hanging=2)


def _hop_route(hop: Hop) -> str:
    """What flows where: ``value -> name, caller -> callee`` with what a hop has of it."""
    value = " -> ".join(filter(None, (hop.source, hop.target)))
    calls = " -> ".join(dict.fromkeys(filter(None, (hop.caller, hop.callee))))
    return f"{value}  [{calls}]" if value and calls else value or calls


def coverage_line(coverage: Coverage) -> str:
    """How much was read and decided, in one line."""
    guards = coverage.guards_decided + coverage.guards_undecided
    read = f"{plural(coverage.modules, 'module')}, {plural(coverage.functions, 'function')} read"
    calls = plural(len(coverage.opaque_calls), "call")
    return f"{read}; {coverage.guards_decided} of {plural(guards, 'guard')} decided; {calls} not looked into"


def write_gaps(document: Document, gaps: Sequence[Gap]) -> None:
    """What the analysis could not follow; nothing when it followed everything."""
    if not gaps:
        return
    document.heading(f"Not followed ({plural(len(gaps), 'gap')})")
    for gap in gaps:
        affects = f"; affects {', '.join(gap.affects)}" if gap.affects else ""
        document.say(f"{gap.construct}: {gap.reason}{affects}", indent=1, hanging=2)
        document.say(f"{gap.path}:{gap.line}", "place", indent=2)


def write_missing(document: Document, names: Iterable[str], page: Page) -> None:
    """What could not be done without, and what each of it is; nothing when nothing is missing."""
    known = {name: page.symbol_titles.get(name) or page.quantity_titles.get(name, "") for name in names}
    if known:
        document.heading("Missing, to be given with --set NAME=VALUE")
        document.table(list(known.items()))


def write_notes(document: Document, notes: Sequence[str]) -> None:
    """Remarks on how the result came about."""
    if notes:
        document.heading("Notes")
    for note in notes:
        document.say(note, indent=1, hanging=2)
