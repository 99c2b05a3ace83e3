"""What the columns of an input must be: ids, numbers, whole numbers and points in time, each checked row by row.

Ids are looked at once more when they are coded, since there are fewer of them than rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import polars as pl

from unskew.core.errors import InputError
from unskew.core.threads import Threads, usual
from unskew.log.ids import Codes, Ids
from unskew.log.numbered_texts import unusual
from unskew.log.table import Table, limits, outside_calendar, show

LARGEST = 1e30  # of values and predictions: sums of their squares, and of weights times squares, stay finite
MANY = 100_000  # rows that are worth a thread
_FITS = 2**63  # what 64 bits hold
_EXACT: dict[type[pl.DataType], int] = {
    pl.Float32: 2**24,
    pl.Float64: 2**53,
}  # from here on floats leave out whole numbers
_PRINTED = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
_LATEST = 2**62  # of times that are plain numbers: differences of two of them fit into 64 bits
_TIMES = "must hold whole numbers, dates or datetimes (ISO 8601)"
_YEARS = "must lie in the years 1 to 9999"
UNPAD = "An id matches only what is written the same way: take blanks and line ends off, alike in all files."
_INVISIBLE = "[\\s\u200b\u2060\ufeff]"
_DAY_OR_MONTH_FIRST = r"^\s*\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b"
_AMBIGUOUS = "must hold dates in ISO 8601 (2011-10-02 10:43), since day and month cannot be told apart otherwise"
_REWRITE = (
    "Write all dates of the column with the year first. In polars, where the day stands first: "
    "pl.col('{name}').str.to_datetime('%d/%m/%Y %H:%M'), and where the month does: '%m/%d/%Y %H:%M'."
)
_WITH_COMMA = r"^\s*[-+]?[\d.]*,\d+\s*$"
_NO_COMMA = "Write numbers with a decimal point, and with nothing between thousands: 0.5 and 1500, not 0,5 and 1,500."
_PADDED = f"^{_INVISIBLE}|{_INVISIBLE}$|[\r\n]"


def check_ids(table: Table, name: str) -> None:
    """Ids may be anything that prints as one short text; floats (integers next to nulls in pandas) must be whole.

    Points in time and durations print differently by their unit, so that the same id would not match everywhere.
    """
    column = table.frame[name]
    if column.dtype in (pl.Datetime, pl.Duration, pl.Time):
        raise _wrong_type(table, name, "numbers or text")
    check_labels(table, name)
    levels = column.dtype.categories if isinstance(column.dtype, pl.Enum) else None
    if column.dtype in (pl.String, pl.Categorical) or (levels is not None and (levels == "").any()):
        empty = (column == "").fill_null(False)  # how exports write a null where they quote all
        table.refuse(name, empty, must="must have a value in every row", reason=f"null {name}", code="missing-value")
    if column.dtype.is_float() or column.dtype.is_decimal():
        table.refuse(
            name,
            ~table.frame.select(_is_whole(name, column.dtype)).to_series().fill_null(True),
            must="must hold whole numbers or text",
            reason=f"{name} not a whole number",
            code="not-an-integer",
            why="Numbers with a decimal point are exact up to 2^53 only: give larger ids as integers or text."
            if (column.abs() >= _EXACT.get(type(column.dtype), _FITS)).any()
            else "",
        )


def check_labels(table: Table, name: str) -> None:
    """What rows are grouped by must print as a text."""
    column = table.frame[name]
    if not (column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype in _PRINTED):
        raise _wrong_type(table, name, "numbers or text")
    _refuse_outside_calendar(table, name, column)
    if column.dtype in (pl.Date, pl.Datetime):  # rows that are dropped
        table.frame = table.frame.with_columns(column.set(outside_calendar(column), None))


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


def code_ids(table: Table, name: str, column: pl.Series) -> tuple[Ids, Codes]:
    """The ids of the kept rows of a column, and the code of each row."""
    labels = column.dtype in (pl.Categorical, pl.Enum)
    ids, codes = Ids.code(column if labels else as_ids(column, from_text=table.header))
    if (padded := padded_id(ids)) is not None:
        texts = table.frame[name].cast(pl.String)
        raise InputError(
            f"{table.source}: {table.called(name)} must hold ids without blanks around them or line ends inside; "
            f"{table.place(int((texts == padded).arg_true()[0]))} has {show(padded)}.\n{UNPAD}",
            code="padded-id",
            column=table.names[name],
        )
    return ids, codes


def code_pairs(table: Table, columns: Mapping[str, pl.Series]) -> tuple[tuple[Ids, Codes], tuple[Ids, Codes]]:
    """Users and items of the kept rows, and their codes; those of many rows are coded side by side."""
    if len(columns["user"]) < MANY or usual() == 1:
        return code_ids(table, "user", columns["user"]), code_ids(table, "item", columns["item"])
    with Threads(1) as pool:
        items = pool.submit(code_ids, table, "item", columns["item"])
        return code_ids(table, "user", columns["user"]), items.result()


def padded_id(ids: Ids) -> str | None:
    """The first id that begins or ends with something invisible (a blank, a sign without width), or holds a line end.

    A lone carriage return ends a line for some programs and not for others. Most ids have nothing invisible anywhere,
    which is seen more quickly than where it stands.
    """
    if ids.values.dtype != pl.String:
        return None
    candidates = unusual(ids.values)
    padded = candidates.filter(candidates.str.contains(_PADDED))
    return str(padded[0]) if len(padded) else None


def numbers(table: Table, name: str, largest: float = LARGEST) -> pl.Series:
    """A column of finite numbers as Float64 (null in rows that are dropped), none so large that sums overflow."""
    table.refuse_nulls(name)
    parsed = _parse(table, name, pl.Float64, "numbers")
    _refuse_unparsed(table, name, parsed, "must hold numbers")
    if largest < inf and (parsed.abs() <= largest).all():  # nan is larger than any number, and nulls do not count
        return parsed
    table.refuse(
        name,
        ~parsed.is_finite().fill_null(True),
        must="must hold finite numbers",
        reason=f"{name} not finite",
        code="not-a-number",
    )
    table.refuse(
        name,
        (parsed.abs() > largest).fill_null(False),
        must=f"must hold numbers between {-largest:g} and {largest:g}",
        reason=f"{name} too large",
        code="out-of-range",
        why="Sums of larger numbers are not finite any more.",
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
        whole = (floats == floats.floor()) & (floats.abs() < _FITS)
        table.refuse(
            name, ~whole.fill_null(True), must=must, reason=f"{name} not a whole number", code="not-an-integer"
        )
        integers = integers.fill_null(floats.cast(pl.Int64, strict=False))  # a text like '3.0'
    return integers


def times(table: Table, name: str = "time") -> tuple[pl.Series, pl.DataType | None]:
    """Points in time as Int64, and the type to give them back as (None for plain numbers).

    Dates and datetimes become microseconds since 1970 (UTC), whatever their unit was; numbers stay what they are.
    """
    raw = table.frame[name]
    if raw.dtype == pl.String:
        plain, unclear = _parse(table, name, pl.Float64, "whole numbers"), raw.str.contains(_DAY_OR_MONTH_FIRST)
        unclear = unclear.fill_null(False) & plain.is_null()
        remedy = _REWRITE.format(name=table.names[name])
        table.refuse(name, unclear, must=_AMBIGUOUS, reason=f"{name} not readable", code="bad-date", remedy=remedy)
        if plain.null_count() > raw.null_count() and (parsed := _datetimes(raw)).null_count() < plain.null_count():
            table.refuse_nulls(name)
            _refuse_unparsed(table, name, parsed, _TIMES, "bad-date")
            _refuse_outside_calendar(table, name, parsed)
            return parsed.cast(pl.Int64), parsed.dtype
    elif raw.dtype.is_temporal():
        if raw.dtype not in (pl.Date, pl.Datetime):
            raise _wrong_type(table, name, "whole numbers, dates or datetimes")
        table.refuse_nulls(name)
        _refuse_outside_calendar(table, name, raw)
        raw = raw.set(outside_calendar(raw), None)
        zone = raw.dtype.time_zone if isinstance(raw.dtype, pl.Datetime) else None
        micro = raw.cast(pl.Datetime("us", zone))
        return micro.cast(pl.Int64), raw.dtype if raw.dtype == pl.Date else micro.dtype
    numbers = whole_numbers(table, name, _TIMES)
    table.refuse(
        name,
        ~numbers.is_between(-_LATEST, _LATEST).fill_null(True),
        must="must hold times whose differences fit into 64 bits (up to 2^62)",
        reason=f"{name} too large",
        code="out-of-range",
    )
    return numbers, None


def _datetimes(texts: pl.Series) -> pl.Series:
    """Texts as datetimes, null where they are none, or where one has to guess which number is the month."""
    try:
        return texts.set(texts.str.contains(_DAY_OR_MONTH_FIRST), None).str.to_datetime(time_unit="us", strict=False)
    except pl.exceptions.ComputeError:  # no text looks like a datetime
        return pl.Series(texts.name, [None] * len(texts), dtype=pl.Datetime("us"))


def readable_numbers(name: str, dtype: pl.DataType) -> pl.Expr:
    """What ``numbers`` makes of a column, for rows that stream by: null where it would refuse."""
    column = pl.col(name).str.strip_chars() if dtype == pl.String else pl.col(name)
    parsed = column.cast(pl.Float64, strict=False)
    return pl.when(parsed.abs() <= LARGEST).then(parsed).alias(name)  # nan is larger than any number


def readable_times(name: str, dtype: pl.DataType, *, dates: bool = False) -> pl.Expr:
    """What ``times`` makes of a column, for rows that stream by: null where it refuses.

    Args:
        dates: whether texts are dates or datetimes, not whole numbers.
    """
    column = pl.col(name)
    if dtype == pl.String and dates:
        told = pl.when(~column.str.contains(_DAY_OR_MONTH_FIRST)).then(column)
        return told.str.to_datetime(time_unit="us", strict=False).cast(pl.Int64).alias(name)
    if isinstance(dtype, pl.Date | pl.Datetime):
        inside = column.to_physical().cast(pl.Int64).is_between(*limits(dtype))
        zone = dtype.time_zone if isinstance(dtype, pl.Datetime) else None
        return pl.when(inside).then(column).cast(pl.Datetime("us", zone)).cast(pl.Int64).alias(name)
    if dtype.is_integer() or dtype == pl.Boolean:
        numbers = column.cast(pl.Int64, strict=False)
    else:
        floats = (column.str.strip_chars() if dtype == pl.String else column).cast(pl.Float64, strict=False)
        whole = column.str.strip_chars().cast(pl.Int64, strict=False) if dtype == pl.String else None
        rounded = pl.when(floats == floats.floor()).then(floats).cast(pl.Int64, strict=False)
        numbers = rounded if whole is None else whole.fill_null(rounded)
    return pl.when(numbers.is_between(-_LATEST, _LATEST)).then(numbers).alias(name)


def whole_ids(name: str, dtype: pl.DataType) -> pl.Expr:
    """What ``check_ids`` lets pass of a column, floats as integers, for rows that stream by: null where it refuses."""
    column = pl.col(name)
    if dtype == pl.Date:
        return pl.when(column.to_physical().is_between(*limits(dtype))).then(column).alias(name)
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return pl.when(column.cast(pl.String) != "").then(column).alias(name)
    if not (dtype.is_float() or dtype.is_decimal()):
        return column
    return pl.when(_is_whole(name, dtype)).then(column.cast(pl.Int64, strict=False)).alias(name)


def _parse(table: Table, name: str, dtype: type[pl.Float64 | pl.Int64], expected: str) -> pl.Series:
    """Numbers of any type, also as text; null where a text is none."""
    raw = table.frame[name]
    if raw.dtype == pl.String:
        return raw.str.strip_chars().cast(dtype, strict=False)
    if raw.dtype.is_numeric() or raw.dtype in (pl.Boolean, pl.Null):
        return raw.cast(dtype, strict=False)
    raise _wrong_type(table, name, expected)


def _is_whole(name: str, dtype: pl.DataType) -> pl.Expr:
    """Whether floats or decimals are whole numbers, exactly, that fit into 64 bits (nan and inf are not)."""
    column = pl.col(name)
    if dtype.is_decimal():
        return column.cast(pl.Int64, strict=False).cast(dtype, strict=False).eq(column).fill_null(column.is_null())
    return (column == column.floor()) & (column.abs() < _EXACT.get(type(dtype), _FITS))


def _refuse_outside_calendar(table: Table, name: str, column: pl.Series) -> None:
    """Dates and datetimes of other years cannot be printed."""
    if column.dtype in (pl.Date, pl.Datetime):
        wrong = outside_calendar(column)
        table.refuse(name, wrong, must=_YEARS, reason=f"{name} outside the years 1 to 9999", code="bad-date")


def _refuse_unparsed(table: Table, name: str, parsed: pl.Series, must: str, code: str = "not-a-number") -> None:
    raw = table.frame[name]
    if parsed.null_count() > raw.null_count():
        wrong = parsed.is_null() & raw.is_not_null()
        texts = raw.filter(wrong).cast(pl.String).head(1) if raw.dtype == pl.String else pl.Series([], dtype=pl.String)
        remedy = _NO_COMMA if texts.str.contains(_WITH_COMMA).any() else ""
        table.refuse(name, wrong, must=must, reason=f"{name} not readable", code=code, remedy=remedy)


def _wrong_type(table: Table, name: str, expected: str) -> InputError:
    dtype = table.frame.schema[name]
    return InputError(
        f"{table.source}: {table.called(name)} must hold {expected}, but its type is {dtype}.\n"
        f"Convert it, or name another column with columns={{'{name}': '...'}}.",
        code="wrong-type",
        column=table.names[name],
    )
