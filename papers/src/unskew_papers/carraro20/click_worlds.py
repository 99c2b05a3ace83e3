"""Worlds of clicks whose truth is known: popular items are shown more, or liked more, or both.

    g_i, h_i    N(0, 1)                                          of items
    liked_ui  ~ 1 − exp(−b · exp(T·g_i + x_u·y_i))               T: how much the taste for items differs
    seen_ui   ~ P_ui = 1 − exp(−c · e_u · exp(E·h_i))            E: how much the exposure of items differs
    a click is a pair that is liked and seen

The strength S of the skew is about the standard deviation of log popularity, S² = E² + T²:

    exposure    E = S, T = 0         all items are liked alike
    taste       E = 0, T = S         all items are shown alike
    both        E = T = S/√2         independent of each other

b and c make a tenth of all pairs liked and a quarter seen, whatever the skew. Users differ in their activity e_u
(gamma, mean 1) and in their tastes x_u. The log is split at random. Some pairs are also shown at random: what is liked
of them is the random log that ``wtd`` takes its target from.

The truth of a list is its pooled recall: of all pairs that are liked and not in training, the share that it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.optimize import brentq

from unskew.log import Account, Feedback, Ids, Log, Recommendations
from unskew.split import holdout
from unskew_papers.arrays import Bools, Floats, starts_of

KINDS: dict[str, tuple[float, float]] = {  # E² and T², in parts of S²
    "exposure": (1.0, 0.0),
    "taste": (0.0, 1.0),
    "both": (0.5, 0.5),
}
ITEMS = 200
LIKED, SEEN = 0.1, 0.25  # shares of all pairs
TASTES, PERSONAL = 3, 1.5  # dimensions of x_u and y_i, and the standard deviation of x_u·y_i
ACTIVITY = 4.0  # shape of the gamma law of e_u
HELD_OUT = 0.4
AT_RANDOM = 0.02  # of all pairs: shown at random besides


class Size(NamedTuple):
    """Which worlds: the kind and the strength of the skew, and how many users."""

    kind: str
    strength: float
    users: int


@dataclass(frozen=True, eq=False)
class ClickWorld:
    """One draw.

    Args:
        liked: of every user and item.
        train, test: the clicks, with their propensities.
        random: what was liked of pairs shown at random.
    """

    liked: Bools
    train: Log
    test: Log
    random: Log

    @classmethod
    def draw(cls, size: Size, seed: int) -> ClickWorld:
        """Fresh items, users, likes and exposure."""
        rng = np.random.default_rng([seed, size.users, round(100 * size.strength), list(KINDS).index(size.kind)])
        exposed, liking = (size.strength * np.sqrt(part) for part in KINDS[size.kind])
        shape = size.users, ITEMS
        personal = rng.standard_normal((size.users, TASTES)) @ rng.standard_normal((TASTES, ITEMS))
        liked_rate = np.exp(liking * rng.standard_normal(ITEMS) + PERSONAL / np.sqrt(TASTES) * personal)
        activity = rng.gamma(ACTIVITY, 1.0 / ACTIVITY, (size.users, 1))
        liked = rng.random(shape) < chances(liked_rate, LIKED)
        p = chances(activity * np.exp(exposed * rng.standard_normal(ITEMS)), SEEN)
        clicks = log_of(liked & (rng.random(shape) < p), p)
        train, test = holdout(clicks, HELD_OUT, seed=seed)
        at_random = log_of(liked & (rng.random(shape) < AT_RANDOM))
        return cls(liked, train, test, at_random)

    def truth(self, lists: Mapping[str, Recommendations]) -> Floats:
        """The pooled recall of each list."""
        left = self.liked.copy()
        left[self.train.user, self.train.item] = False
        return np.array([_listed(each, left) / left.sum() for each in lists.values()])


def chances(rate: Floats, share: float) -> Floats:
    """1 − exp(−c·rate) with the c that makes their mean this share."""

    def off(log_c: float) -> float:
        return float(-np.expm1(-np.exp(log_c) * rate).mean()) - share

    return np.asarray(-np.expm1(-np.exp(brentq(off, -30.0, 30.0, xtol=1e-10)) * rate))


def _listed(lists: Recommendations, pairs: Bools) -> float:
    """How many of these pairs stand in the lists."""
    return float(pairs[np.repeat(np.arange(len(pairs)), np.diff(lists.indptr)), lists.item].sum())


def log_of(pairs: Bools, p: Floats | None = None) -> Log:
    """These pairs as a log of clicks; the ids of users and items are their numbers."""
    user, item = np.nonzero(pairs)
    users, items = (Ids(pl.Series("id", np.arange(number))) for number in pairs.shape)
    return Log(
        users,
        items,
        starts_of(np.bincount(user, minlength=len(users))),
        item.astype(np.int32),
        propensity=None if p is None else p[user, item],
        feedback=Feedback.IMPLICIT,
        account=Account("simulated clicks", len(item)),
    )
