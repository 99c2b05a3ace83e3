"""User-based nearest neighbours (Cremonesi, Koren & Turrin 2010 name it as a baseline of top-N recommendation).

    cos(u, v)   = (items that both u and v have) / (√(n_u n_v) + shrink)
    score(u, i) = Σ over the nearest neighbours v of u that have i of cos(u, v)

The users most similar to a user vote for their items. Nothing of the size users × users is made; the cost of a fit is
that of all pairs of users with a common item, which popular items make large.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.models.neighbours import NEIGHBOURS, SHRINK, NearestNeighbours
from unskew.parts import option


@dataclass(eq=False, repr=False)
class UserKNN(NearestNeighbours):
    """Rank items by how many of the most similar users have them, weighted by similarity.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each user keeps")
    shrink: float = option(0.0, SHRINK, "added to the divisor of cosines, against chance", changed=True)

    name = "user_knn"
    by_items = False
