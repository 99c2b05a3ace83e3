"""Reading a log: its table is checked, duplicate pairs are found, rows are coded and ordered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.kernels.arrays import present
from unskew.log import position as places
from unskew.log.columns import as_ids, check_ids, check_labels, code_pairs, numbers, times
from unskew.log.extremes import Extremes
from unskew.log.ids import Codes, Ids
from unskew.log.log import POSITION, Duplicates, Feedback, Invalid, Log
from unskew.log.order import group_keys, pick
from unskew.log.paths import Paths
from unskew.log.said import NOT_USED, say_columns
from unskew.log.sources import table_of_file
from unskew.log.table import Table, show

REQUIRED = ("user", "item")
OPTIONAL = ("value", "time", "policy", "position", "propensity")
IDS = ("user", "item", "policy")
REPEATED = "repeated-pairs"  # the code of a note
DUPLICATE = "duplicate pair"  # why rows are dropped
MOSTLY = 0.9  # of the rows: with more repeats than this, a column is hardly what it is taken for
LEAST = 1e-30  # of propensities: far below what any log could show, and sums of powers of weights stay finite
NONE = "(none)"  # stands for nulls in kept columns
Mask = npt.NDArray[np.bool_]


def read_log(
    path: Paths,
    *,
    columns: Mapping[str, Any] | None = None,
    feedback: Feedback | str | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    keep: Iterable[str] = (),
) -> Log:
    """Read a log from a file, or from several (docs/files.md says which formats).

    Args:
        path: one row per interaction with the columns ``user`` and ``item``, and where present ``value``, ``time``,
            ``policy``, ``position`` (the place of the page at which the item was shown) and ``propensity``.
        columns: our names → the names in the file, where they are not recognised: ``{"user": "guest"}``.
        feedback: what a row says (``implicit``, ``conversions``, ``ratings``). A log without values is implicit; a
            log with values says nothing by itself.
        invalid: rows with nulls, unreadable values or impossible propensities are an ``error``, or ``drop`` leaves
            them out and counts them in ``account``.
        duplicates: a repeated (user, item) pair is an ``error``, or one row stays: the ``first`` or ``last`` in the
            file, the one with the ``max`` value, or the ``earliest`` by its time. By default the earliest one in
            implicit logs (the first in the file where there are no times), else an error.
        keep: further columns to keep for segments.
    """
    table = table_of_file(path, REQUIRED, OPTIONAL, columns=columns, keep=keep, invalid=invalid)
    return log_of(table, feedback, duplicates)


def log_of(table: Table, feedback: Feedback | str | None, duplicates: Duplicates | None) -> Log:
    """Check, code and order the rows of a table.

    A repeated pair of an implicit log says nothing new, so that by default one row of it stays, the earliest (without
    times the first in the file); where rows have values, repeated rows may contradict each other, and the caller must
    say which one counts.
    """
    columns, stated, clock = check_columns(table, feedback, duplicates)
    columns = table.kept(columns)
    found = Extremes.of(columns.get(POSITION))
    if POSITION in columns and not places.are_places(found):
        del columns[POSITION]
        places.leave_alone(table, found)
    of_users, of_items = code_pairs(table, columns)
    del columns["user"], columns["item"]
    return ordered_log(table, of_users, of_items, columns, stated, clock, duplicates)


class CheckedColumns(NamedTuple):
    """The used columns of a table, what its rows say, and the type of its times."""

    columns: dict[str, pl.Series]
    feedback: Feedback | None
    clock: pl.DataType | None


def check_columns(table: Table, feedback: Feedback | str | None, duplicates: Duplicates | None) -> CheckedColumns:
    """Check every used column; wrong rows are refused, or marked to be dropped."""
    if duplicates is not None and duplicates not in get_args(Duplicates):
        raise InputError(
            f"duplicates must be one of {', '.join(get_args(Duplicates))}, not '{duplicates}'.",
            code="unknown-name",
            option="duplicates",
        )
    stated = _feedback(table, feedback)
    if duplicates == "max" and ("value" not in table or stated is Feedback.IMPLICIT):
        raise InputError(
            f"{table.source}: duplicates 'max' keeps the largest value, but no value column is used.\n"
            "Keep one by its place instead: duplicates='first' or duplicates='last'.",
            code="missing-column",
            column="value",
        )
    if duplicates == "earliest" and "time" not in table:
        raise InputError(
            f"{table.source}: duplicates 'earliest' keeps the first by time, but there is no column 'time'.\n"
            "Say which column it is with columns={'time': '...'}, or keep the first in the file: duplicates='first'.",
            code="missing-column",
            column="time",
        )
    checked, clock = _check(table, stated)
    return CheckedColumns(checked, stated, clock)


def ordered_log(
    table: Table,
    of_users: tuple[Ids, Codes],
    of_items: tuple[Ids, Codes],
    columns: dict[str, pl.Series],
    stated: Feedback | None,
    clock: pl.DataType | None,
    duplicates: Duplicates | None,
) -> Log:
    """The log of coded rows: ordered, and every pair once.

    Args:
        table: what messages call rows, and where dropped ones are counted.
        of_users, of_items: vocabulary and codes of the rows.
        columns: the others.
    """
    (users, user), (items, item) = of_users, of_items
    for name, column in columns.items():
        if name in IDS or column.dtype == pl.String:
            columns[name] = as_ids(column, from_text=table.header)
    indptr, order, item = group_keys(user, item, len(users), len(items))
    columns = {name: pick(column, order) for name, column in columns.items()}
    log = Log(
        users,
        items,
        indptr,
        item,
        value=_array(columns.pop("value", None)),
        time=_array(columns.pop("time", None)),
        policy=columns.pop("policy", None),
        position=columns.pop(POSITION, None),
        propensity=_array(columns.pop("propensity", None)),
        columns=columns,
        feedback=stated,
        clock=clock,
    )
    again = np.zeros(len(log), dtype=np.bool_)
    again[1:] = item[1:] == item[:-1]
    again[indptr[:-1][np.diff(indptr) > 0]] = False
    if again.any():
        if duplicates is None and stated is Feedback.IMPLICIT:
            duplicates = "first" if log.time is None else "earliest"
            kept = "first in the file" if log.time is None else "earliest"
            table.notes.append(repeated_note(int(again.sum()), kept))
        log = log.take(_one_of_each(table, log, again, order, duplicates or "error"))
    return replace(log, account=table.account())


def repeated_note(count: int, kept: str) -> Notice:
    """What is said of repeated pairs of which one row was kept without anybody asking for it."""
    text = f"{count:,} rows repeat a pair of user and item: the {kept} of each pair was kept"
    return Notice(text, code=REPEATED, rows=count, kept=kept)


def mostly_repeated(count: int, rows: int, columns: Mapping[str, str]) -> Notice:
    """What is asked where nearly all rows repeat a pair; ``columns`` are our names → theirs where they differ."""
    user, item = (f" ('{plain(columns[name])}')" if name in columns else "" for name in ("user", "item"))
    return Notice(
        f"{count:,} of {rows:,} rows repeat a pair ({count / rows:.1%}). Is the column of the user{user} really the "
        f"user, and that of the item{item} the item? With a feature or a group in their place the numbers mean "
        "nothing: say which columns are meant with columns=….",
        code="mostly-repeated",
        rows=count,
    )


def _feedback(table: Table, feedback: Feedback | str | None) -> Feedback | None:
    stated = None if feedback is None else Feedback.make(feedback)
    if "value" not in table:
        if stated in (Feedback.CONVERSIONS, Feedback.RATINGS):
            raise InputError(
                f"{table.source}: feedback '{stated}' needs a column 'value', and there is none.\n"
                "Say which column holds the outcome with columns={'value': '...'}, or use feedback='implicit'.",
                code="missing-column",
                column="value",
            )
        if stated is None and table.amounts and "value" not in table.said:
            role = getattr(table.said, "role", "")
            key, theirs = f"{role}:value" if role else "value", plain(table.amounts[0])
            note = Notice(
                f"column '{theirs}' was not used, and every row counts as a positive; say columns={{'{key}': "
                f"{theirs!r}}} if it says what a row was worth",
                code=NOT_USED,
                column=theirs,
            )
            table.notes.append(note)
            say_columns(table.source, {}, note)
        return Feedback.IMPLICIT
    if stated is Feedback.IMPLICIT:
        text = f"{table.called('value')} is ignored: with implicit feedback every row is a positive"
        table.notes.append(Notice(text, code="value-ignored"))
    return stated


def _check(table: Table, feedback: Feedback | None) -> tuple[dict[str, pl.Series], pl.DataType | None]:
    """The columns that are used, each checked; and the type of the times."""
    columns, clock = {}, None
    for name in table.names:
        if name == "value" and feedback is Feedback.IMPLICIT:
            continue
        if name == "position" and places.is_wanted(table.said):
            columns[POSITION] = places.positions(table)
            if name not in table.keep:
                continue
        if name in ("value", "propensity"):
            columns[name] = numbers(table, name)
        elif name == "time":
            columns[name], clock = times(table)
        else:
            if name in IDS:
                check_ids(table, name)
                table.refuse_nulls(name)
            else:
                check_labels(table, name)
            column = table.frame[name]
            columns[name] = (
                column.cast(pl.String).fill_null(NONE) if column.null_count() and name not in IDS else column
            )
    if feedback is Feedback.CONVERSIONS:
        table.refuse(
            "value",
            (columns["value"] < 0).fill_null(False),
            must="must not be negative",
            reason="negative value",
            code="out-of-range",
            why="A conversion is 0, 1 or a graded gain.",
        )
    if "propensity" in columns:
        p = columns["propensity"]
        wrong = ((p < LEAST) | (p > 1)).fill_null(False)
        if wrong.any():
            table.refuse(
                "propensity",
                wrong,
                must="must lie in (0, 1]",
                reason="propensity outside (0, 1]",
                code="out-of-range",
                why=_why_impossible(float(p.filter(wrong)[0])),
            )
    return columns, clock


def _why_impossible(propensity: float) -> str:
    if propensity > 1.0:
        return "A number above 1 is no probability: is it a weight (1/P), a percentage or a count?"
    if propensity < 0.0:
        return "A number below 0 is no probability: is it a logarithm?"
    if propensity == 0.0:
        return "A probability of zero means that this pair could never have been logged."
    return f"What has a probability below {LEAST:g} is never logged, and its weight would drown all other rows."


def _array(column: pl.Series | None) -> npt.NDArray[Any] | None:
    return None if column is None else column.to_numpy(writable=True)


def _one_of_each(
    table: Table, log: Log, again: Mask, order: npt.NDArray[np.int64] | None, duplicates: Duplicates
) -> Mask:
    """Which row of each pair stays; ``again`` marks rows whose pair is that of the row before."""
    if duplicates == "error":
        _repeated(table, log, again, order)
    table.count(DUPLICATE, int(again.sum()))
    if duplicates == "first":
        return ~again
    if duplicates == "last":
        return np.append(~again[1:], True)
    wanted = log.value if duplicates == "max" else -present(log.time)
    assert wanted is not None
    starts = np.flatnonzero(~again)
    run = np.cumsum(~again) - 1
    best = np.flatnonzero(wanted == np.maximum.reduceat(wanted, starts)[run])
    keep = np.zeros(len(log), dtype=np.bool_)
    keep[best[np.diff(run[best], prepend=-1) > 0]] = True
    return keep


def _repeated(table: Table, log: Log, again: Mask, order: npt.NDArray[np.int64] | None) -> None:
    """Name the first row of the file that repeats a pair, and the row that it repeats."""
    rows = np.arange(len(log)) if order is None else order
    at = int(np.flatnonzero(again)[np.argmin(rows[again])])
    user, item = show(log.users.values[int(log.user[at])]), show(log.items.values[int(log.item[at])])
    both = [table.origin(int(rows[at - 1])), table.origin(int(rows[at]))]
    raise InputError(
        f"{table.source}: the pair of user {user} and item {item} is there twice, in {table.place(*both)}.\n"
        "A log holds a pair once. Keep one of them with duplicates='first', last or max (the largest value); "
        "the result will say how many were dropped.",
        code="repeated-pair",
        rows=[table.row_of(row)[0] for row in both],
    )
