"""What is known of a pair before its outcome: how its user and item did in training, and how much the two belong there.

    x_ui = 1, logit m_i, log(1 + n_i), logit m_u, log(1 + n_u), a_ui
    m    = (Σ y + shrink · m̄) / (n + shrink)        the shrunk mean of an item's or user's n training rows
    a_ui = rank-r SVD of  O_ui − n_u n_i / n        exposure affinity: what was seen beyond popularity and activity

All of it comes from training rows; a user or item without any has n = 0 and the mean of all. Features are standardised
over the rows that a model is fitted on; one that does not vary there is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unskew.kernels.arrays import Floats
from unskew.log import Log
from unskew.log.ids import Codes
from unskew.log.relevance import row_gains

NAMES = ("intercept", "item mean", "item count", "user mean", "user count", "affinity")
WIDTH = len(NAMES)
CHUNK = 1 << 18  # pairs whose features are held at once


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """The features of all pairs of some users and items, in parts.

    Args:
        user, item: logit of the mean, and log count, (users, 2) and (items, 2).
        user_factors, item_factors: whose products, plus ``offset``, are the affinity.
    """

    user: Floats
    item: Floats
    user_factors: Floats
    item_factors: Floats
    offset: float = 0.0

    def of(self, user: Codes, item: Codes) -> Floats:
        """x of these pairs, (pairs, 6)."""
        x = np.empty((len(user), WIDTH))
        x[:, 0] = 1.0
        x[:, 1:3] = self.item[item]
        x[:, 3:5] = self.user[user]
        x[:, 5] = np.einsum("pr,pr->p", self.user_factors[user], self.item_factors[item]) + self.offset
        return x

    def chosen(self, users: Codes, items: Codes | None = None) -> PairFeatures:
        """The same for some of the users and items."""
        item, factors = (
            (self.item, self.item_factors) if items is None else (self.item[items], self.item_factors[items])
        )
        return replace(
            self, user=self.user[users], user_factors=self.user_factors[users], item=item, item_factors=factors
        )

    def standardised(self, user: Codes, item: Codes) -> PairFeatures:
        """The same with mean 0 and variance 1 over these pairs; what is constant there becomes 0."""
        total, squares = np.zeros(WIDTH), np.zeros(WIDTH)
        for low in range(0, len(user), CHUNK):
            total += self.of(user[low : low + CHUNK], item[low : low + CHUNK]).sum(axis=0)
        mean = total / len(user)
        for low in range(0, len(user), CHUNK):
            squares += ((self.of(user[low : low + CHUNK], item[low : low + CHUNK]) - mean) ** 2).sum(axis=0)
        spread = np.sqrt(squares / len(user))
        scale = np.divide(1.0, spread, out=np.zeros(WIDTH), where=spread > 1e-9 * (1.0 + np.abs(mean)))
        return PairFeatures(
            user=(self.user - mean[3:5]) * scale[3:5],
            item=(self.item - mean[1:3]) * scale[1:3],
            user_factors=self.user_factors * scale[5],
            item_factors=self.item_factors,
            offset=float((self.offset - mean[5]) * scale[5]),
        )


def features_of(train: Log, shrink: float, affinity: tuple[Floats, Floats]) -> PairFeatures:
    """The features of a training log's users and items; behind them stands one without training rows (code −1)."""
    y = row_gains(train)
    mean = (float(y.sum()) + 1.0) / (len(y) + 2.0)
    user = _side(train.user, y, len(train.users), mean, shrink)
    item = _side(train.item, y, len(train.items), mean, shrink)
    return PairFeatures(user, item, *affinity)


def _side(of: Codes, y: Floats, many: int, mean: float, shrink: float) -> Floats:
    """Logit of the shrunk mean, and log count; the last row is that of nobody."""
    count = np.bincount(of, minlength=many + 1).astype(np.float64)
    hits = np.bincount(of, y, many + 1)
    share = (hits + shrink * mean) / (count + shrink)
    return np.stack([np.log(share / (1.0 - share)), np.log1p(count)], axis=1)
