"""A world of the size of Yahoo! R3: 15,400 users × 1,000 items, about 300,000 ratings, of which 46 % are 4 or 5.

    value = taste (rank 4) + appeal of the item + noise,   cut into ratings 1 … 5 by shares .5, .2, .15, .09, .06
    P(rated) ∝ busyness of the user · exposure of the item · 0.4^max(0, 4 − rating)

Exposure falls by a power law and leans towards appealing items. Personal taste pays: bpr, item_knn and small wmf beat
most_popular on held-out positives.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.log import Log

USERS, ITEMS, RATINGS, RANK = 15_400, 1_000, 300_000, 4
SHARES = (0.5, 0.2, 0.15, 0.09, 0.06)
SKEW = 0.5


def world(seed: int = 0) -> Log:
    """The ratings that were given."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(USERS, RANK)) @ rng.normal(size=(RANK, ITEMS)) / np.sqrt(RANK)
    appeal = rng.normal(size=ITEMS)
    value = taste + 0.5 * appeal + 0.4 * rng.standard_normal((USERS, ITEMS), dtype=np.float32)
    rating = 1 + np.searchsorted(np.quantile(value[::37], np.cumsum(SHARES[:-1])), value)
    place = np.argsort(np.argsort(-(0.4 * appeal + rng.normal(size=ITEMS))))
    busy, exposure = rng.gamma(1.2, 1.0, USERS) + 0.25, (1.0 + place) ** -SKEW
    chance = busy[:, None] * exposure * 0.4 ** np.maximum(0, 4 - rating)
    for _ in range(20):  # what is cut at 1 is given to the others
        chance *= RATINGS / np.minimum(1.0, chance).sum()
    user, item = np.nonzero(rng.random(chance.shape) < chance)
    frame = pl.DataFrame({"user": user, "item": item, "value": rating[user, item].astype(np.float64)})
    return Log.from_frame(frame, feedback="ratings")
