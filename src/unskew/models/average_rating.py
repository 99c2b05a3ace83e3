"""Average rating: everybody gets the items that were rated best (AvgRating of carraro20 §5.4).

    score(u, i) = (Σ of the ratings of i + shrink·mean) / (n_i + shrink)          mean: of all ratings

Without shrinkage, as in the paper, an item that one user rated highest comes first. Items that nobody rated come last;
with shrinkage they have the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core.bounds import Number
from unskew.core.parts import option
from unskew.log import Ids
from unskew.log.expected import some_ids
from unskew.log.log import Floats, Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Model, from_shared_scores, values_of

SHRINK = Number(low=0.0, high=1e9, why="A stronger one leaves nothing but the mean.")


@dataclass(eq=False, repr=False)
class AverageRating(Model):
    """Rank items by their mean rating in the training log."""

    shrink: float = option(0.0, SHRINK, "ratings of average height that every item is given besides", changed=True)
    means_: Floats = field(init=False)

    name = "average_rating"
    personal = False
    learns_values = True

    def fit(self, log: Log) -> Self:
        """Average the ratings of every item."""
        values = values_of(self, log)
        count = np.bincount(log.item, minlength=len(log.items)) + self.shrink
        level = float(values.mean()) if len(log) else 0.0
        total = np.bincount(log.item, values, minlength=len(log.items)) + self.shrink * level
        self.items_ = log.items
        self.means_ = np.divide(total, count, out=np.full(len(log.items), -np.inf), where=count > 0)
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the highest mean."""
        items = self.catalogue
        return from_shared_scores(self.means_, items, some_ids(users), k, seen)
