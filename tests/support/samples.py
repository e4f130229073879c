"""A small set of rules, formulas and reports, made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from analyzer.adapters.expressions import parse_expression
from analyzer.domain.build import conditional
from analyzer.domain.extraction import (
    Call,
    Coverage,
    Extraction,
    Formula,
    Gap,
    Hop,
    InputFacts,
    UnitConversion,
    UnitFinding,
)
from analyzer.domain.judgement import CheckReport, Finding, Violation
from analyzer.domain.report import Change, CommitReference, DiffReport, Kind, LogEntry, LogReport, Side, Witness
from analyzer.domain.snapshot import Snapshot
from analyzer.domain.source import Revision, Span
from analyzer.domain.terms import NONE, Term, raising

RULES = {
    "anchors.toml": """
[anchors]
measure = ["get_available_gpu_memory"]
""",
    "units.toml": """
[units]
"torch.cuda.mem_get_info()" = "byte"
""",
    "quantities/rest_memory.toml": """
name = "rest_memory"
unit = "GiB"
title = "memory left for the KV cache"
description = "Free memory after loading, minus what the fraction keeps back."
""",
    "quantities/max_total_num_tokens.toml": """
name = "max_total_num_tokens"
unit = "token"
title = "KV-cache tokens"
description = "How many tokens the KV cache holds."
sinks = ["ModelRunner.max_total_num_tokens"]
""",
    "quantities/default_mem_fraction_static.toml": """
name = "default_mem_fraction_static"
unit = "1"
title = "default memory fraction"
description = "The fraction when the user gives none."
scenario_free = true
""",
    "symbols/memory.toml": """
[symbol.available_gpu_memory]
unit = "GiB"
description = "free memory after loading the weights"
domain = { kind = "memory", low = 0, high = 200 }
sources = ["get_available_gpu_memory()"]

[symbol.pre_model_load_memory]
unit = "GiB"
description = "free memory before loading the weights"
domain = { kind = "memory", low = 0, high = 200 }

[symbol.mem_fraction_static]
unit = "1"
description = "the fraction in effect"
domain = { kind = "real", low = 0, high = 1 }

[symbol.cell_size]
unit = "byte/token"
description = "bytes per token"
domain = { kind = "integer", low = 1, high = 1000000 }

[symbol.num_layers]
unit = "layer"
description = "layers of this rank"
domain = { kind = "integer", low = 1, high = 100 }

[symbol.tp_size]
unit = "1"
description = "tensor parallel size"
domain = { kind = "integer", low = 1, high = 64, choices = [1, 8] }
default = "1"

[symbol.kv_element_size]
unit = "byte"
description = "bytes per element of the KV cache"
domain = { kind = "integer", low = 1, high = 4 }

[symbol.gpu_mem]
unit = "MiB"
description = "what one device has"
domain = { kind = "integer", low = 1, high = 1000000, optional = true }

[symbol.context_len]
unit = "token"
description = "the longest sequence"
domain = { kind = "integer", low = 1, high = 1000000 }

[symbol.use_mla_backend]
unit = "1"
description = "whether the MLA layout is in effect"
domain = { kind = "boolean" }
default = "False"

[symbol.page_size]
unit = "token"
description = "tokens per page"
domain = { kind = "integer", low = 1, high = 64 }
default = "1"

[origin]
"is_mla()" = "use_mla_backend"
""",
    "scenarios/mha.toml": """
name = "mha"
title = "models with plain attention"
who = "Llama, Qwen"
[values]
use_mla_backend = false
""",
    "scenarios/mla.toml": """
name = "mla"
title = "models with latent attention"
who = "DeepSeek"
[values]
use_mla_backend = true
""",
    "scenarios/eagle.toml": """
name = "+eagle"
title = "with speculative decoding"
who = "EAGLE users"
[values]
tp_size = 8
""",
    "changes/coefficient-changed.toml": """
id = "coefficient-changed"
area = "factor"
action = "changed"
kinds = ["semantic"]
level = "error"
title = "A coefficient changed"
message = "{quantity}: {before} became {after}"
why = "The result scales with it."
what_to_do = "Adjust the fraction."
""",
}

SPAN = Span("python/sglang/srt/model_executor/model_runner.py", 412, 418)
REVISION = Revision("v0.4", "v0.4.0", "a" * 40, "0.4.0", "v0.4 resolved to tag v0.4.0")
HEAD = Revision("main", "origin/main", "b" * 40)


def write_rules(folder: Path, changed: dict[str, str] | None = None) -> Path:
    """Write the sample rules below `folder`; `changed` replaces or adds files."""
    for name, text in {**RULES, **(changed or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def formula(text: str, unit: str, source_unit: str = "", error: Term | None = None) -> Formula:
    """A formula written as an expression."""
    return Formula(parse_expression(text), unit, source_unit or unit, error, locations=(SPAN,))


def not_enough_memory() -> Term:
    """An error term that raises where no memory is left."""
    return conditional(parse_expression("rest_memory <= 0"), raising("RuntimeError"), NONE)


def extraction() -> Extraction:
    """The formulas of a small made-up release that computes in bytes."""
    rest = "available_gpu_memory * 2**30 - pre_model_load_memory * 2**30 * (1 - mem_fraction_static)"
    tokens = "int(rest_memory * 2**30 // cell_size) // page_size * page_size"
    return Extraction(
        entry="ModelRunner.init_torch_distributed",
        quantities={
            "rest_memory": formula(rest, "GiB", "byte"),
            "max_total_num_tokens": formula(tokens, "token", error=not_enough_memory()),
            "default_mem_fraction_static": formula("0.85 if tp_size >= 8 else 0.88", "1"),
        },
        definitions={"cell_size": formula("num_layers * (576 if use_mla_backend else 4096) * 2", "byte/token")},
        inputs={
            "tp_size": InputFacts("tp_size", parse_expression("1"), ("ServerArgs.tp_size",), (SPAN,)),
            "page_size": InputFacts("page_size", None, ("ServerArgs.page_size",)),
        },
        hops=(
            Hop(
                "measure", "ModelRunner.init_torch_distributed", "get_available_gpu_memory", "", "free", SPAN.path, 412
            ),
            Hop("argument", "ModelRunner.init", "ModelRunner.profile", "free", "total_gpu_memory", SPAN.path, 415),
        ),
        gaps=(Gap(SPAN.path, 500, "call", "unknown receiver \x1b[31m", ("max_total_num_tokens",)),),
        coverage=Coverage(6, 10, 14, 2, ("envs.FLAG",)),
        unit_conversions=(UnitConversion("rest * (1 << 30)", "GiB", "byte", SPAN),),
        unit_findings=(UnitFinding("a comment says MB, the code computes MiB", SPAN),),
        manifest={"sglang/srt/model_executor/model_runner.py": "c" * 40, "sglang/srt/absent.py": None},
        calls=(
            Call("ModelRunner.init_torch_distributed", "get_available_gpu_memory", SPAN),
            Call("ModelRunner.init", "ModelRunner.profile", SPAN),
            Call("ModelRunner.init", "ModelRunner.profile", Span(SPAN.path, 500, 500)),
        ),
    )


def settings() -> Extraction:
    """What that release sets its options to, with a place on the way that could not be followed."""
    return replace(
        extraction(),
        quantities={},
        definitions={},
        gaps=(),
        coverage=Coverage(0, 0, 0, 0, ()),
        manifest={"sglang/srt/server_args.py": "d" * 40},
        settings={"page_size": formula("64 if use_mla_backend else page_size", "token")},
        setting_gaps=(Gap(SPAN.path, 700, "@register", "found in a table of functions"),),
    )


def snapshot(revision: Revision = REVISION) -> Snapshot:
    """A snapshot of the made-up release."""
    return Snapshot(revision, extraction(), "0.1.0", "d" * 64, {"tp_size": "1"})


def with_default_fraction(found: Snapshot, default: str = "0.85 if tp_size >= 8 else 0.88") -> Snapshot:
    """`found` of a release that picks `default` where the user gives no fraction."""
    given = formula("default_mem_fraction_static", "1")
    quantities = {**found.extraction.quantities, "default_mem_fraction_static": formula(default, "1")}
    definitions = {**found.extraction.definitions, "mem_fraction_static": given}
    return replace(found, extraction=replace(found.extraction, quantities=quantities, definitions=definitions))


def report() -> DiffReport:
    """A comparison with one change of each important shape."""
    found = extraction()
    semantic = Change(
        rule="coefficient-changed",
        kind=Kind.SEMANTIC,
        level="error",
        action="changed",
        quantity="cell_size",
        affects=("max_total_num_tokens",),
        scenarios=("mla",),
        guard="tp_size > 8",
        summary="Each token takes more bytes: 576 became 656.",
        before=Side("num_layers * 576 * 2", r"\mathrm{num\_layers} \cdot 576", "byte/token", (SPAN,)),
        after=Side("num_layers * 656 * 2", r"\mathrm{num\_layers} \cdot 656", "byte/token", (SPAN,)),
        witness=Witness({"num_layers": 61, "kv": (1, 2)}, ("page_size",), 70272, 80032),
        bound=None,
        commits=(CommitReference("e" * 40, "2025-01-02", "Store scales \x1b]0;evil\x07 (#77)", 77),),
        fingerprint="0123456789abcdef",
    )
    added = Change(
        rule="error-added",
        kind=Kind.ROUNDING,
        level="note",
        action="added",
        quantity="rest_memory",
        affects=(),
        scenarios=("mha", "mla"),
        guard="",
        summary="[bold]Not markup[/bold].",
        before=None,
        after=Side("min(rest_memory, 0.0)", r"\min\left(x, 0.0\right)", "GiB"),
        witness=Witness({"rest_memory": -1.5}, (), -1.5, "RuntimeError"),
        bound="at most 1 token",
        commits=(),
        fingerprint="fedcba9876543210",
    )
    return DiffReport(
        base=REVISION,
        head=HEAD,
        verdict=Kind.SEMANTIC,
        verdicts={
            "cell_size": {"mha": Kind.IDENTICAL, "mla": Kind.SEMANTIC},
            "rest_memory": {"mha": Kind.ROUNDING, "mla": Kind.ROUNDING},
            "max_num_reqs": {"mha": Kind.REFACTOR, "mla": Kind.IDENTICAL},
        },
        changes=(semantic, added),
        gaps=found.gaps,
        coverage={"base": found.coverage, "head": found.coverage},
        base_path=found.hops,
        head_path=found.hops,
        notes=("v0.4 resolved to tag v0.4.0",),
    )


def judgement() -> CheckReport:
    """A judgement with a finding, an accepted one, and a comparison."""
    violation = Violation("max_total_num_tokens", "int(x) // y", ("mha",), (SPAN,), {"available_gpu_memory": 1.0})
    unit = Violation("", "GiB added to bytes", (), (SPAN,))
    return CheckReport(
        revision=REVISION,
        findings=(
            Finding("SGM202", "warning", "The count becomes negative.", violation, "aaaa"),
            Finding("SGM201", "error", "GiB added to bytes", unit, "bbbb", accepted="reviewed"),
        ),
        unjudged=("SGM204: needs x",),
        diff=report(),
        gaps=extraction().gaps,
        coverage=extraction().coverage,
        notes=("v0.4 resolved to tag v0.4.0",),
    )


def log_report() -> LogReport:
    """Two commits, one on either line; subjects are what strangers wrote."""
    changes = report().changes
    ours = CommitReference("c" * 40, "2025-01-02T03:04:05+00:00", "Fix [link](x) @all \x1b[31m (#12)", 12)
    theirs = CommitReference("d" * 40, "2025-01-01T03:04:05+00:00", "::error::Update docs", None)
    entries = (
        LogEntry(ours, Kind.SEMANTIC, changes, twin="d" * 40, undone_by="e" * 40),
        LogEntry(theirs, Kind.SEMANTIC, changes[:1], side="base", twin="c" * 40),
    )
    return LogReport(REVISION, REVISION, "f" * 40, entries, 1234, 5, ("v0.4 resolved to tag v0.4.0",))


def many_changes(*, parts: int, outside: int) -> DiffReport:
    """A comparison with `parts` of one difference and `outside` differences in conditions that no scenario asks for."""
    found = report()
    long = " + ".join(f"x{number} * page_size" for number in range(200))
    whole = replace(
        found.changes[0],
        before=Side(f"{long} + num_layers", "", "token", (SPAN,)),
        after=Side(f"{long} + num_kv_heads", "", "token", (SPAN,)),
    )
    changes = [replace(whole, summary=f"Part {number}.", fingerprint=f"{number:016d}") for number in range(parts)]
    changes += [
        replace(whole, scenarios=(), guard=f"architecture_{number} " * 40, fingerprint=f"{number + parts:016d}")
        for number in range(outside)
    ]
    return replace(found, changes=tuple(changes))
