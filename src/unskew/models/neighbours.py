"""Nearest neighbours by cosine over a log of positives: what item_knn and user_knn share.

    cos(i, j) = (users with both i and j) / (√(n_i n_j) + shrink)
    cos(i, j) = Σ_u r_ui r_uj / (√(Σ_u r_ui² Σ_u r_uj²) + shrink)          values=ratings

and the same for users over their items. ``shrink`` holds back neighbours that agree on little: with shrink = 10, two
items that one user each has, the same one, are alike by 1/11 and not by 1. The second is the vector cosine of RankSys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import Number, Whole
from unskew.core.memory import require
from unskew.core.threads import by_blocks
from unskew.kernels import neighbours as kernel
from unskew.kernels.coding import place
from unskew.kernels.topk import SEED
from unskew.log import Ids
from unskew.log.ids import Codes
from unskew.log.log import Floats, Integers, Log
from unskew.log.order import starts_of
from unskew.log.recommendations import Recommendations
from unskew.models.base import from_scores

NEIGHBOURS = Whole(1, 1_000_000, "Each keeps so many numbers.")
SHRINK = Number(low=0.0, high=1e9, why="A stronger one leaves no neighbours.")
ONES = np.empty(0, dtype=np.int32)  # weights that are all 1


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a sparse matrix; entries of row r stand at ``start[r]`` … ``start[r + 1] − 1``, columns ascending."""

    start: Integers
    column: Codes
    weight: npt.NDArray[Any] = field(default_factory=lambda: ONES)

    @classmethod
    def of_users(cls, log: Log) -> Rows:
        """The items of every user, weighted by the column ``value`` where there is one."""
        return cls(log.indptr, log.item, ONES if log.value is None else log.value)

    @classmethod
    def of_items(cls, log: Log) -> Rows:
        """The users of every item, weighted likewise."""
        start = starts_of(np.bincount(log.item, minlength=len(log.items)))
        order = np.empty(len(log), dtype=np.int64)
        place(log.item, np.arange(len(log)), start[:-1].copy(), order)
        return cls(start, log.user[order], ONES if log.value is None else log.value[order])

    @property
    def squares(self) -> npt.NDArray[Any]:
        """Σ of the squared weights of every row."""
        length = np.diff(self.start)
        row = np.repeat(np.arange(len(length)), length)
        return np.bincount(row, self.weight**2, len(length)) if len(self.weight) else length

    def log(self, users: Ids, items: Ids) -> Log:
        """The log of which these are the items of every user."""
        return Log(users, items, self.start, self.column, self.weight if len(self.weight) else None)

    def among(self, places: Codes, count: int) -> Rows:
        """The same rows at these ``places`` (ascending) among ``count``; the others are empty."""
        if len(places) == count:
            return self
        lengths = np.zeros(count, dtype=np.int64)
        lengths[places] = np.diff(self.start)
        return Rows(starts_of(lengths), self.column, self.weight)

    def columns_of(self, rows: Codes, columns: int) -> Codes:
        """The columns in which any of these rows has an entry, ascending."""
        there = np.zeros(columns, dtype=np.bool_)
        kernel.mark_columns(rows, self.start, self.column, there)
        return np.flatnonzero(there).astype(np.int32)


def footprint(rows: int, neighbours: int) -> int:
    """Bytes that neighbours take while they are found."""
    return 24 * rows * min(neighbours, rows)


def nearest(
    rows: Rows, back: Rows, ids: Ids, neighbours: int, shrink: float, model: object, asked: Codes | None = None
) -> Rows:
    """Of every row, or of those ``asked``, the rows most alike, and how much; ``back`` holds the entries by column."""
    every = len(rows.start) - 1
    asked = np.arange(every, dtype=np.int32) if asked is None else asked
    count = len(asked)
    near, alike = kept_places(count, neighbours, model, every)
    columns = rows.start, rows.column, rows.weight, back.start, back.column, back.weight
    given = (asked, *columns, rows.squares, shrink, ids.hashes, SEED, near, alike)
    with by_blocks(None) as each:
        each(count, lambda first, last: kernel.nearest(first, last, *given))
    return all_kept(near, alike)


def kept_places(count: int, neighbours: int, model: object, among: int | None = None) -> tuple[Codes, Floats]:
    """Room for the neighbours of so many rows, ``among`` as many or more, and for how much they are alike."""
    kept = min(neighbours, max(1, (count if among is None else among) - 1))
    require(footprint(count, kept), f"'{model}'", "Take fewer neighbours.")
    return np.empty((count, kept), dtype=np.int32), np.empty((count, kept))


def all_kept(near: Codes, alike: Floats) -> Rows:
    """The places that were filled, as rows."""
    there = near >= 0
    return Rows(starts_of(np.count_nonzero(there, axis=1)), near[there], alike[there])


def from_votes(
    voters: Rows, ballots: Rows, known: Ids, items: Ids, users: Ids, k: int, seen: Log | None
) -> Recommendations:
    """Lists by the sum of what a user's voters choose; users that are unknown, or without voters, score 0 throughout.

    Args:
        voters: of every known user.
        ballots: of every voter, over the items.
        known: the users of the rows of ``voters``.
    """
    row = users.into(known)

    def score(block: slice) -> Floats:
        out = np.empty((block.stop - block.start, len(items)))
        ballot = ballots.start, ballots.column, ballots.weight
        kernel.vote(row[block], voters.start, voters.column, voters.weight, *ballot, out)
        return out

    return from_scores(score, items, users, k, seen)
