"""Data that break naive statistics: an answer without NaN, or a clear error."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.cells import cell_len

import unskew as us
from tests.report.reading import printed
from tests.said import refuses
from unskew.report import notebook, page

from . import logs

FULL = [(u, i) for u in range(6) for i in range(5)]


def full(**columns: list[Any]) -> dict[str, list[Any]]:
    """Six users who saw all five items."""
    return {"user": [u for u, _ in FULL], "item": [i for _, i in FULL], **columns}


HOSTILE: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "one row": ({"user": [1], "item": [1]}, {}),
    "one row, all columns": (
        {"user": ["a"], "item": ["b"], "value": [3], "time": [0], "policy": ["p"], "propensity": [1.0]},
        {"feedback": "ratings"},
    ),
    "one user": ({"user": [1] * 40, "item": list(range(40)), "value": [1.0, 0.0] * 20}, {"feedback": "conversions"}),
    "one item": ({"user": list(range(40)), "item": [7] * 40, "time": list(range(40))}, {}),
    "seen by everybody": ({"user": [*range(30), *range(30)], "item": [0] * 30 + [1 + u % 9 for u in range(30)]}, {}),
    "everything seen": (full(), {}),
    "constant values": (full(value=[4.0] * 30), {}),
    "only zeros": (full(value=[0.0] * 30), {"feedback": "conversions"}),
    "nothing relevant": (full(value=[float(i) for _, i in FULL]), {"relevant": ">=9"}),
    "one moment": (full(time=[1_600_000_000] * 30), {}),
    "the ends of time": (full(time=[-(2**62), 2**62] * 15), {}),
    "values far apart": (full(value=[10.0 ** (2 * k - 29) for k in range(30)]), {}),
    "negative values": (full(value=[float(k - 15) for k in range(30)]), {}),
    "tiny propensities": (full(propensity=[1e-29] * 15 + [1e-30] * 15), {}),
    "policies by row": (full(policy=[f"p{k}" for k in range(30)]), {}),
}


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> us.Audit:
    columns, how = HOSTILE[request.param]
    return us.audit(pl.DataFrame(columns), **how)


def test_no_number_is_nan_however_it_is_shown(hostile: us.Audit, tmp_path: Path) -> None:
    """Every float is finite, the JSON file is strict JSON that reads back as the same record, no line is wider than
    the terminal, and nothing reads nan or inf on a page, in a notebook or in a terminal."""
    assert all(math.isfinite(x) for x in logs.numbers_in(hostile.to_dict()))
    hostile.to_json(tmp_path / "audit.json")
    text = (tmp_path / "audit.json").read_text(encoding="utf-8")
    read = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert read["schema_version"] == 2 and read["size"]["rows"] == hostile.size.rows
    assert hostile.findings and all(finding.text.strip().endswith((".", "?")) for finding in hostile.findings)
    terminals = {width: printed(hostile, width) for width in (40, 80, 120)}
    for width, shown in terminals.items():
        assert max(cell_len(line) for line in shown.splitlines()) <= width
    for shown in (*terminals.values(), page(hostile), notebook(hostile)):
        assert not {"nan", "inf", "NaN", "Infinity"} & set(shown.replace("<", " ").replace(">", " ").split())


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("one user", "one-user"),
        ("one item", "one-item"),
        ("seen by everybody", "seen-by-all"),
        ("constant values", "constant-values"),
        ("nothing relevant", "too-few-rows"),
        ("one moment", "tied-times"),
    ],
)
def test_what_is_odd_is_said(case: str, code: str) -> None:
    """The findings name what makes the log unusual."""
    columns, how = HOSTILE[case]
    assert code in logs.said(us.audit(pl.DataFrame(columns), **how))


@pytest.mark.parametrize(
    ("frame", "how", "code"),
    [
        ({"user": [], "item": []}, {}, "no-rows"),
        ({"user": [1], "thing": [2]}, {}, "missing-column"),
        ({"user": [1], "item": [2], "value": [math.nan]}, {}, "not-a-number"),
        ({"user": [1], "item": [2], "propensity": [0.0]}, {}, "out-of-range"),
        ({"user": [1], "item": [2]}, {"relevant": ">=4"}, "conflicting-arguments"),
        ({"user": [1], "item": [2], "value": [1.0]}, {"relevant": "four"}, "bad-string"),
        ({"user": [1], "item": [2], "value": [1.0]}, {"feedback": "stars"}, "unknown-name"),
    ],
)
def test_what_cannot_be_audited_is_a_clear_error(frame: dict[str, list[Any]], how: dict[str, Any], code: str) -> None:
    """Wrong input is refused."""
    with refuses(code):
        us.audit(pl.DataFrame(frame), **how)
