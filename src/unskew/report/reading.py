"""A result from the JSON that it was written to (docs/json.md).

JSON has no infinity: what is infinite was written as null, like what does not exist. It is told apart by what stands
beside it: a tipping point with a kind is infinite; so is an upper end with a lower one, and so are both ends of a
difference that no check withheld.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.strict_json import loads
from unskew.core.text import plain_path
from unskew.inference.trust import is_doubt
from unskew.log.paths import read_small
from unskew.requirement import Requirement
from unskew.result import (
    SCHEMA_VERSION,
    Estimate,
    MetricTraits,
    Result,
    ScenarioDifferences,
    ScenarioTable,
    ScenarioValues,
    Verdict,
    Weights,
)

Row = TypeVar("Row")
LARGEST = 500_000_000  # bytes


def read_result(path: str | Path) -> Result:
    """Read a result, or say why this file holds none that can be read."""
    where = plain_path(path)
    content = read_small(path, LARGEST, "Give the JSON file that a result was written to.")
    try:
        found = loads(content)
    except ValueError as error:
        raise InputError(f"{where}: this is not JSON: {error}.", code="damaged-file") from None
    kind = found.get("kind", "Result") if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or kind != "Result" or "estimates" not in found:
        told = f"a {kind}" if isinstance(kind, str) and kind != "Result" else "no result of unskew"
        raise InputError(
            f"{where}: this file holds {told}, and only results of an evaluation can be read back.", code="wrong-type"
        )
    version = found.get("schema_version")
    if version != SCHEMA_VERSION:
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        remedy = "Install a newer unskew" if newer else "Run the evaluation again"
        raise InputError(
            f"{where}: its schema has version {version}, and this unskew reads version {SCHEMA_VERSION}. {remedy}.",
            code="wrong-version",
        )
    try:
        return _result(found)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(
            f"{where}: a result of this version looks different ({type(error).__name__}: {error}).", code="damaged-file"
        ) from None


def _result(found: Mapping[str, Any]) -> Result:
    return Result(
        estimates=tuple(_estimate(row) for row in found["estimates"]),
        verdicts_=tuple(_verdict(row) for row in found["verdicts"]),
        weights=tuple(_row(Weights, row) for row in found["weights"]),
        inputs=found["inputs"],
        warnings=tuple(map(Notice.of, found["warnings"])),
        scenarios=tuple(_scenarios(row) for row in found["scenarios"]),
        traits={name: MetricTraits(**traits) for name, traits in found["metrics"].items()},
        requirements=tuple(_row(Requirement, row) for row in found["requirements"]),
    )


def _row(kind: type[Row], row: Mapping[str, Any]) -> Row:
    """A record; numbers that are null are NaN where they must be numbers, and lists are tuples."""
    types = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    if missing := types.keys() ^ row.keys():
        raise KeyError(f"{kind.__name__}: {', '.join(sorted(missing))}")
    return kind(**{name: _value(value, types[name]) for name, value in row.items()})


def _value(value: Any, kind: str) -> Any:
    if value is None:
        return math.nan if kind == "float" else None
    if isinstance(value, list):
        return tuple(_value(item, "float" if "float" in kind else "") for item in value)
    return float(value) if kind.startswith("float") else value


def _estimate(row: Mapping[str, Any]) -> Estimate:
    unbounded = row["high"] is None and row["low"] is not None
    return _row(Estimate, {**row, "high": math.inf if unbounded else row["high"]})


def _verdict(row: Mapping[str, Any]) -> Verdict:
    known = dict(row)
    apart = row["users_apart"] and row["difference"] is not None
    withheld = row["trust"] and not is_doubt(row["trust"])
    if apart and not withheld and row["low"] is None and row["high"] is None:
        known |= {"low": -math.inf, "high": math.inf}
    for name in ("tipping", "tipping_low"):
        if row[name] is None and row["tipping_kind"] is not None:
            known[name] = math.inf
    return _row(Verdict, known)


def _scenarios(row: Mapping[str, Any]) -> ScenarioTable:
    values = [_row(ScenarioValues, each) for each in row["values"]]
    differences = [_row(ScenarioDifferences, each) for each in row["differences"]]
    plain = _row(ScenarioTable, {**row, "values": [], "differences": []})
    return ScenarioTable(**{**vars(plain), "values": tuple(values), "differences": tuple(differences)})
