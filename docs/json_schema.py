"""Write docs/result.schema.json, the JSON Schema of what ``Result.to_json`` writes: ``python docs/json_schema.py``.

It follows from the records that a result is made of, so that it cannot say anything else than they do. A number that
does not exist is null, and so is an infinite one.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from unskew.requirement import Requirement
from unskew.result import (
    SCHEMA_VERSION,
    Estimate,
    LeaderboardRow,
    MetricTraits,
    ScenarioDifferences,
    ScenarioTable,
    ScenarioValues,
    Verdict,
    Weights,
)

FILE = Path(__file__).with_name("result.schema.json")
RECORDS = {
    "estimates": Estimate,
    "verdicts": Verdict,
    "leaderboard": LeaderboardRow,
    "scenarios": ScenarioTable,
    "weights": Weights,
    "requirements": Requirement,
}
INSIDE = {"ScenarioValues": ScenarioValues, "ScenarioDifferences": ScenarioDifferences}
WORDS = {
    "verdict": ["better", "worse", "ahead", "behind", "depends", "undecided"],
    "answer": ["yes", "no", "undecided"],
    "tipping_kind": ["odds", "ratio", None],
}
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


def schema() -> dict[str, Any]:
    """The whole schema."""
    text, texts = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    maybe = {"type": ["string", "null"]}
    headline = {
        "title": text, "debiased": {"type": "boolean"}, "metric": maybe, "target": maybe, "estimator": maybe,
        "sentences": texts, "agreement": text, "trust": texts,
    }  # fmt: skip
    written = {
        "date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$"},
        "command": maybe,
        "versions": {"type": "object", "additionalProperties": text, "required": ["unskew", "python"]},
    }
    column = {
        "zeros_logged": {"type": "boolean"}, "passed": {"type": "boolean"}, "wrong": text, "untested": text,
        "implied_relevance": {"type": ["number", "null"]}, "signs": texts,
    }  # fmt: skip
    told = _object(column) | {"type": ["object", "null"]}
    notice = _object({"code": text, "text": text, "fields": {"type": "object"}})
    refused = dict.fromkeys(("metric", "estimator", "target", "reason", "code"), text)
    cells = {"type": "array", "items": {"type": "object", "properties": refused, "required": list(refused)}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A result of unskew",
        **_object(
            {
                "kind": {"const": "Result"},
                "schema_version": {"const": SCHEMA_VERSION},
                "headline": _object(headline),
                **{name: {"type": "array", "items": _record(kind)} for name, kind in RECORDS.items()},
                "inputs": {"type": "object", "properties": {"propensity_column": told, "refused": cells}},
                "warnings": {"type": "array", "items": notice},
                "metrics": {"type": "object", "additionalProperties": _record(MetricTraits)},
                "written": _object(written),
            }
        ),
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _record(kind: type) -> dict[str, Any]:
    return _object({field.name: _field(field.name, str(field.type)) for field in fields(kind)})


def _field(name: str, kind: str) -> dict[str, Any]:
    if name in WORDS:
        return {"enum": WORDS[name]}
    if kind in INSIDE:
        return _record(INSIDE[kind])
    if kind.startswith("tuple["):
        optional = kind.endswith(" | None")
        inside = kind.removesuffix(" | None")[len("tuple[") : -1]
        items = _field("", inside.removesuffix(", ...") if inside.endswith(", ...") else inside.split(", ")[0])
        return {"type": ["array", "null"] if optional else "array", "items": items}
    plain, _, optional_ = kind.partition(" | ")
    nullable = bool(optional_) or plain == "float"
    return {"type": [_TYPES[plain], "null"] if nullable else _TYPES[plain]}


def text() -> str:
    """The file."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
