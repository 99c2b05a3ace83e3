"""What all sums of ranking metrics have in common: a table of what ranks are worth."""

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
from unskew.kernels.moments import carried
from unskew.metrics import RankingMetric


@dataclass(frozen=True, eq=False)
class RankSums:
    """Ranking metrics and models; ranks 1 … ``depth`` may be worth something."""

    metrics: tuple[RankingMetric, ...]
    models: int
    depth: int

    @cached_property
    def worths(self) -> Floats:
        """Worth by [rank, metric]."""
        return np.ascontiguousarray(np.stack([metric.table(self.depth) for metric in self.metrics], axis=1))

    def carried(
        self, batch: Batch, summand: Summand, ranked: Sequence[Ranked], divisor: Floats, every: Tally, out: Floats
    ) -> None:
        """Add up the pairs that carry the values, (metrics, models, 4)."""
        for j, model in enumerate(ranked):
            carried(batch.indptr, present(summand.weight), model.rank, self.worths, divisor, out[:, j])

    def difference(self, batch: Batch, a: Ranked, b: Ranked, metric: int) -> Floats:
        """What every seen pair says for model a against model b, for each unit that it counts."""
        out = np.empty(len(a.rank))
        sums.worth_difference(a.rank, b.rank, self.worths, metric, out)
        return out
