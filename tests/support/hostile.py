"""Text that someone could put into a source file or a commit subject, and a report full of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from analyzer.domain.build import apply, conditional
from analyzer.domain.extraction import Extraction, Formula, Gap, Hop, InputFacts, UnitConversion, UnitFinding
from analyzer.domain.judgement import CheckReport, Violation
from analyzer.domain.report import Accepted, CommitReference, DiffReport, Side, Witness
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision, Span
from analyzer.domain.terms import Term, opaque, raising, symbol
from tests.support.samples import judgement, report, snapshot

HOSTILE: Final = (
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "`code` ``more`` | cell | \\| x \\",
    "@everyone #1 GH-12 owner/repo#3",
    "line\n::error file=a.py::injected\r\n##[error]old style",
    "%0A::error::percent, comma: colon",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202ereversed\u202c \x00nul",
    "</summary></details><h1>out</h1>",
    "```\n# out of the fence\n```",
    "$$\\text{math}$$ $`x`$",
    "x" * 200_000,
    "](1) {0} %s",
)


def hostile_report() -> DiffReport:
    """A comparison in which every text that comes from the source is hostile."""
    text = "\n".join(HOSTILE[:-2])
    spans = tuple(Span(f"python/sglang/{part}", 0, 0) for part in HOSTILE[:-2])
    first, *others = report().changes
    change = replace(
        first,
        guard=text,
        summary=text,
        before=Side(text, "", text, spans),
        after=Side("x" * 200_000, "y" * 200_000, text, spans),
        witness=Witness({part: part for part in HOSTILE}, (text,), text, "x" * 1_000),
        commits=(CommitReference("e" * 40, "2025-01-02", text, 77),),
    )
    gap = Gap(text, 3, text, text, ("cell_size",))
    accepted = (Accepted(replace(change, fingerprint="accepted"), text),)
    return replace(report(), changes=(change, *others), gaps=(gap,), notes=(text,), accepted=accepted)


def hostile_judgement() -> CheckReport:
    """A judgement in which every text that comes from the source is hostile."""
    text = "\n".join(HOSTILE[:-2])
    found = judgement()
    violation = Violation(text, text, (text,), tuple(Span(part, 0, 0) for part in HOSTILE), {text: text})
    findings = tuple(replace(finding, summary=text, violation=violation) for finding in found.findings)
    return replace(found, findings=findings, unjudged=(text,), diff=hostile_report(), notes=(text,))


def hostile_snapshot(version: str, *, factor: int = 1) -> Snapshot:
    """A release in which every name and text that a snapshot takes from the source is hostile."""
    span = Span("python/sglang/<script>alert(1)</script>\"'.py", 1, 2)
    name = f"v{version}<script>alert(1)</script>"
    found = snapshot().extraction
    hostile = Extraction(
        entry=HOSTILE[0],
        quantities={
            **{key: replace(formula, source_name=HOSTILE[0]) for key, formula in found.quantities.items()},
            "rest_memory": Formula(_hostile_term(factor), "GiB", "GiB", raising(HOSTILE[0]), HOSTILE[8], (span,)),
        },
        definitions=found.definitions,
        inputs={
            **found.inputs,
            **{text: InputFacts(text, symbol(text), (text, HOSTILE[1]), (span,)) for text in HOSTILE[:-2]},
        },
        hops=tuple(Hop("measure", text, text, text, text, text, 3) for text in HOSTILE),
        gaps=tuple(Gap(text, 3, text, text, (text,)) for text in HOSTILE[:-2]),
        coverage=found.coverage,
        unit_conversions=tuple(UnitConversion(text, text, text, span) for text in HOSTILE[:-2]),
        unit_findings=tuple(UnitFinding(text, span) for text in HOSTILE[:-2]),
        manifest={},
    )
    return Snapshot(Revision(name, name, f"{name}\"'", version), hostile, "0.1.0", "d" * 64)


def _hostile_term(factor: int) -> Term:
    total: Term = symbol("available_gpu_memory")
    for text in HOSTILE[:-2]:
        total = apply("-", total, conditional(opaque(text), symbol(text), opaque(text, (symbol(text),))))
    return apply("*", total, symbol("pre_model_load_memory")) if factor > 1 else total
