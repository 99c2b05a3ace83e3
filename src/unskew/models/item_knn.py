"""Item-based nearest neighbours (Deshpande & Karypis 2004, "Item-based top-N recommendation algorithms").

    cos(i, j)   = (users with both i and j) / (√(n_i n_j) + shrink)
    score(u, i) = Σ over the user's items j that have i among their nearest neighbours of cos(i, j)

Every item of a user's history votes for the items most similar to it. Nothing of the size items × items is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from unskew.log import Ids
from unskew.log.expected import a_log, some_ids
from unskew.log.log import Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Model
from unskew.models.neighbours import NEIGHBOURS, SHRINK, Rows, footprint, from_votes, nearest
from unskew.parts import option


@dataclass(eq=False, repr=False)
class ItemKNN(Model):
    """Rank items by their similarity to the user's training items.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each item keeps")
    shrink: float = option(0.0, SHRINK, "added to the divisor of cosines, against chance", changed=True)
    users_: Ids = field(init=False)
    history_: Rows = field(init=False)  # the items of every user
    similar_: Rows = field(init=False)  # the nearest items of every item

    name = "item_knn"

    def footprint(self, log: Log) -> int:
        """The neighbours besides."""
        return super().footprint(log) + footprint(len(log.items), self.neighbours)

    def fit(self, log: Log) -> Self:
        """Find the nearest neighbours of every item."""
        liked = a_log(log).positives()
        self.users_, self.items_ = log.users, log.items
        self.history_ = Rows.of_users(liked)
        self.similar_ = nearest(Rows.of_items(liked), self.history_, log.items, self.neighbours, self.shrink, self)
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items most similar to the user's training items."""
        items = self.catalogue
        return from_votes(self.history_, self.similar_, self.users_, items, some_ids(users), k, seen)
