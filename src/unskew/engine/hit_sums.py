"""Sums over the relevant items that a list holds (per_user, pooled), and the metrics that are no such sums.

additive    Σ w·worth(rank) / d
ideal       Σ w·worth(rank) / the best that these weights allow               ndcg
precision   Σ w·precision at the item's rank / d                              map
first, cut  what one item, or the first n* ranks, say: without weights        mrr, hit, r_precision
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.data import Ranked
from unskew.engine.rank_sums import RankSums
from unskew.engine.summand import Summand
from unskew.estimators.base import Batch
from unskew.kernels import sums
from unskew.kernels.arrays import Floats, Ints32, Ints64, present
from unskew.metrics import Shape

SUMMED = (Shape.ADDITIVE, Shape.IDEAL, Shape.PRECISION)


@dataclass(frozen=True, eq=False)
class HitSums(RankSums):
    """Metrics of lists, summed over the relevant items.

    Args:
        inside: whether sums are divided user by user.
    """

    inside: bool

    def fill(self, batch: Batch, summand: Summand, ranked: Sequence[Ranked], first: int, own: Floats) -> None:
        """Fill the columns of all metrics and models, from column ``first`` on."""
        weight = present(summand.weight)
        shapes, table, additive, places = self._summed
        below = np.empty((0, 0))
        if self.inside and shapes:
            below = np.hstack([self._divisors(shape, batch, weight, summand) for shape in shapes])
        for model, rank in enumerate(each.rank for each in ranked):
            if shapes:
                columns = first + places * self.models + model
                sums.over_hits(batch.indptr, weight, batch.value, rank, table, additive, below, columns, own)
            self._fill_unweighted(batch, rank, first + model, own)

    @cached_property
    def _groups(self) -> dict[Shape, list[int]]:
        """Metrics by shape: one kernel call serves all of a shape."""
        groups: dict[Shape, list[int]] = {}
        for place, metric in enumerate(self.metrics):
            groups.setdefault(metric.shape, []).append(place)
        return groups

    @cached_property
    def _tables(self) -> dict[Shape, Floats]:
        """Per shape, worth by [rank, metric]."""
        return {shape: np.ascontiguousarray(self.worths[:, places]) for shape, places in self._groups.items()}

    @cached_property
    def _summed(self) -> tuple[list[Shape], Floats, int, Ints64]:
        """The shapes that are sums over hits, one table for all, how many columns are additive, and the places."""
        shapes: list[Shape] = [shape for shape in SUMMED if shape in self._groups]
        places = np.array([t for shape in shapes for t in self._groups[shape]], dtype=np.int64)
        additive = len(places) - len(self._groups.get(Shape.PRECISION, ()))
        return shapes, np.ascontiguousarray(self.worths[:, places]), additive, places

    def _fill_unweighted(self, batch: Batch, rank: Ints32, first: int, own: Floats) -> None:
        """Metrics that look at single items of a user, which have no weights: the first hit, the first n* ranks."""
        for shape, places in self._groups.items():
            if shape in SUMMED:
                continue
            out = np.empty((batch.users, len(places)))
            if shape is Shape.FIRST:
                sums.best(batch.indptr, batch.value, rank, self._tables[shape], out)
            else:
                sums.cut(batch.indptr, batch.value, rank, out)
            own[:, [first + t * self.models for t in places]] = out

    def _divisors(self, shape: Shape, batch: Batch, weight: Floats, summand: Summand) -> Floats:
        """What each user's sum over hits is divided by, (users, metrics); 0 where the user does not count."""
        places = self._groups[shape]
        out = np.repeat(present(summand.divisor)[:, None], len(places), axis=1)
        if shape is Shape.IDEAL:
            table = self._tables[shape]
            sums.ideal(batch.indptr, weight, table, out)
            full = [j for j, t in enumerate(places) if getattr(self.metrics[t], "ideal", "") == "full"]
            out[:, full] = np.where(out[:, full] > 0.0, table[:, full].sum(axis=0), 0.0)
        least = [j for j, t in enumerate(places) if getattr(self.metrics[t], "divide", "") == "min"]
        if least:
            largest = np.empty((batch.users, len(least)))
            cuts = np.array([self.metrics[places[j]].k for j in least], dtype=np.int64)
            sums.largest(batch.indptr, present(summand.numbers) * batch.value, cuts, largest)
            out[:, least] = largest
        return out
