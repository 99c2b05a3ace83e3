"""What the columns of an input must be: ids, numbers, whole numbers and points in time, each checked row by row."""

from __future__ import annotations

import polars as pl

from unskew.errors import InputError
from unskew.log.table import Table

_LARGEST = 2**63


def check_ids(table: Table, name: str) -> None:
    """Ids may be anything that prints as a short text; floats (integers next to nulls in pandas) must be whole."""
    column = table.frame[name]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise _wrong_type(table, name, "numbers or text")
    if column.dtype.is_float() or column.dtype.is_decimal():
        table.refuse(
            name,
            ~_is_whole(column.cast(pl.Float64)).fill_null(True),
            must="must hold whole numbers or text",
            reason=f"{name} not a whole number",
        )


def as_ids(column: pl.Series, *, from_text: bool = False) -> pl.Series:
    """Int64 where the ids are integers, else text.

    In a text file integers are only those that print back as they stood, all of them: '007' stays text.
    """
    if column.dtype == pl.String and not from_text:
        return column
    if column.dtype == pl.String or column.dtype.is_numeric():
        numbers = column.cast(pl.Int64, strict=False)
        if numbers.null_count() == 0 and (column.dtype != pl.String or (numbers.cast(pl.String) == column).all()):
            return numbers
    return column.cast(pl.String)


def numbers(table: Table, name: str) -> pl.Series:
    """A column of finite numbers as Float64 (null in rows that are dropped)."""
    table.refuse_nulls(name)
    parsed = _parse(table, name, pl.Float64, "numbers")
    _refuse_unparsed(table, name, parsed, "must hold numbers")
    table.refuse(
        name,
        ~parsed.is_finite().fill_null(True),
        must="must hold finite numbers",
        reason=f"{name} not finite",
    )
    return parsed


def whole_numbers(table: Table, name: str, must: str = "must hold whole numbers") -> pl.Series:
    """A column of whole numbers as Int64 (null in rows that are dropped)."""
    raw = table.frame[name]
    table.refuse_nulls(name)
    integers = _parse(table, name, pl.Int64, "whole numbers")
    exact = raw.dtype.is_integer() or raw.dtype == pl.String
    if not exact or integers.null_count() > raw.null_count():
        floats = _parse(table, name, pl.Float64, "whole numbers")
        _refuse_unparsed(table, name, floats, must)
        table.refuse(name, ~_is_whole(floats).fill_null(True), must=must, reason=f"{name} not a whole number")
        integers = integers.fill_null(floats.cast(pl.Int64, strict=False))  # a text like '3.0'
    return integers


def times(table: Table, name: str = "time") -> tuple[pl.Series, pl.DataType | None]:
    """Points in time as Int64, and the type to give them back as (None for plain numbers).

    Dates and datetimes become microseconds since 1970 (UTC), whatever their unit was; numbers stay what they are.
    """
    raw = table.frame[name]
    if raw.dtype == pl.String:
        plain = _parse(table, name, pl.Float64, "whole numbers")
        if plain.null_count() > raw.null_count() and (parsed := _datetimes(raw)).null_count() < plain.null_count():
            table.refuse_nulls(name)
            _refuse_unparsed(table, name, parsed, "must hold whole numbers, dates or datetimes (ISO 8601)")
            return parsed.cast(pl.Int64), parsed.dtype
    elif raw.dtype.is_temporal():
        if raw.dtype not in (pl.Date, pl.Datetime):
            raise _wrong_type(table, name, "whole numbers, dates or datetimes")
        table.refuse_nulls(name)
        zone = raw.dtype.time_zone if isinstance(raw.dtype, pl.Datetime) else None
        micro = raw.cast(pl.Datetime("us", zone))
        return micro.cast(pl.Int64), raw.dtype if raw.dtype == pl.Date else micro.dtype
    return whole_numbers(table, name, "must hold whole numbers, dates or datetimes"), None


def _datetimes(texts: pl.Series) -> pl.Series:
    """Texts as datetimes, null where they are none."""
    try:
        return texts.str.to_datetime(time_unit="us", strict=False)
    except pl.exceptions.ComputeError:  # no text looks like a datetime
        return pl.Series(texts.name, [None] * len(texts), dtype=pl.Datetime("us"))


def readable_numbers(name: str, dtype: pl.DataType) -> pl.Expr:
    """What ``numbers`` makes of a column, for rows that stream by: null where it would refuse."""
    column = pl.col(name).str.strip_chars() if dtype == pl.String else pl.col(name)
    parsed = column.cast(pl.Float64, strict=False)
    return pl.when(parsed.is_finite()).then(parsed).alias(name)


def whole_ids(name: str, dtype: pl.DataType) -> pl.Expr:
    """What ``check_ids`` lets pass of a column, floats as integers, for rows that stream by: null where it refuses."""
    if not (dtype.is_float() or dtype.is_decimal()):
        return pl.col(name)
    column = pl.col(name).cast(pl.Float64)
    whole = (column == column.floor()) & (column.abs() < _LARGEST)
    return pl.when(whole).then(column.cast(pl.Int64, strict=False)).alias(name)


def _parse(table: Table, name: str, dtype: type[pl.Float64 | pl.Int64], expected: str) -> pl.Series:
    """Numbers of any type, also as text; null where a text is none."""
    raw = table.frame[name]
    if raw.dtype == pl.String:
        return raw.str.strip_chars().cast(dtype, strict=False)
    if raw.dtype.is_numeric() or raw.dtype in (pl.Boolean, pl.Null):
        return raw.cast(dtype, strict=False)
    raise _wrong_type(table, name, expected)


def _is_whole(column: pl.Series) -> pl.Series:
    """Whether floats are whole and fit into 64 bits (nan and inf are not)."""
    return (column == column.floor()) & (column.abs() < _LARGEST)


def _refuse_unparsed(table: Table, name: str, parsed: pl.Series, must: str) -> None:
    raw = table.frame[name]
    if parsed.null_count() > raw.null_count():
        wrong = parsed.is_null() & raw.is_not_null()
        table.refuse(name, wrong, must=must, reason=f"{name} not readable")


def _wrong_type(table: Table, name: str, expected: str) -> InputError:
    dtype = table.frame.schema[name]
    return InputError(
        f"{table.source}: {table.called(name)} must hold {expected}, but its type is {dtype}.\n"
        f"Convert it, or name another column with --columns {name}=... (in Python: columns={{'{name}': ...}})."
    )
