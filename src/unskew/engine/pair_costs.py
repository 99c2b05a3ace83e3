"""Costs of pairs (per_pair): the error of a prediction, or |C_u| · y · worth(rank); both hold the value of the pair.

Where an outcome model guesses errors and is corrected, a seen pair says δ − q, and every candidate q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.data import Ranked
from unskew.engine.summand import Summand
from unskew.estimators.base import Batch
from unskew.inference.tally import Tally
from unskew.kernels import sums
from unskew.kernels.arrays import Floats, present
from unskew.metrics import Metric, RankingMetric


@dataclass(frozen=True, eq=False)
class PairCosts:
    """Metrics that are averages over pairs.

    Args:
        depth: ranks 1 … depth may be worth something.
        inside: whether sums are divided user by user.
        corrected: whether an outcome model is corrected by what was seen.
    """

    metrics: tuple[Metric, ...]
    models: int
    depth: int
    inside: bool
    corrected: bool = False

    def fill(
        self,
        batch: Batch,
        summand: Summand,
        ranked: Sequence[Ranked],
        first: int,
        own: Floats,
        outcomes: int | None = None,
    ) -> None:
        """Fill the columns of all metrics and models, from column ``first`` on; guesses alone from ``outcomes`` on."""
        seen, divisor, total = present(summand.seen), present(summand.divisor), np.empty(batch.users)
        for j, model in enumerate(ranked):
            for t in range(len(self.metrics)):
                sums.per_user(batch.indptr, seen * self._told(batch, model, t), total)
                if summand.listed:
                    guessed = model.guessed[str(self.metrics[t])].totals
                    total += summand.listed * guessed
                    if outcomes is not None:
                        own[:, outcomes + t * self.models + j] = guessed
                if self.inside:
                    np.divide(total, divisor, out=total, where=divisor > 0.0)
                own[:, first + t * self.models + j] = total

    def carried(
        self, batch: Batch, summand: Summand, ranked: Sequence[Ranked], divisor: Floats, every: Tally, out: Floats
    ) -> None:
        """Add up the pairs that carry the values, (metrics, models, 4); errors of predictions rest on all pairs."""
        for t, metric in enumerate(self.metrics):
            for j, model in enumerate(ranked):
                found = every
                if isinstance(metric, RankingMetric):
                    found = Tally.of(batch.indptr, present(summand.seen), self.costs(batch, model, t), divisor, 0)
                out[t, j] = found.total, found.squares, found.largest, found.pairs

    def difference(self, batch: Batch, a: Ranked, b: Ranked, metric: int) -> Floats:
        """What every seen pair says for model a against model b."""
        return self._told(batch, a, metric) - self._told(batch, b, metric)

    def _told(self, batch: Batch, model: Ranked, metric: int) -> Floats:
        """What every seen pair says: its cost, less the guess of it where that is corrected."""
        costs = self.costs(batch, model, metric)
        return costs - model.guessed[str(self.metrics[metric])].rows if self.corrected else costs

    def costs(self, batch: Batch, model: Ranked, metric: int) -> Floats:
        """δ of every seen pair of the batch under one model and metric."""
        asked = self.metrics[metric]
        if not isinstance(asked, RankingMetric):
            return asked.cost(present(batch.rating), present(model.predicted))
        table = self._tables[metric]
        worth = table[np.where(model.rank < len(table), model.rank, 0)]
        return np.asarray(np.repeat(present(batch.candidates), np.diff(batch.indptr)) * batch.value * worth)

    @cached_property
    def _tables(self) -> dict[int, Floats]:
        """Worth by rank of the ranking metrics among these."""
        return {t: m.table(self.depth) for t, m in enumerate(self.metrics) if isinstance(m, RankingMetric)}
