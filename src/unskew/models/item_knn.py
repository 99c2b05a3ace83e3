"""Item-based nearest neighbours (Deshpande & Karypis 2004, "Item-based top-N recommendation algorithms").

    cos(i, j)   = (users with both i and j) / (√(n_i n_j) + shrink)
    score(u, i) = Σ over the user's items j that have i among their nearest neighbours of cos(i, j)

Every item of a user's history votes for the items most similar to it. Nothing of the size items × items is made.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.models.neighbours import NEIGHBOURS, SHRINK, NearestNeighbours
from unskew.parts import option


@dataclass(eq=False, repr=False)
class ItemKNN(NearestNeighbours):
    """Rank items by their similarity to the user's training items.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each item keeps")
    shrink: float = option(0.0, SHRINK, "added to the divisor of cosines, against chance", changed=True)

    name = "item_knn"
    by_items = True
