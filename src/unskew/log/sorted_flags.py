"""Columns without the claim that they are sorted.

A Parquet file may claim that a column is sorted, and so may a frame. Polars believes it: it then answers ``min`` and
``max`` from the two ends, and groups only neighbours. Whether that is true is nowhere checked, so that a wrong claim
would give wrong numbers without an error. Columns from outside therefore lose the claim; no value is copied.
"""

from __future__ import annotations

from typing import Any

import polars as pl


class _Values:
    """A column as Arrow passes it on: its values alone."""

    def __init__(self, column: pl.Series) -> None:
        self._column = column

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._column.__arrow_c_stream__(requested_schema)


def without_sorted_flag(column: pl.Series) -> pl.Series:
    """The column, as if nothing were known of its order."""
    if not (column.flags["SORTED_ASC"] or column.flags["SORTED_DESC"]):
        return column
    return pl.Series(column.name, _Values(column))


def without_sorted_flags(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame, as if nothing were known of the order of any column."""
    return frame.with_columns(without_sorted_flag(column) for column in frame)
