"""What a visitor gets to see: a page of places, and what is found without it.

    place r is looked at with P = r^(−0.3)
    it holds the r-th item of the list that the policy made, or with P = promoted an item of the campaign, evenly
    besides, Poisson(search) items are found: a share ``browse`` in the whole shop, the others in the visit's niche,
    each with chances as its attention

    P(looked at) = 1 − Π_r (1 − P(look at r) P(i at r)) · exp(−search · P(i found))

Of the list, items that cannot be had that day, and those that the user has had, are left out and the others move up.
P(looked at) is what the log calls propensity. It is that of the visit, given the list and what the visit is about, and
so exactly the chance with which an item that is wanted at that visit is logged.
"""

from __future__ import annotations

import numpy as np

from unskew.log import Recommendations
from unskew_papers.arrays import Bools, Codes, Floats

BROWSE = 0.2  # share of findings in the whole shop
GAZE = 0.3  # how fast attention falls from place to place
LONGER = 4  # lists that a policy makes, times the places of a page: some of their items cannot be had


def glances(places: int) -> Floats:
    """P(look at place r)."""
    return np.asarray(np.arange(1, places + 1, dtype=np.float64) ** -GAZE)


def pages(lists: Recommendations, available: Bools, places: int) -> Codes:
    """[u, r]: the first items of each list that can be had, −1 behind them."""
    keep = available[lists.item]
    kept = lists.only(keep, close=True)
    kept = kept.only(kept.rank <= places, close=False)
    out = np.full((len(lists.users), places), -1, dtype=np.int32)
    user = np.repeat(np.arange(len(lists.users)), np.diff(kept.indptr))
    out[user, kept.rank - 1] = kept.item
    return out
