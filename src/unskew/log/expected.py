"""Checks of what Python callers give: a log, ids, pairs of ids; anything else is refused, with how to get one."""

from __future__ import annotations

from typing import Any

import polars as pl

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.log.ids import Codes, Ids
from unskew.log.log import Log


def a_log(given: Any) -> Log:
    """The given log; anything else is refused."""
    if not isinstance(given, Log):
        raise InputError(
            f"a Log is needed (us.read_log(path), us.Log.from_frame(frame)), not {shown(given)}.", code="wrong-type"
        )
    return given


def some_ids(given: Any) -> Ids:
    """The ids of users that lists are asked for."""
    if not isinstance(given, Ids):
        raise InputError(f"users must be the Ids of a log (log.users), not {shown(given)}.", code="wrong-type")
    return given


def coded_pairs(users: Any, items: Any) -> tuple[tuple[Ids, Codes], tuple[Ids, Codes]]:
    """Vocabularies and codes of the pairs (users[j], items[j])."""
    left, right = id_column(users, "users"), id_column(items, "items")
    if len(left) != len(right):
        raise InputError(
            f"users and items must be pairs: there are {len(left):,} and {len(right):,}.", code="wrong-shape"
        )
    return Ids.code(left), Ids.code(right)


def id_column(given: Any, name: str) -> pl.Series:
    """Ids as one column of whole numbers or texts, without gaps."""
    refused = given is None or isinstance(given, str | pl.DataFrame)
    try:
        column = pl.Series() if refused else given if isinstance(given, pl.Series) else pl.Series(name, given)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        column, refused = pl.Series(), True
    if refused or column.null_count() or column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Boolean):
        raise InputError(
            f"{name} must be a sequence of ids, whole numbers or texts, none missing, not {shown(given)}.",
            code="wrong-type",
        )
    return column
