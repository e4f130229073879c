"""Findings as SARIF 2.1.0, the form that code-scanning services read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from analyzer import __version__
from analyzer.domain.judgement import CheckReport, Finding
from analyzer.domain.pin import Pin
from analyzer.domain.report import Change, DiffReport, Side
from analyzer.domain.rules import AnyRule
from analyzer.domain.source import Revision, Span
from analyzer.render.blocks import is_commit
from analyzer.render.json import effect_object, witness_object, write_object
from analyzer.render.markup import one_line
from analyzer.render.page import Page
from analyzer.render.upstream import repository_path, revision_name

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT: Final = "sglangMemory/v1"
_MAX_MESSAGE: Final = 1_000
_BASE: Final = "SGLANG_BASE"
_HEAD: Final = "SGLANG_HEAD"

Object = dict[str, Any]


def render_diff(report: DiffReport, page: Page) -> str:
    """A comparison."""
    facts = {"base": report.base.spec, "head": report.head.spec, "verdict": report.verdict.label}
    sides = {_BASE: report.base, _HEAD: report.head}
    return _document(_changes(report), sides, {**facts, "effects": _effects(report), "notes": list(report.notes)}, page)


def render_check(report: CheckReport, page: Page) -> str:
    """The judgement of one ref, and what differs from what was accepted."""
    results = [_finding(finding, report.revision) for finding in report.findings]
    sides = {_HEAD: report.revision}
    if report.diff is not None:
        results += _changes(report.diff)
        sides[_BASE] = report.diff.base
    effects = [] if report.diff is None else _effects(report.diff)
    facts = {"ref": report.revision.spec, "unjudged": list(report.unjudged), "effects": effects}
    facts["notes"] = list(report.notes)
    return _document(results, sides, facts, page)


def _effects(report: DiffReport) -> list[Object]:
    return [effect_object(effect) for effect in report.effects]


def _document(results: Sequence[Object], sides: Mapping[str, Revision], facts: Object, page: Page) -> str:
    rules = _used(page.rules, (result["ruleId"] for result in results))
    positions = {rule.id: position for position, rule in enumerate(rules)}
    placed = [_pinned(result, page.pin) for result in results]
    for result in placed:
        if result["ruleId"] in positions:
            result["ruleIndex"] = positions[result["ruleId"]]
    run = {
        "tool": {"driver": _driver(rules)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {name: _root(revision, page) for name, revision in sides.items()},
        "versionControlProvenance": _provenance(sides.values(), page),
        "results": placed,
        "properties": facts,
    }
    return write_object({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _changes(report: DiffReport) -> list[Object]:
    found = [_result(change, report, None) for change in report.changes]
    return [*found, *(_result(item.change, report, item.reason) for item in report.accepted)]


def _finding(finding: Finding, revision: Revision) -> Object:
    violation = finding.violation
    places = [_location(span, _HEAD, revision) for span in dict.fromkeys(violation.locations)]
    found: Object = {
        **_common(finding.rule, finding.level, finding.summary, finding.fingerprint, finding.accepted),
        "locations": places[:1],
        "relatedLocations": _related(places[1:]),
    }
    facts = {"quantity": violation.quantity, "scenarios": list(violation.scenarios), "inputs": dict(violation.inputs)}
    return {**found, "properties": facts}


def _used(rules: Mapping[str, AnyRule], ids: Iterable[str]) -> tuple[AnyRule, ...]:
    """The metadata of every rule that has a result, in a fixed order."""
    return tuple(rules[name] for name in sorted(set(ids)) if name in rules)


def _driver(rules: Sequence[AnyRule]) -> Object:
    return {
        "name": "sglang-memory-analyzer",
        "version": __version__,
        "rules": [_rule(rule) for rule in rules],
    }


def _rule(rule: AnyRule) -> Object:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.title.split()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why} {rule.what_to_do}"},
        "defaultConfiguration": {"level": rule.level},
    }


def _root(revision: Revision, page: Page) -> Object:
    name = revision_name(revision)
    root: Object = {"description": {"text": f"SGLang, {revision.spec}"}}
    return root if name is None else {"uri": f"{page.upstream}/blob/{quote(name)}/", **root}


def _provenance(revisions: Iterable[Revision], page: Page) -> list[Object]:
    commits = dict.fromkeys(revision.commit for revision in revisions if is_commit(revision))
    return [{"repositoryUri": page.upstream, "revisionId": commit} for commit in commits]


def _result(change: Change, report: DiffReport, accepted: str | None) -> Object:
    """The place is where head has the formula; where base had it is related."""
    before = _locations(change.before, _BASE, report.base)
    after = _locations(change.after, _HEAD, report.head)
    places, related = (after, before) if after else (before, [])
    return {
        **_common(change.rule, change.level, change.summary, change.fingerprint, accepted),
        "locations": places[:1],
        "relatedLocations": _related([*places[1:], *related]),
        "properties": _properties(change),
    }


def _common(rule: str, level: str, summary: str, fingerprint: str, accepted: str | None) -> Object:
    found: Object = {
        "ruleId": rule,
        "level": level,
        "kind": "fail",
        # A bracket before a parenthesis would be an embedded link.
        "message": {"text": one_line(summary, _MAX_MESSAGE).replace("](", "] (")},
        "partialFingerprints": {FINGERPRINT: fingerprint},
    }
    if accepted is not None:
        found["suppressions"] = [{"kind": "external", "justification": accepted}]
    return found


def _pinned(result: Object, pin: Pin | None) -> Object:
    """`result` at the line of the reader's own project, where a code-scanning service can show it."""
    if pin is None:
        return dict(result)
    region = {"startLine": pin.line, "endLine": pin.line}
    place = {"physicalLocation": {"artifactLocation": {"uri": quote(pin.file)}, "region": region}}
    upstream = [*result["locations"], *({k: v for k, v in p.items() if k != "id"} for p in result["relatedLocations"])]
    return {**result, "locations": [place], "relatedLocations": _related(upstream)}


def _related(places: Sequence[Object]) -> list[Object]:
    return [{"id": position, **place} for position, place in enumerate(places, 1)]


def _properties(change: Change) -> Object:
    return {
        "kind": change.kind.label,
        "action": change.action,
        "quantity": change.quantity,
        "affects": list(change.affects),
        "scenarios": list(change.scenarios),
        "guard": change.guard,
        "bound": change.bound,
        "witness": witness_object(change.witness),
    }


def _locations(side: Side | None, base: str, revision: Revision) -> list[Object]:
    return [_location(span, base, revision) for span in dict.fromkeys(side.locations)] if side is not None else []


def _location(span: Span, base: str, revision: Revision) -> Object:
    line = max(span.line, 1)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(repository_path(revision, span.path)), "uriBaseId": base},
            "region": {"startLine": line, "endLine": max(span.end_line, line)},
        }
    }
