"""Worlds in which exposure is a known power of popularity: P_i ∝ n_i^a (MATHS §14), with answers beside the log.

Items are liked at rates r_i and seen at rates e_i ∝ r_i^(a/(1 − a)), so that n_i ∝ r_i e_i and e_i ∝ n_i^a. Users who
are shown more like rare items more, as in real shops. Training and held-out rows are liked pairs that were seen in one
of two periods; questions are drawn from all candidates, the more often the more a list-like score says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from unskew.judging.log_and_answers import LogAndAnswers
from unskew.kernels.arrays import Bools, Floats, Ints64

USERS, ITEMS = 400, 80


@dataclass(frozen=True)
class ExposureWorld:
    """Who likes what, what was seen when, and who was asked about what; ``chance`` is P of a held-out row."""

    liked: Bools
    train: Bools
    test: Bools
    asked: Bools
    pi: Floats
    chance: Floats

    @classmethod
    def draw(cls, seed: int, a: float, questions: int = 1500, *, against: bool = False) -> ExposureWorld:
        """A world with 0 ≤ a < 1; ``against``: other items were shown in training than later."""
        rng = np.random.default_rng([seed, int(100 * a)])
        rate = 0.45 * (np.arange(ITEMS) + 1.0) ** -0.45
        active = rng.random(USERS) < 0.5
        taste = np.where(active[:, None], (np.arange(ITEMS) + 1.0) / ITEMS + 0.5, 1.2)
        if against:
            rate, taste = np.full(ITEMS, 0.35), np.ones((USERS, 1))
        liked = rng.random((USERS, ITEMS)) < np.clip(rate * taste, 0, 0.9)
        exposure = np.geomspace(0.15, 1.0, ITEMS) if against else rate ** (a / (1.0 - a))
        chance = np.minimum(0.6 * exposure / exposure.max(), 0.95) * np.where(active, 1.0, 0.4)[:, None]
        before = chance[:, ::-1] if against else chance
        train = liked & (rng.random(liked.shape) < before)
        test = liked & ~train & (rng.random(liked.shape) < chance)
        score = np.where(np.argsort(rng.random(liked.shape), axis=1) < 8, 4.0, 1.0) * ~train
        pi = np.minimum(questions * score / score.sum(), 1.0)
        return cls(liked, train, test, rng.random(liked.shape) < pi, pi, chance)

    def both(self) -> LogAndAnswers:
        """The held-out rows beside the answers, every pair with weight 1."""
        (user, item), (asker, about) = np.nonzero(self.test), np.nonzero(self.asked)
        return LogAndAnswers(
            user=user, item=item, value=np.ones(len(user)), weight=np.ones(len(user)),
            propensity=self.chance[user, item], asked_user=asker, asked_item=about,
            asked_value=self.liked[asker, about].astype(np.float64), asked_weight=1.0 / self.pi[asker, about],
            drawn=np.ones(len(asker), dtype=np.bool_), users=USERS, zeros=False,
        )  # fmt: skip

    def halves(self, seed: int) -> tuple[Floats, Floats]:
        """Training rows of each item in two halves."""
        first = np.random.default_rng([seed, 9]).random(self.train.shape) < 0.5
        return (self.train & first).sum(axis=0).astype(float), (self.train & ~first).sum(axis=0).astype(float)

    def groups(self) -> Ints64:
        """Users by activity in training, in thirds of the held-out rows."""
        number = self.train.sum(axis=1)
        edges = np.unique(np.quantile(np.repeat(number, self.test.sum(axis=1)), (1 / 3, 2 / 3)))
        return np.asarray(np.searchsorted(edges, number), dtype=np.int64)

    def frames(self) -> dict[str, pl.DataFrame]:
        """What an evaluation is given."""
        found = {}
        for name, mask in (("train", self.train), ("test", self.test), ("answers", self.asked)):
            user, item = np.nonzero(mask)
            found[name] = pl.DataFrame({"user": user, "item": item})
        user, item = np.nonzero(self.asked)
        found["answers"] = found["answers"].with_columns(
            value=pl.Series(self.liked[user, item].astype(int)), propensity=pl.Series(self.pi[user, item])
        )
        return found
