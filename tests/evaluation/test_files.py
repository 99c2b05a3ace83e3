"""Results as JSON, CSV, Parquet and tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from tests.evaluation.shop import many


def test_tables_come_back_from_csv_and_parquet(tmp_path: Path) -> None:
    """The table of estimates survives both formats."""
    result = many()
    result.to_csv(tmp_path / "result.csv")
    result.to_parquet(tmp_path / "result.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "result.parquet"), result.table())
    again = pl.read_csv(tmp_path / "result.csv", schema=result.table().schema)
    assert_frame_equal(again, result.table())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.csv", "result.parquet"]
