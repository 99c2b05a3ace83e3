"""A world of ratings whose truth is known, made to look like a log of yours (schnabel16 §6.2).

    log ──complete──▶ a value for every pair ──quantiles──▶ a rating 1 … R for every pair ──observe──▶ O ~ Bernoulli(P)

The full matrix is the truth, P depends on the rating alone and is known, and what is seen is a log of ratings with a
``propensity`` column. The same seed always shows the same pairs; another α shows others of them, drawn with the same
random numbers (as α falls, good ratings come in and bad ones go).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.errors import InputError
from unskew.log import Account, Feedback, Ids, Log
from unskew.log.log import Floats
from unskew.log.order import starts_of
from unskew.metrics import Metric
from unskew.plain import plain
from unskew.simulate.completion import complete
from unskew.simulate.noise import uniform
from unskew.simulate.observation import propensities
from unskew.simulate.predictions import make_predictions
from unskew.simulate.quantiles import SCHNABEL16, Ratings, marginals_of, to_ratings
from unskew.simulate.rating_costs import costs


@dataclass(frozen=True, eq=False)
class RatingWorld:
    """Every user's rating of every item, and how likely each is to be seen.

    Args:
        truth: the rating of every pair, 1 … levels (int8[users, items]).
        levels: the best rating.
        alpha: how much less a rating is seen than the next better one, up to levels − 1; 1 shows all alike.
        share: of all pairs that is seen, on average.
    """

    users: Ids
    items: Ids
    truth: Ratings
    levels: int = 5
    alpha: float = 0.25
    share: float = 0.05

    @classmethod
    def like(
        cls,
        log: Log,
        *,
        alpha: float = 0.25,
        share: float = 0.05,
        marginals: Sequence[float] | str = SCHNABEL16,
        rank: int = 10,
        penalty: float = 0.1,
        sweeps: int = 15,
    ) -> RatingWorld:
        """A world that looks like a log: the same users and items, who likes what as a factorisation completes it.

        Args:
            log: ratings on any scale; only their order matters.
            marginals: shares of the ratings 1, 2, …; by default what people say of items chosen at random for them
                (many ones, few fives). ``own`` takes the log's, which are those of items people chose themselves.
            rank, penalty, sweeps: of the factorisation (``complete``).
        """
        shares = _shares(marginals, log)
        values = complete(log, rank=rank, penalty=penalty, sweeps=sweeps)
        truth = to_ratings(values, shares, log.users, log.items)
        return cls(log.users, log.items, truth, len(shares), alpha, share)

    @cached_property
    def marginals(self) -> Floats:
        """The share of each rating 1 … levels among all pairs."""
        return np.bincount(self.truth.reshape(-1), minlength=self.levels + 1)[1:] / self.truth.size

    @cached_property
    def propensity_of(self) -> Floats:
        """P(seen) by rating: entry r is that of rating r (entry 0 is NaN: there is no such rating)."""
        return np.concatenate([[np.nan], propensities(self.marginals, self.alpha, self.share)])

    @property
    def propensity(self) -> Floats:
        """P(seen) of every pair: float64[users, items]."""
        return self.propensity_of[self.truth]

    def draw(self, seed: int) -> Log:
        """The ratings that are seen in one draw of O, with their propensities."""
        counts, item, value = [], [], []
        for rows, chance in uniform(f"observe {seed}", self.users, self.items):
            user, code = np.nonzero(chance < self.propensity_of[self.truth[rows]])
            counts.append(np.bincount(user, minlength=len(chance)))
            item.append(code.astype(np.int32))
            value.append(self.truth[rows][user, code])
        rating = np.concatenate(value)
        return Log(
            self.users,
            self.items,
            starts_of(np.concatenate(counts)),
            np.concatenate(item),
            value=rating.astype(np.float64),
            propensity=self.propensity_of[rating],
            feedback=Feedback.RATINGS,
            account=Account("simulated ratings", len(rating)),
        )

    def predictions(self, seed: int = 0) -> Mapping[str, Floats]:
        """The five prediction matrices of schnabel16 §3.4 by name."""
        return make_predictions(self.truth, self.levels, self.users, self.items, seed)

    def costs(self, metric: Metric | str, prediction: Floats) -> Floats:
        """δ of every pair under a metric that is an average over pairs: float64[users, items]."""
        return costs(metric, self.truth, prediction, self.users, self.items)

    def true_value(self, metric: Metric | str, prediction: Floats) -> float:
        """What a prediction matrix is really worth: the average of δ over all pairs."""
        return float(self.costs(metric, prediction).mean())


def _shares(marginals: Sequence[float] | str, log: Log) -> Sequence[float]:
    if not isinstance(marginals, str):
        return marginals
    if marginals != "own":
        raise InputError(
            f"marginals are shares of the ratings 1, 2, 3, …, or 'own' for the log's; not '{plain(marginals)}'."
        )
    return marginals_of(log)
