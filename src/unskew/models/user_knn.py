"""User-based nearest neighbours (Cremonesi, Koren & Turrin 2010 name it as a baseline of top-N recommendation).

    cos(u, v)   = (items that both u and v have) / (√(n_u n_v) + shrink)
    score(u, i) = Σ over the nearest neighbours v of u that have i of cos(u, v), or of 1 with votes=count

The second, which counts how many of the neighbours have an item, is U-kNN of jeunen18 §3.1. The users most similar to a
user vote for their items. Nothing of the size users × users is made; the cost of a fit is that of all pairs of users
with a common item, which popular items make large.
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
from unskew.parts import Words, option


@dataclass(eq=False, repr=False)
class UserKNN(Model):
    """Rank items by how many of the most similar users have them, weighted by similarity or each counting once.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each user keeps")
    shrink: float = option(0.0, SHRINK, "added to the divisor of cosines, against chance", changed=True)
    votes: str = option("cosine", Words(("cosine", "count")), "what a neighbour's vote is worth", changed=True)
    users_: Ids = field(init=False)
    history_: Rows = field(init=False)  # the items of every user
    similar_: Rows = field(init=False)  # the nearest users of every user

    name = "user_knn"

    def footprint(self, log: Log) -> int:
        """The neighbours besides."""
        return super().footprint(log) + footprint(len(log.users), self.neighbours)

    def fit(self, log: Log) -> Self:
        """Find the nearest neighbours of every user."""
        liked = a_log(log).positives()
        self.users_, self.items_ = log.users, log.items
        self.history_ = Rows.of_users(liked)
        found = nearest(self.history_, Rows.of_items(liked), log.users, self.neighbours, self.shrink, self)
        self.similar_ = found if self.votes == "cosine" else Rows(found.start, found.column)
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items that the most similar users have."""
        items = self.catalogue
        return from_votes(self.similar_, self.history_, self.users_, items, some_ids(users), k, seen)
