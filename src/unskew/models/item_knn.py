"""Item-based nearest neighbours (Deshpande & Karypis 2004, "Item-based top-N recommendation algorithms").

    cos(i, j)   = (users with both i and j) / (√(n_i n_j) + shrink)
    score(u, i) = Σ over the user's items j that have i among their nearest neighbours of cos(i, j)
    values=ratings: the cosine of ratings (``neighbours.py``), and each term times the rating r_uj

Every item of a user's history votes for the items most similar to it. A fit makes nothing of the size items × items.
This is I-kNN of jeunen18 (Eq. 2) with the neighbours that its §3.1 keeps: the factor 1/|I_u| there is the same for all
items of a user, so that it changes no list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core.parts import option
from unskew.log import Ids
from unskew.log.expected import a_log, some_ids
from unskew.log.ids import Codes
from unskew.log.log import Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Rated, Updatable, ones_or_ratings, united
from unskew.models.common_counts import Counts, added, count, joined, nearest_by_counts, worth_counting
from unskew.models.neighbours import NEIGHBOURS, SHRINK, Rows, footprint, from_votes, nearest


@dataclass(eq=False, repr=False)
class ItemKNN(Rated, Updatable):
    """Rank items by their similarity to the user's training items.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.

    A fit keeps what users have and who has each item (8 bytes a row); neighbours are found when lists are made, of the
    items in the histories of the users who get one. ``update`` adds to both and, where histories are long and memory
    has room, keeps how many users each two items have in common (``common_counts.py``: 4 bytes for every two items).
    Else these are counted anew each time, which where users have few rows takes no longer than a walk over such counts.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each item keeps")
    shrink: float = option(0.0, SHRINK, "added to the divisor of cosines, against chance", changed=True)
    values: str = ones_or_ratings()
    users_: Ids = field(init=False)
    history_: Rows = field(init=False)  # the items of every user
    owners_: Rows = field(init=False)  # the users of every item
    common_: Counts | None = field(init=False)  # users in common, once rows are added

    name = "item_knn"

    def footprint(self, log: Log) -> int:
        """The neighbours besides."""
        return super().footprint(log) + footprint(len(log.items), self.neighbours)

    def fit(self, log: Log) -> Self:
        """Keep what users have, from which neighbours are found."""
        liked = self.learnt(log)
        self.users_, self.items_ = log.users, log.items
        self.history_, self.owners_, self.common_ = Rows.of_users(liked), Rows.of_items(liked), None
        return self

    def update_pays(self, log: Log) -> bool:
        """Where counts are kept; else a fit, which only lays the rows out, has less to do."""
        return not self.learns_values and worth_counting(log)

    def update(self, rows: Log) -> Self:
        """Add rows to the histories, and to the counts."""
        known, users = self.catalogue, united(self.users_, a_log(rows).users)
        items = united(known, rows.items)
        new = self.learnt(rows).recode(users, items)
        before = self.history_.log(self.users_, known)
        liked = joined(before.recode(users, items), new)
        if self.common_ is not None:
            self.common_ = added(self.common_, known, new, liked)
        elif self.update_pays(liked):
            self.common_ = count(liked)
        self.users_, self.items_ = users, items
        self.history_, self.owners_ = Rows.of_users(liked), Rows.of_items(liked)
        return self

    def similar(self, asked: Codes | None = None) -> Rows:
        """The nearest items of every item, or of those ``asked`` (ascending); the others then have none."""
        items, kept = self.catalogue, (self.neighbours, self.shrink, self)
        asked = np.arange(len(items), dtype=np.int32) if asked is None else asked
        if self.common_ is None:
            found = nearest(self.owners_, self.history_, items, *kept, asked)
        else:
            found = nearest_by_counts(self.common_, items, *kept, asked)
        return found.among(asked, len(items))

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items most similar to the user's training items."""
        items, rows = self.catalogue, some_ids(users).into(self.users_)
        similar = self.similar(self.history_.columns_of(rows[rows >= 0], len(items)))
        return from_votes(self.history_, similar, self.users_, items, users, k, seen)
