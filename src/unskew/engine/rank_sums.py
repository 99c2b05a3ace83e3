"""Sums of ranking metrics, from a table of what ranks are worth.

``HitSums``: over the relevant items that a list holds (per_user, pooled), and the metrics that are no such sums.

additive    Σ w·worth(rank) / d
ideal       Σ w·worth(rank) / the best that these weights allow               ndcg
precision   Σ w·precision at the item's rank / d                              map
first, cut  what one item, or the first n* ranks, say: without weights        mrr, hit, r_precision

``ListSums``: per user over what a list holds, seen pairs by their weights, and an outcome model's q of listed pairs.

s = Σ over seen pairs  w·(y or y − q)·worth(rank)  +  Σ over listed pairs  q·worth(rank)
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
from unskew.kernels.arrays import Floats, Ints32, Ints64, present
from unskew.kernels.moments import carried
from unskew.metrics import RankingMetric, Shape

SUMMED = (Shape.ADDITIVE, Shape.IDEAL, Shape.PRECISION)


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
