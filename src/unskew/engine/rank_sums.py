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
from unskew.kernels.hits import LANES, carried, over_hits
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
            hits = model.hits(batch, len(self.worths))
            carried(hits.starts, hits.row, hits.place, present(summand.weight), self.worths, divisor, out[:, j])

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
        weight, (table, additive, places) = present(summand.weight), self._summed
        below = self._divisors(batch, weight, summand) if self.inside else np.empty((0, 0))
        for j, model in enumerate(ranked):
            if len(places):
                columns = np.where(places >= 0, first + places * self.models + j, -1)
                hits = model.hits(batch, len(table)).arrays
                over_hits(*hits, weight, table, additive, below, self._divisor_of, columns, own.T)
            self._fill_unweighted(batch, model.rank, first + j, own)

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
    def _summed(self) -> tuple[Floats, int, Ints64]:
        """One table for all metrics that are sums over hits, how many columns of it are additive, and their places.

        Columns are filled up with zeros as ``over_hits`` asks for it; those are at place −1.
        """
        additive = _filled_up([t for shape in SUMMED[:-1] for t in self._groups.get(shape, ())])
        places = np.array(additive + _filled_up(self._groups.get(Shape.PRECISION, [])), dtype=np.int64)
        return np.where(places >= 0, self.worths[:, places], 0.0), len(additive), places

    @cached_property
    def _divisor_of(self) -> Ints64:
        """Which of the rows of ``_divisors`` each of these is divided by."""
        found = {t: 1 + j for j, t in enumerate(self._groups.get(Shape.IDEAL, ()))}
        found |= {t: 1 + len(found) + j for j, t in enumerate(self._least)}
        return np.array([found.get(t, 0) for t in self._summed[2].tolist()], dtype=np.int64)

    @cached_property
    def _least(self) -> list[int]:
        """The places of the metrics that are divided by as many items as a list can hold, at most."""
        return [t for shape in SUMMED for t in self._groups.get(shape, ()) if self._option(t, "divide") == "min"]

    def _option(self, place: int, name: str) -> str:
        return str(getattr(self.metrics[place], name, ""))

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

    def _divisors(self, batch: Batch, weight: Floats, summand: Summand) -> Floats:
        """What each user's sums over hits are divided by, (kinds, users); 0 where the user does not count.

        The first row is the term's divisor, then come those of metrics that have their own (``_divisor_of``).
        """
        places, least = self._groups.get(Shape.IDEAL, []), self._least
        out = np.empty((1 + len(places) + len(least), batch.users))
        out[0] = present(summand.divisor)
        if places:
            table, best = self._tables[Shape.IDEAL], out[1 : 1 + len(places)]
            sums.ideal(batch.indptr, weight, table, best)
            for j, t in enumerate(places):
                if self._option(t, "ideal") == "full":
                    best[j] = np.where(best[j] > 0.0, table[:, j].sum(), 0.0)
        if least:
            largest = np.empty((batch.users, len(least)))
            cuts = np.array([self.metrics[t].k for t in least], dtype=np.int64)
            sums.largest(batch.indptr, present(summand.numbers) * batch.value, cuts, largest)
            out[1 + len(places) :] = largest.T
        return out


def _filled_up(places: list[int]) -> list[int]:
    return places + [-1] * (-len(places) % LANES)


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
                sums.over_seen(batch.indptr, summand.weight, model.rank, self.worths, columns, own.T)

    def fill_lists(
        self, batch: Batch, numbers: Floats, ranked: Sequence[Ranked], weight: int, worth: int, own: Floats
    ) -> None:
        """From column ``weight`` on Σ w·worth over the seen pairs of each list, from ``worth`` on Σ worth over it."""
        for j, model in enumerate(ranked):
            of_weights, of_worths = self._columns(weight, j), self._columns(worth, j)
            own[:, of_weights] = 0.0
            sums.over_seen(batch.indptr, numbers, model.rank, self.worths, of_weights, own.T)
            own[:, of_worths] = 0.0
            candidates = present(model.list_candidates).astype(np.float64)
            sums.over_lists(model.list_indptr, model.list_rank, candidates, self.worths, of_worths, own.T)

    def _columns(self, first: int, model: int) -> Ints64:
        return first + np.arange(len(self.metrics), dtype=np.int64) * self.models + model

    def _add_listed(self, model: Ranked, columns: Ints64, own: Floats) -> None:
        q = present(model.list_q)
        if self.only_catalogue and model.list_inside is not None:
            q = np.where(model.list_inside, q, 0.0)
        sums.over_lists(model.list_indptr, model.list_rank, q, self.worths, columns, own.T)
