"""Findings as SARIF 2.1.0, the form that code-scanning services read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from analyzer import __version__
from analyzer.domain.report import Change, DiffReport, Side
from analyzer.domain.rules import FALLBACK_RULE, ChangeRule
from analyzer.domain.source import Revision, Span
from analyzer.render.blocks import is_commit
from analyzer.render.json import witness_object, write_object
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
    findings: list[tuple[Change, str | None]] = [(change, None) for change in report.changes]
    findings += [(item.change, item.reason) for item in report.accepted]
    rules = _used(page.change_rules, (change.rule for change, _ in findings))
    positions = {rule.id: position for position, rule in enumerate(rules)}
    sides = ((_BASE, report.base), (_HEAD, report.head))
    run = {
        "tool": {"driver": _driver(rules)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {name: _root(revision, page) for name, revision in sides},
        "versionControlProvenance": [_provenance(revision, page) for _, revision in sides if is_commit(revision)],
        "results": [_result(change, positions, report, accepted) for change, accepted in findings],
        "properties": {
            "base": report.base.spec,
            "head": report.head.spec,
            "verdict": report.verdict.label,
            "notes": list(report.notes),
        },
    }
    return write_object({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _used(rules: Sequence[ChangeRule], ids: Iterable[str]) -> tuple[ChangeRule, ...]:
    """The metadata of every rule that has a result, in a fixed order."""
    known = {rule.id: rule for rule in (FALLBACK_RULE, *rules)}
    return tuple(known[name] for name in sorted(set(ids)) if name in known)


def _driver(rules: Sequence[ChangeRule]) -> Object:
    return {
        "name": "sglang-memory-analyzer",
        "version": __version__,
        "rules": [_rule(rule) for rule in rules],
    }


def _rule(rule: ChangeRule) -> Object:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.title.split()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why} {rule.what_to_do}"},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"area": rule.area, "action": rule.action, "kinds": list(rule.kinds)},
    }


def _root(revision: Revision, page: Page) -> Object:
    name = revision_name(revision)
    root: Object = {"description": {"text": f"SGLang, {revision.spec}"}}
    return root if name is None else {"uri": f"{page.upstream}/blob/{quote(name)}/", **root}


def _provenance(revision: Revision, page: Page) -> Object:
    return {"repositoryUri": page.upstream, "revisionId": revision.commit}


def _result(change: Change, positions: dict[str, int], report: DiffReport, accepted: str | None) -> Object:
    """The place is where head has the formula; where base had it is related."""
    before = _locations(change.before, _BASE, report.base)
    after = _locations(change.after, _HEAD, report.head)
    places, related = (after, before) if after else (before, [])
    found: Object = {
        "ruleId": change.rule,
        "level": change.level,
        "kind": "fail",
        # A bracket before a parenthesis would be an embedded link.
        "message": {"text": one_line(change.summary, _MAX_MESSAGE).replace("](", "] (")},
        "locations": places[:1],
        "relatedLocations": [{"id": position, **place} for position, place in enumerate([*places[1:], *related], 1)],
        "partialFingerprints": {FINGERPRINT: change.fingerprint},
        "properties": _properties(change),
    }
    if change.rule in positions:
        found["ruleIndex"] = positions[change.rule]
    if accepted is not None:
        found["suppressions"] = [{"kind": "external", "justification": accepted}]
    return found


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
