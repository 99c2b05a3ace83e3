"""Dates and datetimes that no calendar shows: polars breaks off, rather than refuses, where it has to print them."""

from __future__ import annotations

import polars as pl

_DAYS = (-719_162, 2_932_896)  # 0001-01-01 and 9999-12-31, from 1970-01-01
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_WHOLE = (-(2**63), 2**63 - 1)


def limits(dtype: pl.DataType) -> tuple[int, int]:
    """The first and the last number that stand for a time of the years 1 to 9999."""
    if not isinstance(dtype, pl.Datetime):
        return _DAYS
    parts = _PER_DAY[dtype.time_unit]
    return max(_WHOLE[0], _DAYS[0] * parts), min(_WHOLE[1], (_DAYS[1] + 1) * parts - 1)


def outside_calendar(column: pl.Series) -> pl.Series:
    """Which rows of a column of dates or datetimes lie outside the years 1 to 9999; nulls do not."""
    return ~column.to_physical().cast(pl.Int64).is_between(*limits(column.dtype)).fill_null(True)
