"""Who comes when, and for what.

    arrival   of new users as the days are busy
    return    on a later day d with P = rate_u · busy(d) · exp(−(d − arrival)/fading), at most once a day
    taste     x_u at the first visit is normal; then x_u ← κ x_u + √(1 − κ²) · normal, κ = exp(−days since/drift)
    intent    a visit is about one niche: P(g) ∝ exp(season_g(d) + sharp · x_u·y_g / √6)

Rates are gamma, so that most users come once and some come often. Visits, tastes and intents do not depend on what is
shown: they are the same whatever the shop does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew_papers.arrays import Bools, Codes, Floats, Ints64, starts_of
from unskew_papers.kernels import shop as kernel
from unskew_papers.shop.catalogue import TASTES, Catalogue
from unskew_papers.shop.rhythm import beginnings, day_factors

RATE, SHAPE = 0.055, 0.35  # mean and shape of the gamma law of rates
FADING = 45.0  # days


@dataclass(frozen=True, eq=False)
class Visits:
    """Visits by user and day; ``start[u]`` … ``start[u + 1] − 1`` are those of user u.

    Args:
        taste: [v, j], scaled as it stands in the law of intents.
        begin: microseconds after midnight.
    """

    start: Ints64
    user: Codes
    day: Ints64
    taste: Floats
    intent: Codes
    begin: Ints64

    @classmethod
    def draw(
        cls, users: int, days: int, drift: float, sharp: float, catalogue: Catalogue, rng: np.random.Generator
    ) -> Visits:
        """The visits of so many users over so many days."""
        busy = day_factors(days)
        arrival = rng.choice(days, users, p=busy / busy.sum())
        rate = rng.gamma(SHAPE, RATE / SHAPE, users)
        seeds = rng.integers(0, 2**63, 2, dtype=np.uint64)
        counts = np.empty(users, dtype=np.int64)
        kernel.count_visits(arrival, rate, busy, FADING, seeds[0], counts)
        start = starts_of(counts)
        day = np.empty(start[-1], dtype=np.int64)
        kernel.list_visits(arrival, rate, busy, FADING, seeds[0], start, day)
        user = np.repeat(np.arange(users, dtype=np.int32), counts)
        taste = rng.standard_normal((len(day), TASTES))
        kernel.drift(start, day, drift, taste)
        taste *= sharp / np.sqrt(TASTES)
        intent = draw_intents(user, day, taste, catalogue, int(seeds[1]))
        return cls(start, user, day, taste, intent, beginnings(rng.random(len(day)), rng.random(len(day))))

    def take(self, rows: Bools) -> Visits:
        """Some of the visits."""
        return Visits(
            starts_of(rows)[self.start],
            self.user[rows],
            self.day[rows],
            self.taste[rows],
            self.intent[rows],
            self.begin[rows],
        )


def draw_intents(user: Codes, day: Ints64, taste: Floats, catalogue: Catalogue, seed: int) -> Codes:
    """What each visit is about."""
    out = np.empty(len(user), dtype=np.int32)
    kernel.draw_intents(user, day, taste, catalogue.season, catalogue.taste, np.uint64(seed), out)
    return out
