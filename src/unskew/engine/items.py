"""Ratios per item (``snips(over=item)``): the mean over items of Σ rδ / Σ r over the item's seen pairs.

Sums over items do not belong to any user, so there is no error clustered by user: a point estimate only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.pair_costs import PairCosts
from unskew.estimators.base import Batch, Term
from unskew.inference.tally import Tally
from unskew.kernels.arrays import Floats, present


@dataclass(frozen=True, eq=False)
class ItemSums:
    """Σ rδ by [metric, model, item], and Σ r by item; they merge."""

    costs: Floats
    weights: Floats

    def merge(self, other: ItemSums) -> ItemSums:
        """The sums of both sets of users."""
        items = max(len(self.weights), len(other.weights))
        costs, weights = np.zeros((*self.costs.shape[:2], items)), np.zeros(items)
        for one in (self, other):
            costs[..., : len(one.weights)] += one.costs
            weights[: len(one.weights)] += one.weights
        return ItemSums(costs, weights)

    def ratios(self, run: EstimatorRun) -> Floats:
        """The estimate of every metric and model, (metrics, models)."""
        seen = self.weights > 0.0
        if not seen.any():
            return np.full(self.costs.shape[:2], np.nan)
        mean = np.mean(self.costs[..., seen] / self.weights[seen], axis=-1)
        roots = np.array([metric.root for metric in run.metrics])
        return np.asarray(np.where(roots[:, None], np.sqrt(np.maximum(mean, 0.0)), mean), dtype=np.float64)


def item_sums(held: EvaluationData, run: EstimatorRun) -> ItemSums:
    """The sums of every item."""
    batch, term = _of_all(held, run)
    assert isinstance(run.sums, PairCosts)
    weights = np.bincount(held.item, term.divisor.numbers).astype(np.float64)
    costs = np.empty((len(run.metrics), run.models, len(weights)))
    for j, model in enumerate(held.ranked(0, held.users)):
        for t in range(len(run.metrics)):
            costs[t, j] = np.bincount(held.item, present(term.seen) * run.sums.costs(batch, model, t))
    return ItemSums(costs, weights)


def item_tally(held: EvaluationData, run: EstimatorRun, weights: Floats) -> Tally:
    """The tally of the weights, each over the sum of those of its item."""
    batch, term = _of_all(held, run)
    return Tally.of(batch.indptr, present(term.seen), 1.0 / weights[held.item], np.ones(batch.users), term.raised)


def _of_all(held: EvaluationData, run: EstimatorRun) -> tuple[Batch, Term]:
    batch = held.batch(0, held.users)
    (term,) = run.estimator.terms(batch, run.target)
    return batch, term
