"""Sums per user over what a list holds: seen pairs by their weights, and an outcome model's q of listed pairs.

s = Σ over seen pairs  w·(y or y − q)·worth(rank)  +  Σ over listed pairs  q·worth(rank)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.engine.data import Ranked
from unskew.engine.rank_sums import RankSums
from unskew.engine.summand import Summand
from unskew.estimators.base import Batch
from unskew.kernels import sums
from unskew.kernels.arrays import Floats, Ints64, present


@dataclass(frozen=True, eq=False)
class ListSums(RankSums):
    """Metrics of lists, summed per user.

    Args:
        only_catalogue: whether predictions for items outside the catalogue are left out, since the total lacks them.
    """

    only_catalogue: bool

    def fill(
        self,
        batch: Batch,
        summand: Summand,
        ranked: Sequence[Ranked],
        first: int,
        own: Floats,
        listed: int | None = None,
    ) -> None:
        """Fill the columns of all metrics and models, from ``first`` on; predictions alone from ``listed`` on."""
        for j, model in enumerate(ranked):
            columns = self._columns(first, j)
            own[:, columns] = 0.0
            for _ in range(summand.listed):
                self._add_listed(model, columns, own)
            if listed is not None:
                own[:, self._columns(listed, j)] = own[:, columns]
            if summand.weight is not None:
                sums.over_seen(batch.indptr, summand.weight, model.rank, self.worths, columns, own)

    def fill_lists(
        self, batch: Batch, numbers: Floats, ranked: Sequence[Ranked], weight: int, worth: int, own: Floats
    ) -> None:
        """From column ``weight`` on Σ w·worth over the seen pairs of each list, from ``worth`` on Σ worth over it."""
        for j, model in enumerate(ranked):
            of_weights, of_worths = self._columns(weight, j), self._columns(worth, j)
            own[:, of_weights] = 0.0
            sums.over_seen(batch.indptr, numbers, model.rank, self.worths, of_weights, own)
            own[:, of_worths] = 0.0
            candidates = present(model.list_candidates).astype(np.float64)
            sums.over_lists(model.list_indptr, model.list_rank, candidates, self.worths, of_worths, own)

    def _columns(self, first: int, model: int) -> Ints64:
        return first + np.arange(len(self.metrics), dtype=np.int64) * self.models + model

    def _add_listed(self, model: Ranked, columns: Ints64, own: Floats) -> None:
        q = present(model.list_q)
        if self.only_catalogue and model.list_inside is not None:
            q = np.where(model.list_inside, q, 0.0)
        sums.over_lists(model.list_indptr, model.list_rank, q, self.worths, columns, own)
