"""Nearest neighbours by cosines of ratings, as RankSys has them: how high a rating was counts too.

    cos(i, j)      = Σ_u r_ui r_uj / √(Σ_u r_ui² · Σ_u r_uj²)
    item: s(u, i)  = Σ over the user's items j that have i among their nearest neighbours of cos(i, j) · r_uj
    user: s(u, i)  = Σ over the nearest neighbours v of u of cos(u, v) · r_vi

``user_knn`` and ``item_knn`` of unskew have 1 in place of r. This one holds all cosines at once: for small sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core import Whole, Words, option
from unskew.log import Ids, Log, Recommendations
from unskew.models import Model, from_scores
from unskew_papers.arrays import Floats, present


@dataclass(eq=False, repr=False)
class RatedKNN(Model):
    """Rank items by the ratings of similar users, or of similar items."""

    by: str = option("item", Words(("user", "item")), "whose cosines")
    neighbours: int = option(50, Whole(1, 1_000_000), "nearest neighbours that each keeps")
    users_: Ids = field(init=False)
    scores_: Floats = field(init=False)

    name = "rated_knn"
    learns_values = True

    def fit(self, log: Log) -> Self:
        """Score all pairs."""
        ratings = np.zeros((len(log.users), len(log.items)))
        ratings[log.user, log.item] = present(log.value)
        similar = nearest(ratings if self.by == "user" else ratings.T, self.neighbours)
        self.users_, self.items_ = log.users, log.items
        self.scores_ = similar @ ratings if self.by == "user" else ratings @ similar
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the highest scores, for users of the training log."""
        row = users.into(self.users_)
        return from_scores(lambda block: self.scores_[row[block]], self.catalogue, users, k, seen)


def nearest(rows: Floats, neighbours: int) -> Floats:
    """Cosines of all rows with the nearest others, 0 elsewhere; row j holds the neighbours of j."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    alike = unit @ unit.T
    np.fill_diagonal(alike, 0.0)
    order = np.argsort(-alike, axis=1, kind="stable")
    np.put_along_axis(alike, order[:, neighbours:], 0.0, axis=1)
    return np.asarray(alike)
