"""What a census model says of the pairs of an evaluation, tilted by what the log cannot tell (MATHS §15).

    q = σ(η − δ + κz)        of held-out rows, of listed pairs, and summed over all candidates of each user

Blocks of users are independent of each other, and so are the users that a sample of candidates is drawn for: where it
is drawn, its error is part of the error that users as a sample have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unskew.estimators.base import Batch
from unskew.inference.model_error import ModelError
from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.census import LIMIT
from unskew.outcome.census_features import PairFeatures

if TYPE_CHECKING:
    from unskew.engine.data import Ranked


Tilt = tuple[float, float]  # δ and κ


@dataclass(frozen=True, eq=False)
class CensusPairs:
    """Some pairs: their features, e^−η, and standardised log popularity."""

    x: Floats
    against: Floats
    z: Floats

    def q(self, tilt: Tilt) -> Floats:
        """Under a tilt."""
        return np.asarray(1.0 / (1.0 + self.against * np.exp(tilt[0] - tilt[1] * self.z)))


@dataclass(frozen=True, eq=False)
class CensusBlock:
    """Held-out rows of some users, these users' scores, and their totals under a tilt (see ``Census``)."""

    rows: CensusPairs
    census: Census

    def total(self, tilt: Tilt) -> Floats:
        """Σ q over all candidates of each user."""
        return self.census.of_tilt(tilt)[:, 0]

    def slope_of_totals(self, tilt: Tilt) -> Floats:
        """Σ q(1 − q) x over all candidates of these users."""
        sums, user = self.census.of_tilt(tilt)[:, 1:], self.census.features.user
        ahead, last = sums[:, :3].sum(axis=0), sums[:, 3].sum()
        return np.concatenate([ahead, sums[:, 0] @ user, [last]])


@dataclass(frozen=True, eq=False)
class Census:
    """A fitted census model over the users and items of an evaluation.

    Args:
        features: of all pairs, in parts.
        theta: the coefficients.
        z: standardised log popularity of every item.
        inverse: H⁻¹.
        scores: s_u of every user, (users, features).
        outer: Σ s sᵀ over all users.
        tilts: the place of each tilt in the totals.
        totals: Σ q, Σ v, Σ v·(two item features) and Σ v·affinity, v = q(1 − q), over the candidates of each user,
            (users, tilts, 5); empty where no target divides by them.
    """

    features: PairFeatures
    theta: Floats
    z: Floats
    inverse: Floats
    scores: Floats
    outer: Floats
    tilts: Mapping[Tilt, int]
    totals: Floats

    def pairs(self, user: Ints32, item: Ints32) -> CensusPairs:
        """Pairs of codes."""
        x = self.features.of(user, item)
        return CensusPairs(x, np.exp(-np.clip(x @ self.theta, -LIMIT, LIMIT)), self.z[item])

    def block(self, indptr: Ints64, item: Ints32, low: int, high: int) -> CensusBlock:
        """Users ``low`` … ``high − 1`` with their rows."""
        user = np.repeat(np.arange(low, high, dtype=np.int32), np.diff(indptr[low : high + 1]))
        rows = self.pairs(user, item[indptr[low] : indptr[high]])
        return CensusBlock(rows, self.of_users(np.arange(low, high, dtype=np.int32)))

    def of_users(self, users: Ints32) -> Census:
        """The same for some of the users; the model stays that of all."""
        totals = self.totals[users] if len(self.totals) else self.totals
        return replace(self, features=self.features.chosen(users), scores=self.scores[users], totals=totals)

    def of_tilt(self, tilt: Tilt) -> Floats:
        """The totals under one tilt, (users, 5)."""
        return np.asarray(self.totals[:, self.tilts[tilt]])


def tilted(batch: Batch, ranked: Sequence[Ranked], tilt: Tilt, *, divided: bool) -> tuple[Batch, list[Ranked]]:
    """A block with the predictions of its census model under a tilt.

    Args:
        divided: predictions for items outside the catalogue are left out, since the totals lack them.
    """
    census = batch.census
    assert census is not None
    lists = []
    for model in ranked:
        assert model.list_census is not None
        assert model.list_candidates is not None
        counts = model.list_candidates
        if divided and model.list_inside is not None:
            counts = counts & model.list_inside
        lists.append(replace(model, list_q=np.where(counts, model.list_census.q(tilt), 0.0)))
    total = census.total(tilt) if divided else None
    return replace(batch, q=census.rows.q(tilt), q_total=total), lists


def model_errors(
    batch: Batch, ranked: Sequence[Ranked], tilt: Tilt, worths: Floats, *, divided: bool
) -> list[ModelError]:
    """How the sums of a tilted block depend on the model's coefficients, metric by metric.

    Args:
        worths: by [rank, metric].
    """
    census = batch.census
    assert census is not None
    assert batch.q is not None
    own, rows, model = batch.q * (1.0 - batch.q), census.rows, census.census
    width = rows.x.shape[1]
    below = census.slope_of_totals(tilt) - own @ rows.x if divided else np.zeros(width)
    above = np.zeros((worths.shape[1], len(ranked), width))
    for j, each in enumerate(ranked):
        assert each.list_q is not None
        assert each.list_census is not None
        listed = _worth(worths, each.list_rank) * (each.list_q * (1.0 - each.list_q))[:, None]
        seen = _worth(worths, each.rank) * own[:, None]
        above[:, j] = listed.T @ each.list_census.x - seen.T @ rows.x
    return [ModelError(numerators, below, model.inverse, model.outer) for numerators in above]


def _worth(worths: Floats, rank: Ints32) -> Floats:
    """What ranks are worth, (ranks, metrics); 0 is no rank."""
    inside = (rank > 0) & (rank < len(worths))
    return np.where(inside[:, None], worths[np.where(inside, rank, 0)], 0.0)
