"""A world of the size of Webscope R3 as carraro20 uses it, for those who have no copy of it (Table 1).

5,400 users × 1,000 items; about 129,000 ratings that people chose, and 54,000 of ten random items for each user.

    score_ui  = .9·g_i + 1.8·x_u·y_i + .5·f_u + .4·ε_ui      normal, x and y of three dimensions
    rating      the scores by quantiles: 1 … 5 with shares .526, .242, .145, .062, .026 (schnabel16's; mean 1.82)
    P(chosen) = 1 − exp(−c · e_u · exp(.9·h_i) · .53^max(0, 4 − rating))        corr(g, h) = .7

Both kinds of skew: items are shown more or less, mostly those that are liked, and people choose what they like. The
numbers make the mean of the chosen ratings, and the recall of PosPop on random and on held-out ratings, about the
paper's. Nothing else is fitted to Webscope, whose numbers stand beside ours for context and are not to be met.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.log import Log
from unskew.simulate import SCHNABEL16
from unskew_papers.arrays import Floats
from unskew_papers.carraro20.click_worlds import chances

USERS, ITEMS, CHOSEN, AT_RANDOM = 5_400, 1_000, 129_000, 10
TASTES, TASTE, APPEAL, BREADTH, NOISE = 3, 1.8, 0.9, 0.5, 0.4
REACH, AGREEMENT, FALL = 0.9, 0.7, 0.53
ACTIVITY = 2.0  # shape of the gamma law of e_u


def draw(seed: int = 0, users: int = USERS, items: int = ITEMS, chosen: int = CHOSEN) -> tuple[Log, Log]:
    """The ratings that people chose, and those of random items."""
    rng = np.random.default_rng(seed)
    shape = users, items
    appeal = rng.standard_normal(items)
    reach = AGREEMENT * appeal + np.sqrt(1.0 - AGREEMENT**2) * rng.standard_normal(items)
    score = TASTE / np.sqrt(TASTES) * rng.standard_normal((users, TASTES)) @ rng.standard_normal((TASTES, items))
    score += APPEAL * appeal + BREADTH * rng.standard_normal((users, 1)) + NOISE * rng.standard_normal(shape)
    edges = np.quantile(score, np.cumsum(SCHNABEL16)[:-1])
    rating = 1.0 + np.searchsorted(edges, score).astype(np.float64)
    rate = rng.gamma(ACTIVITY, 1.0 / ACTIVITY, (users, 1)) * np.exp(REACH * reach)
    p = chances(rate * FALL ** np.maximum(0.0, 4.0 - rating), chosen / rating.size)
    own = np.nonzero(rng.random(shape) < p)
    shown = np.argpartition(rng.random(shape), AT_RANDOM, axis=1)[:, :AT_RANDOM]
    return _log(rating, *own), _log(rating, np.repeat(np.arange(users), AT_RANDOM), shown.reshape(-1))


def _log(rating: Floats, user: np.ndarray, item: np.ndarray) -> Log:
    frame = pl.DataFrame({"user": user, "item": item, "value": rating[user, item]})
    return Log.from_frame(frame, feedback="ratings", source="simulated ratings")
