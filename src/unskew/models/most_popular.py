"""Most popular: everybody gets the items with the most positives in training.

    score(u, i) = n_i

The baseline that popularity-biased evaluation flatters most. Items of equal popularity come in an order that is
random between users (the stable hash), so none of them is favoured by its place in the catalogue. With a threshold it
counts the ratings behind it: ``most_popular(relevant=>3)`` is PosPop of carraro20 §5.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core.parts import Text, option
from unskew.log import Ids
from unskew.log.expected import a_log
from unskew.log.log import Floats, Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Updatable, from_shared_scores, united


@dataclass(eq=False, repr=False)
class MostPopular(Updatable):
    """Rank items by their number of positives in the training log.

    ``update`` keeps nothing but the counts, a number per item: a pair that comes again is counted again.
    """

    relevant: str | None = option(None, Text(), "which values are positives, such as >3; by default those of the log")
    counts_: Floats = field(init=False, repr=False)

    name = "most_popular"
    personal = False

    @property
    def learns_values(self) -> bool:
        """With a threshold of its own it looks at the values."""
        return self.relevant is not None

    def fit(self, log: Log) -> Self:
        """Count the positives of every item."""
        liked = a_log(log).positives(self.relevant)
        self.items_ = log.items
        self.counts_ = np.bincount(liked.item, minlength=len(log.items)).astype(np.float64)
        return self

    def update(self, rows: Log) -> Self:
        """Count further positives."""
        liked, known = a_log(rows).positives(self.relevant), self.catalogue
        self.items_ = united(known, rows.items)
        counts = np.zeros(len(self.items_))
        counts[known.into(self.items_)] = self.counts_
        self.counts_ = counts + np.bincount(rows.items.into(self.items_)[liked.item], minlength=len(counts))
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k most popular items that a user has not seen."""
        items = self.catalogue
        return from_shared_scores(self.counts_, items, users, k, seen)
