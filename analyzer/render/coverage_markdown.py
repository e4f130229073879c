"""How much of each release was followed, as a comment."""

from __future__ import annotations

from analyzer.domain.coverage import CoverageReport
from analyzer.render.coverage_text import HEADER, affected, headline, open_ends, row, spans, verdict
from analyzer.render.markup import prose, table


def write_coverage(report: CoverageReport) -> list[str]:
    """The lines of the comment."""
    rows = [tuple(prose(cell) for cell in row(release)) for release in report.releases]
    lines = [f"## {prose(headline(report))}", "", prose(verdict(report)), "", *table(HEADER, rows)]
    for title, ends in open_ends(report):
        lines += ["", f"### {title}", ""]
        for end in ends:
            where = ", ".join(filter(None, (affected(end), spans(end, report))))
            lines.append(f"- {prose(f'{end.what}: {end.reason}')}{f' ({prose(where)})' if where else ''}")
    lost = [release for release in report.releases if release.lost is not None]
    return [*lines, "", *(f"- {prose(release.release)}: {prose(release.lost or '')}" for release in lost)]
