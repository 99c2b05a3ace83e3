"""Covariates of users or items: one row of finite numbers per id, in the order of the ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log.columns import check_ids, code_ids, numbers
from unskew.log.ids import Ids
from unskew.log.log import Account, Floats, Invalid
from unskew.log.match import match_columns
from unskew.log.paths import is_path, shown
from unskew.log.sources import columns_of, table_of

MOST_LEVELS = 50  # of a text column, each becomes a column of 0 and 1


@dataclass(frozen=True, eq=False)
class Features:
    """A matrix of covariates, ``matrix[code]`` for each id."""

    ids: Ids
    matrix: Floats
    names: tuple[str, ...]
    account: Account = field(default_factory=lambda: Account("memory", 0))

    def of(self, ids: Ids, what: str) -> Floats:
        """The rows of the given ids; an id without covariates is an error that names it."""
        place = ids.into(self.ids)
        if (place < 0).any():
            missing = int(np.count_nonzero(place < 0))
            first = ids.values[int(np.argmax(place < 0))]
            raise InputError(
                f"{self.account.source}: {missing:,} {what}s have no row, the first is '{plain(first)}'.\n"
                f"Give covariates for every {what} of the logs and lists, or use a model without them.",
                code="unknown-id",
                ids=missing,
            )
        return self.matrix[place]


def read_features(
    source: Any, key: str, *, columns: Mapping[str, Any] | None = None, invalid: Invalid = "error"
) -> Features:
    """Covariates from a file or frame with a column ``user`` (or ``item``); text columns become columns of 0 and 1.

    Args:
        source: a path, a dataframe, or ``Features`` that are there already.
        key: ``user`` or ``item``.
        columns: ``{key: …}``, the name that the column of ids has, where it is not recognised.
        invalid: wrong rows are an ``error``, or ``drop`` leaves them out and counts them.
    """
    if isinstance(source, Features):
        return source
    there = columns_of(source, columns) if is_path(source) else list(map(str, getattr(source, "columns", ())))
    called = shown(source) if is_path(source) else f"{key} features"
    theirs = match_columns(called, there, (key,), (), columns, ())[key] if there else key
    others = tuple(name for name in there if name != theirs)
    table = table_of(source, called, (key,), (), columns=columns, keep=others, invalid=invalid)
    table.refuse_nulls(*table.names)
    check_ids(table, key)
    table.refuse_repeats(key)
    found: dict[str, pl.Series] = {key: table.frame[key]}
    for name in others:
        found |= _numeric(table, name)
    if len(found) == 1:
        raise InputError(
            f"{table.source}: there is no column beside '{key}', so there are no covariates.", code="no-covariates"
        )
    kept = table.kept(found)
    ids, code = code_ids(table, key, kept.pop(key))
    order = np.argsort(code)
    matrix = np.column_stack([column.to_numpy()[order] for column in kept.values()]).astype(np.float64)
    return Features(ids, matrix, tuple(kept), table.account())


def _numeric(table: Any, name: str) -> dict[str, pl.Series]:
    """A numeric column as it is; a text column as one column of 0 and 1 per level."""
    column = table.frame[name]
    if column.dtype != pl.String or column.cast(pl.Float64, strict=False).null_count() == column.null_count():
        return {name: numbers(table, name)}
    levels = column.unique().sort().drop_nulls()
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"{table.source}: {table.called(name)} is text with {len(levels):,} different values; at most "
            f"{MOST_LEVELS} make covariates.\nDrop the column or group its values.",
            code="too-many-levels",
            column=table.names[name],
        )
    return {f"{name}={level}": (column == level).cast(pl.Float64) for level in levels}
