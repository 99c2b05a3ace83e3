"""A world of ratings whose truth is known, made to look like a log of yours (schnabel16 §6.2).

    log ──complete──▶ a value for every pair ──quantiles──▶ a rating 1 … R for every pair ──observe──▶ O ~ Bernoulli(P)

The full matrix is the truth, P depends on the rating alone and is known, and what is seen is a log of ratings with a
``propensity`` column. The same seed always shows the same pairs; another α shows others of them, drawn with the same
random numbers (as α falls, good ratings come in and bad ones go).

Who gets to rate what: the better the rating, the likelier it is seen (schnabel16 §6.2).

    P_ui = min(1, k · α^max(0, R − 1 − y_ui))        for ratings 1 … R; with R = 5: k for 4 and 5, k·α^(4 − y) below

α = 1 shows all alike, α → 0 only the best two ratings. k makes the expected share of seen pairs what was asked for:

    Σ_r p_r · min(1, k·α^max(0, R − 1 − r)) = share           p_r the share of the rating r among all pairs

The left side grows with k, in pieces that are straight: with the c best ratings capped at 1, k follows by a division,
and it is the solution if no other rating reaches 1.

A prediction costs, or earns, δ per pair (schnabel16 Eqs. 2–7): the average of δ over all pairs is the truth.

    mae, mse, accuracy      from y and ŷ alone
    dcg@k, cg@k, …          I · y · worth(rank): a sum over a user's list becomes an average over pairs

A user's items are ranked by the prediction downwards, among all items, equal ones by the fixed hash of (user, item).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unskew.core.bounds import Number
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.kernels.arrays import Floats, Ints32
from unskew.log import Account, Feedback, Ids, Log
from unskew.log.order import starts_of
from unskew.metrics import Metric, RatingMetric, Shape, make
from unskew.models.base import from_scores
from unskew.simulate.completion import complete
from unskew.simulate.noise import uniform
from unskew.simulate.predictions import make_predictions
from unskew.simulate.quantiles import SCHNABEL16, Ratings, marginals_of, to_ratings

METRICS = ("mae", "mse", "accuracy", "cg@50", "dcg@50")
PART = Number(above=0.0, high=1.0)


def costs(metric: Metric | str, truth: Ratings, prediction: Floats, users: Ids, items: Ids) -> Floats:
    """δ of every pair: float64[users, items]."""
    asked = make(metric)
    if isinstance(asked, RatingMetric):
        if asked.root:
            raise InputError(
                f"'{asked}' is the root of an average, not an average over pairs. Ask for mse.",
                code="not-supported",
                metric=str(asked),
            )
        return asked.cost(truth.astype(np.float64), prediction)
    if asked.shape is not Shape.ADDITIVE:
        raise InputError(
            f"'{asked}' is not an average over pairs. Ask for mae, mse, accuracy, cg@50 or dcg@50.",
            code="not-supported",
            metric=str(asked),
        )
    rank = ranks(prediction, len(items) if asked.k is None else asked.k, users, items)
    return np.asarray(len(items) * asked.table(len(items))[rank] * truth)


def ranks(prediction: Floats, k: int, users: Ids, items: Ids) -> Ints32:
    """The rank of each item among the user's, 1 … k, and 0 behind them."""
    lists = from_scores(lambda rows: prediction[rows], items, users, k, None)
    out = np.zeros(prediction.shape, dtype=np.int32)
    out[np.repeat(np.arange(len(users)), np.diff(lists.indptr)), lists.item] = lists.rank
    return out


def propensities(shares: Floats, alpha: float, share: float) -> Floats:
    """P(seen) of the ratings 1 … R.

    Args:
        shares: of the ratings among all pairs, adding up to 1.
        alpha: how much less a rating is seen than the next better one, in (0, 1].
        share: of all pairs that is to be seen, in (0, 1].
    """
    alpha = float(replace(PART, why="1 shows all ratings alike, less hides low ones.").of(alpha, "alpha"))
    share = float(PART.of(share, "share"))
    levels = len(shares)
    weight = alpha ** np.maximum(0, levels - 1 - np.arange(1, levels + 1)).astype(np.float64)
    for capped in range(levels):  # the best ones first
        rest = slice(0, levels - capped)
        left = share - shares[levels - capped :].sum()
        free = float(shares[rest] @ weight[rest])
        k = left / free if free > 0.0 else 1.0
        if capped:  # the worst of the capped ratings just reaches 1, even where rounding leaves nothing to the others
            k = max(k, 1.0 / weight[levels - capped])
        if k * weight[levels - capped - 1] <= 1.0:
            break
    table = np.ones(levels)
    table[rest] = np.minimum(1.0, k * weight[rest])
    if not table.min() > 0.0:
        raise InputError(
            f"alpha = {alpha:g} is so small that low ratings would never be seen. Every pair must have a chance: "
            "take a larger alpha.",
            code="out-of-range",
            option="alpha",
        )
    return table


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
            f"marginals are shares of the ratings 1, 2, 3, …, or 'own' for the log's; not '{plain(marginals)}'.",
            code="bad-value",
            option="marginals",
        )
    return marginals_of(log)
