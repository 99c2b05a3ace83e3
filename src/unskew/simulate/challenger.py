"""The challenger: a recommender that knows what users like, a little blurred, and nothing of what was shown.

    score(u, i) = Φ⁻¹(P(relevant_ui)) + noise · N(0, 1)

It stands for a new model that a popularity-skewed log underrates. The blur is a hash of (user, item): asking twice, or
for some of the users only, gives the same lists.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids, Log, Recommendations
from unskew.log.ids import stream_of
from unskew.log.log import Floats
from unskew.models.base import from_scores
from unskew.simulate.population import Population

_STREAM = stream_of("challenger")


class Challenger:
    """A recommender made from the true preferences of a world's users.

    Args:
        noise: how much the preferences are blurred; they themselves vary by about 1.3.

    Users who are not of this world score 0 everywhere: their lists are random.
    """

    def __init__(self, population: Population, users: Ids, items: Ids, noise: float) -> None:
        self.population, self.users, self.items, self.noise = population, users, items, noise

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """For each user the k unseen items with the best blurred preference."""
        row = users.into(self.users)

        def score(rows: slice) -> Floats:
            known = row[rows] >= 0
            left = np.repeat(users.hashes[rows], len(self.items))
            right = np.tile(self.items.hashes, len(known))
            blur = ndtri(pair_uniform(_STREAM, left, right)).reshape(len(known), -1)
            scores = self.population.preference(np.maximum(row[rows], 0)) + self.noise * blur
            return np.where(known[:, None], scores, 0.0)

        return from_scores(score, self.items, users, k, seen)

    def __str__(self) -> str:
        return f"challenger(noise={self.noise:g})"
