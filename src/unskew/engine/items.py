"""Sums per item: for ratios per item (``snips(over=item)``), and for what an item's weight does to all its rows.

The mean over items of Σ rδ / Σ r over the item's seen pairs does not belong to any user, so there is no error clustered
by user: a point estimate only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.pair_costs import PairCosts
from unskew.engine.walk import walk
from unskew.estimators.base import Batch, Term
from unskew.inference.tally import Tally
from unskew.kernels.arrays import Floats, Ints32, present


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


def item_worths(held: EvaluationData, worths: Floats, threads: int | None) -> ItemSums:
    """What every item brings to sums over relevant pairs: Σ y·worth by metric, model and item, and Σ y by item."""

    def one(low: int, high: int) -> list[tuple[Ints32, Floats]]:
        rows = slice(held.indptr[low], held.indptr[high])
        item, value, found = held.item[rows], held.value[rows], []
        for model in held.ranked(low, high):
            hit = (model.rank > 0) & (model.rank < len(worths)) & (value > 0.0)
            found.append((item[hit], value[hit, None] * worths[model.rank[hit]]))
        return found

    weights = np.bincount(held.item, held.value).astype(np.float64)
    costs = np.zeros((worths.shape[1], len(held.lists), len(weights)))
    blocks = list(walk(held.users, one, threads))
    for j in range(len(held.lists)):
        item, worth = (np.concatenate(part) for part in zip(*(block[j] for block in blocks), strict=True))
        for t in range(worths.shape[1]):
            costs[t, j] = np.bincount(item, worth[:, t], len(weights))
    return ItemSums(costs, weights)


def item_tally(held: EvaluationData, run: EstimatorRun, weights: Floats) -> Tally:
    """The tally of the weights, each over the sum of those of its item."""
    batch, term = _of_all(held, run)
    return Tally.of(batch.indptr, present(term.seen), 1.0 / weights[held.item], np.ones(batch.users), term.raised)


def _of_all(held: EvaluationData, run: EstimatorRun) -> tuple[Batch, Term]:
    batch = held.batch(0, held.users)
    (term,) = run.estimator.terms(batch, run.target)
    return batch, term
