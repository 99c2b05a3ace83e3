"""An arm is one estimator for one average over relevant items: it fills the per-user columns of all its metrics.

    per_user       a = s/d where d > 0, b = 1 there             (a user without a divisor does not count)
    pooled         a = s, b = d

s is a model's weighted sum over the user's seen items; an estimate is Σ a / Σ b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.held import Floats, Ints32, Ints64, Ranked, user_sums
from unskew.estimators.base import Batch, Divisor, Estimator, Need, Normaliser
from unskew.estimators.target import Target
from unskew.inference.form import Form
from unskew.inference.tally import Carried, Tally
from unskew.kernels import sums
from unskew.kernels.moments import carried
from unskew.kernels.tilts import gap
from unskew.metrics import RankingMetric, Shape


@dataclass(frozen=True, eq=False)
class Arm:
    """One estimator × target and its metrics.

    Args:
        estimator: prepared.
        models: how many models there are.
        depth: ranks 1 … depth may be worth something.
        start: the arm's first column.
    """

    estimator: Estimator
    target: Target
    metrics: tuple[RankingMetric, ...]
    models: int
    depth: int
    start: int

    @property
    def width(self) -> int:
        """Columns of this arm: the metrics' by model, then divisor and seen."""
        return len(self.metrics) * self.models + 2

    def form_of(self, metric: int) -> Form:
        """How a metric's estimate is made of its columns."""
        return Form(self.models)

    @property
    def inside_users(self) -> bool:
        """Whether ratios are taken inside each user."""
        return self.target is Target.PER_USER and Need.RELEVANT not in self.estimator.needs(self.target)

    def columns(self, metric: int) -> Ints64:
        """The columns of one metric's cell: the models' a, then b."""
        first = self.start + metric * self.models
        divisor, seen = range(self.start + len(self.metrics) * self.models, self.start + self.width)
        b = seen if self.metrics[metric].shape is Shape.IDEAL else divisor
        return np.array([*range(first, first + self.models), b], dtype=np.int64)

    def gap(self, batch: Batch, a: Ranked, b: Ranked, metric: int) -> Floats:
        """What every seen pair says for model a against model b, for each unit of its value."""
        out = np.empty(len(batch.value))
        gap(a.rank, b.rank, self.metrics[metric].table(self.depth), out)
        return out

    def counted(self, batch: Batch) -> Floats:
        """How much every seen pair counts besides its weight."""
        return batch.value

    def fill(self, batch: Batch, ranked: Sequence[Ranked], x: Floats) -> tuple[Tally, Carried]:
        """Fill this arm's columns for a batch of users, and tally its weights and those that carry its values."""
        (term,) = self.estimator.terms(batch, self.target)
        assert term.seen is not None
        weight = term.seen * batch.value
        d = divisor_of(term.divisor, batch)
        counts = d > 0.0
        per_user = self.target is Target.PER_USER
        own = x[:, self.start : self.start + self.width]
        own[:, -2] = counts if per_user else d
        own[:, -1] = user_sums(batch, weight) > 0.0
        shapes, table, additive, places = self._listed
        below = np.empty((0, 0))
        if per_user and shapes:
            below = np.hstack([self._denominators(shape, batch, weight, term.divisor, d) for shape in shapes])
        for model, rank in enumerate(each.rank for each in ranked):
            if shapes:
                columns = places * self.models + model
                sums.listed(batch.indptr, weight, batch.value, rank, table, additive, below, columns, own)
            self._looked_at(batch, rank, model, own)
        shared = d if per_user else np.ones(batch.users)
        found = Carried.nothing(len(self.metrics), self.models)
        for model, rank in enumerate(each.rank for each in ranked):
            carried(batch.indptr, weight, rank, self._worths, shared, found.sums[:, model])
        return Tally.of(batch.indptr, term.seen, batch.value, shared, term.raised), found

    @cached_property
    def _groups(self) -> dict[Shape, list[int]]:
        """Metrics by shape: one kernel call serves all of a shape."""
        groups: dict[Shape, list[int]] = {}
        for place, metric in enumerate(self.metrics):
            groups.setdefault(metric.shape, []).append(place)
        return groups

    @cached_property
    def tables(self) -> dict[Shape, Floats]:
        """Per shape, worth by [rank, metric]."""
        return {
            shape: np.ascontiguousarray(np.stack([self.metrics[t].table(self.depth) for t in places], axis=1))
            for shape, places in self._groups.items()
        }

    @cached_property
    def _worths(self) -> Floats:
        """Worth by [rank, metric], in the metrics' order."""
        return np.ascontiguousarray(np.stack([metric.table(self.depth) for metric in self.metrics], axis=1))

    @cached_property
    def _listed(self) -> tuple[list[Shape], Floats, int, Ints64]:
        """The shapes that are sums over hits, one table for all, how many columns are additive, and the places."""
        summed = (Shape.ADDITIVE, Shape.IDEAL, Shape.PRECISION)
        shapes: list[Shape] = [shape for shape in summed if shape in self._groups]
        table = np.hstack([self.tables[shape] for shape in shapes]) if shapes else np.zeros((1, 0))
        places = np.array([t for shape in shapes for t in self._groups[shape]], dtype=np.int64)
        additive = len(places) - len(self._groups.get(Shape.PRECISION, ()))
        return shapes, np.ascontiguousarray(table), additive, places

    def _looked_at(self, batch: Batch, rank: Ints32, model: int, own: Floats) -> None:
        """Metrics that look at single items of a user, which have no weights: the first hit, the first n* ranks."""
        for shape, places in self._groups.items():
            if shape not in (Shape.FIRST, Shape.CUT):
                continue
            out = np.empty((batch.users, len(places)))
            if shape is Shape.FIRST:
                sums.best(batch.indptr, batch.value, rank, self.tables[shape], out)
            else:
                sums.cut(batch.indptr, batch.value, rank, out)
            own[:, [t * self.models + model for t in places]] = out

    def _denominators(self, shape: Shape, batch: Batch, weight: Floats, divisor: Divisor, d: Floats) -> Floats:
        """What each user's sum over hits is divided by, (users, metrics); 0 where the user does not count."""
        places = self._groups[shape]
        out = np.repeat(d[:, None], len(places), axis=1)
        if shape is Shape.IDEAL:
            sums.ideal(batch.indptr, weight, self.tables[shape], out)
            full = [j for j, t in enumerate(places) if getattr(self.metrics[t], "ideal", "") == "full"]
            out[:, full] = np.where(out[:, full] > 0.0, self.tables[shape][:, full].sum(axis=0), 0.0)
        least = [j for j, t in enumerate(places) if getattr(self.metrics[t], "divide", "") == "min"]
        if least:
            assert divisor.numbers is not None
            largest = np.empty((batch.users, len(least)))
            cuts = np.array([self.metrics[places[j]].k for j in least], dtype=np.int64)
            sums.largest(batch.indptr, divisor.numbers * batch.value, cuts, largest)
            out[:, least] = largest
        return out


def divisor_of(divisor: Divisor, batch: Batch) -> Floats:
    """The number per user by which a term is divided."""
    if divisor.kind is Normaliser.USERS:
        assert divisor.numbers is not None
        return divisor.numbers
    if divisor.kind is Normaliser.PAIRS:
        assert divisor.numbers is not None
        return user_sums(batch, divisor.numbers * batch.value)
    assert batch.relevant is not None
    return batch.relevant
