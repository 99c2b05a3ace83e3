"""User-based nearest neighbours (Cremonesi, Koren & Turrin 2010 name it as a baseline of top-N recommendation).

    cos(u, v)   = (items that both u and v have) / (√(n_u n_v) + shrink)
    score(u, i) = Σ over the nearest neighbours v of u that have i of cos(u, v), or of 1 with votes=count
    values=ratings: the cosine of ratings (``neighbours.py``), and each vote times the rating r_vi

The second, which counts how many of the neighbours have an item, is U-kNN of jeunen18 §3.1. The users most similar to a
user vote for their items. Nothing of the size users × users is made. Neighbours are found for those users who are
asked about, when they are: the cost is that of all their pairs with a user who has a common item, which popular items
make large.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from unskew.core.parts import Words, option
from unskew.log import Ids
from unskew.log.expected import some_ids
from unskew.log.log import Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Rated, ones_or_ratings
from unskew.models.neighbours import NEIGHBOURS, SHRINK, Rows, footprint, from_votes, nearest


@dataclass(eq=False, repr=False)
class UserKNN(Rated):
    """Rank items by how many of the most similar users have them, weighted by similarity or each counting once.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each user keeps")
    shrink: float = option(0.0, SHRINK, "added to the divisor of cosines, against chance", changed=True)
    votes: str = option("cosine", Words(("cosine", "count")), "what a neighbour's vote is worth", changed=True)
    values: str = ones_or_ratings()
    users_: Ids = field(init=False)
    history_: Rows = field(init=False)  # the items of every user
    owners_: Rows = field(init=False)  # the users of every item

    name = "user_knn"

    def footprint(self, log: Log) -> int:
        """The neighbours besides."""
        return super().footprint(log) + footprint(len(log.users), self.neighbours)

    def fit(self, log: Log) -> Self:
        """Keep what users have, from which neighbours are found."""
        liked = self.learnt(log)
        self.users_, self.items_ = log.users, log.items
        self.history_, self.owners_ = Rows.of_users(liked), Rows.of_items(liked)
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items that the most similar users have."""
        items, users = self.catalogue, some_ids(users)
        known = users.into(self.users_)
        known = known[known >= 0]
        similar = nearest(self.history_, self.owners_, self.users_, self.neighbours, self.shrink, self, known)
        voters = similar if self.votes == "cosine" else Rows(similar.start, similar.column)
        return from_votes(voters, self.history_, Ids(self.users_.values.gather(known)), items, users, k, seen)
