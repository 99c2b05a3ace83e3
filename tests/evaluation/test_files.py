"""Results as JSON, CSV, Parquet and tables."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.evaluation.shop import SEEN, evaluate, many
from unskew.core.notice import codes
from unskew.result import Result

ESTIMATE_KEYS = {
    "model", "metric", "estimator", "target", "propensity", "value", "se", "low", "high", "ess", "max_weight_share",
    "clipped_share", "support_gap", "users", "interactions", "hits", "unsupported", "few_clicks", "standing", "promise",
}  # fmt: skip
VERDICT_KEYS = {
    "metric", "estimator", "target", "a", "b", "difference", "low", "high", "p", "p_adjusted", "verdict", "tipping",
    "tipping_low", "trust", "assumption", "users_apart", "ess", "few_clicks", "standing",
}  # fmt: skip


def test_json_holds_everything(tmp_path: Path) -> None:
    """Estimates, verdicts, inputs and warnings come back from JSON; numbers that do not exist are null."""
    result = evaluate(train=SEEN, interval="bootstrap", replicates=60, by="place", target=["per_user", "per_user_sum"],
                      estimators=["naive", "snips", "ips"], refused="skip")  # fmt: skip
    result.to_json(tmp_path / "result.json")
    text = (tmp_path / "result.json").read_text(encoding="utf-8")
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found.pop("kind") == "Result" and found.pop("written")["command"] is None
    assert found == json.loads(json.dumps(result.to_dict()))
    assert set(found) == {
        "schema_version", "headline", "leaderboard", "estimates", "verdicts", "scenarios", "weights", "inputs",
        "warnings", "metrics", "requirements",
    }  # fmt: skip
    assert found["schema_version"] == 5
    assert len(found["estimates"]) == len(result.estimates) and len(found["verdicts"]) == len(result.verdicts_) > 0
    for row, e in zip(found["estimates"], result.estimates, strict=True):
        assert set(row) >= ESTIMATE_KEYS
        for key in ESTIMATE_KEYS:
            expected = getattr(e, key)
            missing = isinstance(expected, float) and not math.isfinite(expected)
            assert row[key] == (None if missing else expected), key
    for row in found["verdicts"]:
        assert set(row) >= VERDICT_KEYS and row["verdict"] in ("better", "worse", "ahead", "behind", "undecided")
    assert found["inputs"]["refused"] and found["inputs"]["settings"]["metrics"] == ["recall@2"]
    assert found["warnings"] == [warning.plain for warning in result.warnings]
    assert codes(Result.from_json(tmp_path / "result.json").warnings) == codes(result.warnings) != ()
    assert found["headline"]["title"] in repr(result) and found["headline"]["estimator"] == "ips"


def test_tables_come_back_from_csv_and_parquet(tmp_path: Path) -> None:
    """The table of estimates survives both formats."""
    result = many()
    result.to_csv(tmp_path / "result.csv")
    result.to_parquet(tmp_path / "result.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "result.parquet"), result.table())
    again = pl.read_csv(tmp_path / "result.csv", schema=result.table().schema)
    assert_frame_equal(again, result.table())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.csv", "result.parquet"]


def test_tables_have_the_columns_of_their_rows() -> None:
    """table() and verdicts() are frames with one row per estimate and per pair of models."""
    result = many()
    assert set(result.table().columns) >= {*ESTIMATE_KEYS, "segment", "promise"}
    assert result.table().height == len(result.estimates) == 2 * 3 * 4 * 2
    assert set(result.verdicts().columns) >= {*VERDICT_KEYS, "segment", "tipping_kind", "users_needed"}
    assert result.verdicts().height == 3 * 4 * 2
    assert result.table().schema["value"] == pl.Float64 and result.table().schema["users"] == pl.Int64
