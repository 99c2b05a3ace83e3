"""Which id belongs to which row of a foreign model, said by the caller and checked.

Other libraries number users and items 0 … n−1. A list of ids of the wrong length cannot belong to these numbers; one of
the right length in the wrong order can only be found out where the rows that the model was fitted on are given
(``rows_check``): their cells are then held against the log whose items are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log import Ids
from unskew.log.ids import Codes
from unskew.log.log import Log
from unskew.log.recommendations import exclusions
from unskew.models.given_factors import ids_of

FEWEST = 20  # cells below which an agreement says nothing
LEAST = 0.99  # a true mapping gives all of the smaller side, but for a few; one with some wrong ids gives less


@dataclass(frozen=True, eq=False)
class OwnIds:
    """Ids in the order of a model's rows or columns.

    Args:
        ids: the vocabulary, ascending.
        row: for each id of the vocabulary its row in the model.
        given: the ids as the caller wrote them, in the order of the rows.
    """

    ids: Ids
    row: Codes
    given: npt.NDArray[Any]

    @classmethod
    def of(cls, what: str, given: Any, many: int | None, rows: str) -> OwnIds:
        """Ids of ``users`` or ``items``, each once, as many as the model has ``rows`` (any number if None)."""
        one = what.removesuffix("s")
        if given is None:
            raise InputError(
                f"{what}=… is missing: the model numbers its {what} 0, 1, 2, …, and only you know whose number is "
                "whose. Give their ids in this order. "
                f"A model that was fitted on us.models.matrix(log) has log.{what}.",
                code="missing-argument",
                argument=what,
            )
        column = ids_of(what, given)
        if not len(column):
            raise InputError(f"{what}: there is none.", code="empty-ids", argument=what)
        if many is not None and len(column) != many:
            raise InputError(
                f"{what}: there are {len(column):,} ids, and {rows} for {many:,}. These are not the {what} that the "
                f"model was fitted on, or some are missing: with other ids every list would belong to somebody else.\n"
                f"Give one id for each {one} of the model, in the model's order.",
                code="wrong-shape",
                argument=what,
            )
        if not column.is_unique().all():
            twice = column.filter(column.is_duplicated())[0]
            raise InputError(
                f"{what}: '{plain(twice)}' occurs more than once. Each {one} of the model has one id.",
                code="repeated-id",
                argument=what,
            )
        ids, code = Ids.code(column)
        return cls(ids, np.argsort(code).astype(np.int32), _as_given(given, column))

    def rows_of(self, asked: Ids) -> Codes:
        """The model's row of each id, −1 where it has none."""
        return np.append(self.row, np.int32(-1))[asked.into(self.ids)]


def rows_check(rows: Any, users: OwnIds, items: OwnIds) -> Callable[[Log | None], None]:
    """A check of the ids against a log, by the matrix that the model was fitted on (None: nothing is checked)."""
    if rows is None:
        return lambda seen: None
    shape = getattr(rows, "shape", None)
    if shape != (len(users.ids), len(items.ids)):
        raise InputError(
            f"rows must be the matrix that the model was fitted on, a row for each of the {len(users.ids):,} users and "
            f"a column for each of the {len(items.ids):,} items, not {shown(rows) if shape is None else shape}.",
            code="wrong-shape",
            argument="rows",
        )
    return lambda seen: None if seen is None else _same_rows(rows, users, items, seen)


def _same_rows(rows: Any, users: OwnIds, items: OwnIds, seen: Log) -> None:
    """Refuse a mapping under which the cells of ``rows`` are not the pairs of ``seen``.

    What counts is the share of the smaller of the two, over users and items that both have, since the model may have
    been fitted on more rows or on fewer.
    """
    from scipy.sparse import csr_matrix

    cells = csr_matrix(rows)
    cells = cells[users.row][:, items.row]
    unlogged = np.flatnonzero(items.ids.into(seen.items) < 0)
    cells.data[np.isin(cells.indices, unlogged)] = 0
    cells.eliminate_zeros()
    cells.sort_indices()
    indptr, item = exclusions(seen, users.ids, items.ids)
    filled, told = np.diff(cells.indptr), np.diff(indptr)
    both = (filled > 0) & (told > 0)
    width = len(items.ids)
    ours = np.repeat(np.arange(len(told)), told) * np.int64(width) + item
    theirs = np.repeat(np.arange(len(filled)), filled) * np.int64(width) + cells.indices
    fewer = min(int(filled[both].sum()), int(told[both].sum()))
    common = len(np.intersect1d(ours, theirs, assume_unique=True))
    if fewer >= FEWEST and common < LEAST * fewer:
        raise InputError(
            f"the rows that the model was fitted on and the training log have {common:,} pairs in common, of {fewer:,} "
            f"that could be: {fewer - common:,} are missing. It seems that users=… or items=… are not in the model's "
            "order: lists would belong to somebody else.\nGive the ids in the order of the rows and columns of the "
            "matrix. If the model was fitted on another log, evaluate it with that log as train=…, or adapt a function "
            "users → scores.",
            code="ids-out-of-order",
        )


def _as_given(given: Any, column: pl.Series) -> npt.NDArray[Any]:
    """The ids as the caller has them: a callable is asked in its own spelling."""
    if isinstance(given, Ids):
        return given.values.to_numpy()
    if isinstance(given, pl.Series):
        return given.to_numpy()
    kept = np.asarray(given)
    if kept.shape == (len(column),) and kept.dtype.kind != "U":
        return kept
    objects = np.empty(len(column), dtype=object)
    objects[:] = list(given)
    return objects
