"""SARIF 2.1.0: the structure that the standard asks for, and what a code-scanning service needs.

The official schema is not carried here. With its file in ``SARIF_SCHEMA`` the whole schema is checked; without,
the part of it that these reports use.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema.validators import validator_for

from analyzer.domain.report import Accepted, DiffReport, Kind
from analyzer.domain.source import Revision
from analyzer.render.formats import render
from analyzer.render.page import Page
from tests.support.hostile import hostile_judgement, hostile_report
from tests.support.project import shipped_rules
from tests.support.samples import judgement, report

PAGE = Page(rules=shipped_rules().every_rule())

_TEXT: Final = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
_URI: Final = {"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*$"}
_LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}


def _strict(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**properties, "properties": {"type": "object"}},
    }


_LOCATION: Final = _strict(
    {
        "id": {"type": "integer", "minimum": -1},
        "physicalLocation": _strict(
            {
                "artifactLocation": _strict({"uri": _URI, "uriBaseId": {"type": "string"}}, "uri"),
                "region": _strict(
                    {
                        "startLine": {"type": "integer", "minimum": 1},
                        "endLine": {"type": "integer", "minimum": 1},
                    }
                ),
            },
            "artifactLocation",
        ),
    }
)
_RULE: Final = _strict(
    {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "shortDescription": _TEXT,
        "fullDescription": _TEXT,
        "help": _TEXT,
        "defaultConfiguration": _strict({"level": _LEVEL}),
    },
    "id",
)
_RESULT: Final = _strict(
    {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": _LEVEL,
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION},
        "relatedLocations": {"type": "array", "uniqueItems": True, "items": _LOCATION},
        "suppressions": {
            "type": "array",
            "uniqueItems": True,
            "items": _strict({"kind": {"enum": ["inSource", "external"]}, "justification": {"type": "string"}}, "kind"),
        },
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "message",
)
_RUN: Final = _strict(
    {
        "tool": _strict(
            {
                "driver": _strict(
                    {
                        "name": {"type": "string"},
                        "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
                    },
                    "name",
                )
            },
            "driver",
        ),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {
            "type": "object",
            "additionalProperties": _strict({"uri": _URI, "description": _TEXT}),
        },
        "versionControlProvenance": {
            "type": "array",
            "uniqueItems": True,
            "items": _strict({"repositoryUri": _URI, "revisionId": {"type": "string"}}, "repositoryUri"),
        },
        "results": {"type": "array", "items": _RESULT},
    },
    "tool",
)
SUBSET: Final = _strict(
    {"$schema": _URI, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": _RUN}}, "version", "runs"
)


def _schemas() -> list[dict[str, Any]]:
    official = os.environ.get("SARIF_SCHEMA")
    return [SUBSET, *([json.loads(Path(official).read_text())] if official else [])]


def validate(document: Any) -> None:
    """Check a document against the schema."""
    for schema in _schemas():
        validator_for(schema)(schema).validate(document)


def sarif(found: DiffReport) -> dict[str, Any]:
    """The document of a comparison, checked against the schema."""
    document: dict[str, Any] = json.loads(render("diff", "sarif", found, PAGE))
    validate(document)
    return document


def _lost() -> DiffReport:
    change = replace(report().changes[0], kind=Kind.LOST, before=None, after=None, witness=None)
    return replace(report(), changes=(change,), verdict=Kind.LOST)


@pytest.mark.parametrize("found", [report(), hostile_report(), _lost(), replace(report(), changes=())])
def test_a_document_is_valid(found: DiffReport) -> None:
    assert sarif(found)["version"] == "2.1.0"


def test_a_result_names_its_rule_place_and_fingerprint() -> None:
    change = replace(report().changes[0], rule="SGM106")
    [run] = sarif(replace(report(), changes=(change,)))["runs"]
    [result] = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (result["ruleId"], rule["id"], rule["name"]) == ("SGM106", "SGM106", "FactorChanged")
    assert result["partialFingerprints"] == {"sglangMemory/v1": change.fingerprint}
    [place] = result["locations"]
    [related] = result["relatedLocations"]
    assert place["physicalLocation"]["region"] == {"startLine": 412, "endLine": 418}
    assert place["physicalLocation"]["artifactLocation"]["uriBaseId"] == "SGLANG_HEAD"
    assert related["physicalLocation"]["artifactLocation"]["uriBaseId"] == "SGLANG_BASE"
    assert run["originalUriBaseIds"]["SGLANG_HEAD"]["uri"].endswith(f"/blob/{'b' * 40}/")


def test_every_rule_index_is_the_place_of_its_rule() -> None:
    changes = tuple(replace(report().changes[0], rule=rule) for rule in ("SGM106", "SGM101", "SGM100", "unknown"))
    [run] = sarif(replace(report(), changes=changes))["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert ids == ["SGM100", "SGM101", "SGM106"]
    known = [result for result in run["results"] if "ruleIndex" in result]
    assert [ids[result["ruleIndex"]] for result in known] == ["SGM106", "SGM101", "SGM100"]


def test_a_folder_has_no_address() -> None:
    [run] = sarif(replace(report(), head=Revision(".", "WORKTREE", "WORKTREE")))["runs"]
    assert "uri" not in run["originalUriBaseIds"]["SGLANG_HEAD"]
    assert len(run["versionControlProvenance"]) == 1


def test_source_text_is_no_link() -> None:
    [run] = sarif(hostile_report())["runs"]
    assert all("](" not in result["message"]["text"] for result in run["results"])


def test_what_is_accepted_is_suppressed_with_the_reason() -> None:
    first, second = report().changes
    found = replace(report(), changes=(second,), accepted=(Accepted(first, "reviewed"),))
    results = sarif(found)["runs"][0]["results"]
    assert [result.get("suppressions") for result in results] == [
        None,
        [{"kind": "external", "justification": "reviewed"}],
    ]


def test_a_judgement_is_valid_and_has_findings_and_changes() -> None:
    for found in (judgement(), hostile_judgement(), replace(judgement(), diff=None)):
        document = json.loads(render("check", "sarif", found, PAGE))
        for schema in _schemas():
            validator_for(schema)(schema).validate(document)
    [run] = json.loads(render("check", "sarif", judgement(), PAGE))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["SGM202", "SGM201", "coefficient-changed", "error-added"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["SGM201", "SGM202"]
