"""Five predictors that err in known ways (schnabel16 §3.4), for ratings y = 1 … R; in the paper R = 5.

    rec_ones    y, but as many ones as there are fives (R) are predicted as R: half of the predicted fives are ones
    rec_fours   y, but as many fours (R − 1) as there are fives are predicted as R
    rotate      y − 1, and R where y = 1
    skewed      N(y, (R + 1 − y)/2), clipped to [0, R + 1]: sure about good items, unsure about bad ones
    coarsened   R − 2 where y ≤ R − 2, else R − 1

Which ratings are flipped, and the noise of ``skewed``, are hashes of (seed, user, item). Where there are fewer ones (or
fours) than fives, all of them are flipped: ``flips`` says how many were wanted and how many there are.
"""

from __future__ import annotations

import numpy as np

from unskew.log import Ids
from unskew.log.log import Floats
from unskew.simulate.noise import uniform, uniform_of
from unskew.simulate.quantiles import Ratings

NAMES = ("rec_ones", "rec_fours", "rotate", "skewed", "coarsened")


def make_predictions(truth: Ratings, levels: int, users: Ids, items: Ids, seed: int) -> dict[str, Floats]:
    """The five matrices by name, float64[users, items]."""
    return {
        "rec_ones": _flip(truth, 1, levels, users, items, f"rec_ones {seed}"),
        "rec_fours": _flip(truth, levels - 1, levels, users, items, f"rec_fours {seed}"),
        "rotate": np.where(truth >= 2, truth - 1.0, float(levels)),
        "skewed": _skewed(truth, levels, users, items, f"skewed {seed}"),
        "coarsened": np.where(truth <= levels - 2, levels - 2.0, levels - 1.0),
    }


def flips(truth: Ratings, levels: int) -> dict[str, tuple[int, int]]:
    """For rec_ones and rec_fours: how many ratings the paper would flip, and how many are flipped."""
    best = int(np.count_nonzero(truth == levels))
    there = {name: int(np.count_nonzero(truth == low)) for name, low in (("rec_ones", 1), ("rec_fours", levels - 1))}
    return {name: (best, min(best, count)) for name, count in there.items()}


def _flip(truth: Ratings, low: int, levels: int, users: Ids, items: Ids, stream: str) -> Floats:
    """The truth, but for as many pairs as have the best rating, drawn from those rated ``low``."""
    pairs = np.flatnonzero(truth == low)
    order = np.argsort(uniform_of(stream, users, items, pairs), kind="stable")
    out = truth.astype(np.float64)
    out.reshape(-1)[pairs[order[: np.count_nonzero(truth == levels)]]] = levels
    return out


def _skewed(truth: Ratings, levels: int, users: Ids, items: Ids, stream: str) -> Floats:
    from scipy.special import ndtri

    out = np.empty(truth.shape)
    for rows, chance in uniform(stream, users, items):
        spread = (levels + 1.0 - truth[rows]) / 2.0
        out[rows] = np.clip(truth[rows] + spread * ndtri(chance), 0.0, levels + 1.0)
    return out
