"""An arm of averages over pairs: one estimator for ``per_pair``, the costs δ of all its metrics.

    per_pair                a = Σ w δ over the user's seen pairs, b = Σ w (or |C_u|, the target's own divisor)
    per_pair, over=user     a = Σ w δ / Σ w where there are any, b = 1 there

δ is the error of a prediction, or |C_u| · y · worth(rank); neither is multiplied by y again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.held import Floats, Ints64, Ranked, user_sums
from unskew.estimators.base import Batch, Estimator, Normaliser, Over, Term
from unskew.estimators.target import Target
from unskew.inference.form import Form
from unskew.inference.tally import Carried, Tally
from unskew.kernels import sums
from unskew.metrics import Metric, RankingMetric


@dataclass(frozen=True, eq=False)
class RatedArm:
    """One estimator for averages over pairs, and its metrics.

    Args:
        estimator: prepared.
        models: how many models there are.
        depth: ranks 1 … depth may be worth something.
        start: the arm's first column.
    """

    estimator: Estimator
    metrics: tuple[Metric, ...]
    models: int
    depth: int
    start: int
    target: Target = Target.PER_PAIR

    @property
    def width(self) -> int:
        """Columns of this arm: the metrics' by model, then the divisor."""
        return len(self.metrics) * self.models + 1

    @property
    def inside_users(self) -> bool:
        """Whether ratios are taken inside each user."""
        return self.estimator.normalised is Over.USER

    def form_of(self, metric: int) -> Form:
        """How a metric's estimate is made of its columns."""
        return Form(self.models, root=self.metrics[metric].root)

    def columns(self, metric: int) -> Ints64:
        """The columns of one metric's cell: the models' a, then b."""
        first = self.start + metric * self.models
        return np.array([*range(first, first + self.models), self.start + self.width - 1], dtype=np.int64)

    def fill(self, batch: Batch, ranked: Sequence[Ranked], x: Floats) -> tuple[Tally, Carried]:
        """Fill this arm's columns for a batch of users, and tally its weights and those that carry its values."""
        (term,) = self.estimator.terms(batch, self.target)
        assert term.seen is not None
        own = x[:, self.start : self.start + self.width]
        d = self.divisor(term, batch)
        own[:, -1] = d > 0.0 if self.inside_users else d
        total = np.empty(batch.users)
        shared = d if self.inside_users else np.ones(batch.users)
        found = Carried.nothing(len(self.metrics), self.models)
        errors = Tally.of(batch.indptr, term.seen, self.counted(batch), shared, term.raised)
        for j, model in enumerate(ranked):
            for t, metric in enumerate(self.metrics):
                costs = self.costs(batch, model, t)
                hits = (
                    Tally.of(batch.indptr, term.seen, costs, shared, 0) if isinstance(metric, RankingMetric) else errors
                )
                found.sums[t, j] = hits.total, hits.squares, hits.largest, hits.pairs
                sums.per_user(batch.indptr, term.seen * costs, total)
                if self.inside_users:
                    np.divide(total, d, out=total, where=d > 0.0)
                own[:, t * self.models + j] = total
        return errors, found

    def costs(self, batch: Batch, model: Ranked, metric: int) -> Floats:
        """δ of every seen pair of the batch under one model and metric."""
        asked = self.metrics[metric]
        if not isinstance(asked, RankingMetric):
            assert batch.rating is not None
            assert model.predicted is not None
            return asked.cost(batch.rating, model.predicted)
        assert batch.candidates is not None
        table = self._tables[metric]
        worth = table[np.where(model.rank < len(table), model.rank, 0)]
        return np.asarray(np.repeat(batch.candidates, np.diff(batch.indptr)) * batch.value * worth)

    def gap(self, batch: Batch, a: Ranked, b: Ranked, metric: int) -> Floats:
        """What every seen pair says for model a against model b."""
        return self.costs(batch, a, metric) - self.costs(batch, b, metric)

    def counted(self, batch: Batch) -> Floats:
        """How much every seen pair counts besides its weight: all alike, since δ holds the value."""
        return np.ones(len(batch.value))

    def divisor(self, term: Term, batch: Batch) -> Floats:
        """What the sums are divided by, per user."""
        if term.divisor.kind is Normaliser.OWN:
            assert batch.candidates is not None
            return batch.candidates
        assert term.divisor.numbers is not None
        return user_sums(batch, term.divisor.numbers)

    @cached_property
    def _tables(self) -> dict[int, Floats]:
        """Worth by rank of the ranking metrics among these."""
        return {t: m.table(self.depth) for t, m in enumerate(self.metrics) if isinstance(m, RankingMetric)}
