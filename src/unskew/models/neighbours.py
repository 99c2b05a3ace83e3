"""Nearest neighbours by cosine over a log of positives: what item_knn and user_knn share.

    cos(i, j) = (users with both i and j) / (√(n_i n_j) + shrink)

and the same for users over their items. ``shrink`` holds back neighbours that agree on little: with shrink = 10, two
items that one user each has, the same one, are alike by 1/11 and not by 1. The two models differ in whose neighbours
are found, and in who votes: a user's items for their neighbours, or a user's neighbours for their items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from unskew.bounds import Number, Whole
from unskew.kernels import neighbours as kernel
from unskew.kernels.coding import place
from unskew.kernels.topk import SEED
from unskew.log import Ids
from unskew.log.expected import a_log, some_ids
from unskew.log.ids import Codes
from unskew.log.log import Floats, Integers, Log
from unskew.log.order import starts_of
from unskew.log.recommendations import Recommendations
from unskew.memory import require
from unskew.models.base import Model, from_scores
from unskew.threads import by_blocks

NEIGHBOURS = Whole(1, 1_000_000, "Each keeps so many numbers.")
SHRINK = Number(low=0.0, high=1e9, why="A stronger one leaves no neighbours.")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a sparse matrix; entries of row r stand at ``start[r]`` … ``start[r + 1] − 1``, columns ascending."""

    start: Integers
    column: Codes
    weight: Floats = field(default_factory=lambda: np.empty(0))  # empty where all are 1

    @classmethod
    def of_users(cls, log: Log) -> Rows:
        """The items of every user."""
        return cls(log.indptr, log.item)

    @classmethod
    def of_items(cls, log: Log) -> Rows:
        """The users of every item."""
        start = starts_of(np.bincount(log.item, minlength=len(log.items)))
        order = np.empty(len(log), dtype=np.int64)
        place(log.item, np.arange(len(log)), start[:-1].copy(), order)
        return cls(start, log.user[order])


def footprint(rows: int, neighbours: int) -> int:
    """Bytes that neighbours take while they are found."""
    return 24 * rows * min(neighbours, rows)


def nearest(rows: Rows, back: Rows, ids: Ids, neighbours: int, shrink: float, model: object) -> Rows:
    """Of every row the rows most alike, and how much; ``back`` holds the same entries by column."""
    count = len(rows.start) - 1
    kept = min(neighbours, max(1, count - 1))
    require(footprint(count, kept), f"'{model}'", "Take fewer neighbours.")
    near, alike = np.empty((count, kept), dtype=np.int32), np.empty((count, kept))
    given = (rows.start, rows.column, back.start, back.column, shrink, ids.hashes, SEED, near, alike)
    with by_blocks(None) as each:
        each(count, lambda first, last: kernel.nearest(first, last, *given))
    there = near >= 0
    return Rows(starts_of(np.count_nonzero(there, axis=1)), near[there], alike[there])


@dataclass(eq=False, repr=False)
class NearestNeighbours(Model):
    """Rank items by votes over nearest neighbours; a model says whose neighbours these are, and who votes.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    users_: Ids = field(init=False)
    history_: Rows = field(init=False)  # the items of every user
    similar_: Rows = field(init=False)  # the nearest neighbours of every item, or of every user

    neighbours: int
    shrink: float
    by_items: ClassVar[bool]  # whether neighbours are those of items

    def footprint(self, log: Log) -> int:
        """The neighbours besides."""
        return super().footprint(log) + footprint(len(log.items if self.by_items else log.users), self.neighbours)

    def fit(self, log: Log) -> Self:
        """Find the nearest neighbours of every item, or of every user."""
        liked = a_log(log).positives()
        self.users_, self.items_ = log.users, log.items
        self.history_, fans = Rows.of_users(liked), Rows.of_items(liked)
        sides = (fans, self.history_, log.items) if self.by_items else (self.history_, fans, log.users)
        self.similar_ = nearest(*sides, self.neighbours, self.shrink, self)
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the most votes."""
        items = self.catalogue
        votes = (self.history_, self.similar_) if self.by_items else (self.similar_, self.history_)
        return from_votes(*votes, self.users_, items, some_ids(users), k, seen)


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
