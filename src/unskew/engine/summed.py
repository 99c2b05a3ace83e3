"""An arm of sums per user: one estimator for ``per_user_sum``, plain or normalised, and all its metrics.

    s = Σ over seen pairs  w·(y or y − q)·worth(rank)  +  Σ over listed pairs  q·worth(rank)     (of each term)
    D = Σ over seen pairs  w·(y or y − q)              +  Σ over all candidates q                (the estimated total)

    plain                  (s, 1)
    divided by pairs       (s, Σ w)(|C_u|, 1)
    divided by the list    (s, Σ w·worth)(Σ over the list of worth, 1)
    normalised=pooled      (s, D)
    normalised=per_user    (s/D cut to [0, 1], 0 where D ≤ 0; 1)

An estimate is the sum over terms of the product of Σ a / Σ b. Listed pairs are asked about block by block, so the cost
is that of the lists, whatever the size of the catalogue. Where tipping points will want the guesses by themselves, they
have columns of their own: nobody asks twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.held import Floats, Ints64, Ranked, user_sums
from unskew.estimators.base import Batch, Estimator, Normaliser, Term
from unskew.estimators.target import Target
from unskew.inference.form import Form
from unskew.inference.tally import Carried, Tally
from unskew.kernels import sums
from unskew.kernels.moments import carried
from unskew.metrics import RankingMetric

NOBODY = Batch(
    indptr=np.zeros(1, dtype=np.int64),
    value=np.empty(0),
    propensity=np.empty(0),
    candidates=np.empty(0),
    q=np.empty(0),
    q_total=np.empty(0),
)


@dataclass(frozen=True, eq=False)
class SummedArm:
    """One estimator of sums per user, and its metrics.

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
    inside_users: bool = False

    @cached_property
    def _kinds(self) -> tuple[Normaliser, ...]:
        """What each term is divided by, asked of nobody."""
        return tuple(term.divisor.kind for term in self.estimator.terms(NOBODY, self.target))

    @cached_property
    def _blocks(self) -> dict[str, int]:
        """Where each block of columns begins: per term s and, for the list, Σ w·worth; guesses; then what all share."""
        size, found, place = len(self.metrics) * self.models, {}, 0
        for t, kind in enumerate(self._kinds):
            found[f"s{t}"] = place
            place += size
            if kind is Normaliser.LISTED:
                found[f"w{t}"], found[f"list{t}"] = place, place + size
                place += 2 * size
            if kind is Normaliser.PAIRS:
                found[f"d{t}"] = place
                place += 1
        if self.estimator.corrects and self.estimator.bends and self.target is not Target.SUM_PER_USER:
            found["guesses"] = place
            place += size
        shared = {"total": self.target.normalised, "candidates": Normaliser.PAIRS in self._kinds, "one": True}
        for name in (name for name, used in shared.items() if used):
            found[name] = place
            place += 1
        return found | {"end": place}

    @property
    def width(self) -> int:
        """How many columns the arm fills."""
        return self._blocks["end"]

    def form_of(self, metric: int) -> Form:
        """How a metric's estimate is made of its columns."""
        factors: dict[Normaliser, tuple[bool, ...]] = {
            Normaliser.PAIRS: (False, False),
            Normaliser.LISTED: (True, False),
        }
        return Form(self.models, tuple(factors.get(kind, (False,)) for kind in self._kinds))

    def columns(self, metric: int) -> Ints64:
        """The columns of one metric's cell, term by term and factor by factor."""
        at = self._blocks
        found: list[int] = []
        one = self.start + at["one"]
        for t, kind in enumerate(self._kinds):
            found += self._of_models(f"s{t}", metric)
            if kind is Normaliser.PAIRS:
                found += [self.start + at[f"d{t}"]] + [self.start + at["candidates"]] * self.models + [one]
            elif kind is Normaliser.LISTED:
                found += [*self._of_models(f"w{t}", metric), *self._of_models(f"list{t}", metric), one]
            else:
                found.append(self.start + at["total"] if self.target is Target.SUM_POOLED else one)
        return np.array(found, dtype=np.int64)

    def guesses(self, metric: int) -> Ints64 | None:
        """The columns of Σ q·worth over each model's list, where tipping points want them: what no weight can bend."""
        return np.array(self._of_models("guesses", metric)) if "guesses" in self._blocks else None

    def _of_models(self, block: str, metric: int) -> range:
        first = self.start + self._blocks[block] + metric * self.models
        return range(first, first + self.models)

    def fill(self, batch: Batch, ranked: Sequence[Ranked], x: Floats) -> tuple[Tally, Carried]:
        """Fill this arm's columns for a batch of users, and tally its weights and those that carry its values."""
        at = self._blocks
        own = x[:, self.start : self.start + self.width]
        own[:, at["one"]] = 1.0
        if "candidates" in at:
            own[:, at["candidates"]] = 0.0 if batch.candidates is None else batch.candidates
        if "total" in at:
            own[:, at["total"]] = 0.0
        tally, found = Tally(), Carried.nothing(len(self.metrics), self.models)
        everyone = np.ones(batch.users)
        for t, term in enumerate(self.estimator.terms(batch, self.target)):
            if "total" in at:
                own[:, at["total"]] += self._total(term, batch)
            weight = None if term.seen is None else term.seen * _counted(term, batch)
            for j, model in enumerate(ranked):
                places = np.arange(len(self.metrics), dtype=np.int64) * self.models + j
                self._fill_model(t, term, batch, weight, model, own, places)
                if weight is not None:
                    carried(batch.indptr, weight, model.rank, self._table, everyone, found.sums[:, j])
                if term.divisor.kind is Normaliser.LISTED:
                    self._fill_list(term, batch, model, own, at[f"w{t}"] + places, at[f"list{t}"] + places)
            if term.divisor.kind is Normaliser.PAIRS:
                assert term.divisor.numbers is not None
                own[:, at[f"d{t}"]] = user_sums(batch, term.divisor.numbers)
            if term.seen is not None:
                counted = _counted(term, batch)
                tally = tally.merge(Tally.of(batch.indptr, term.seen, counted, everyone, term.raised))
        if self.target is Target.SUM_PER_USER:
            size = len(self.metrics) * self.models
            total = own[:, at["total"], None]
            with np.errstate(divide="ignore", invalid="ignore"):
                own[:, :size] = np.where(total > 0.0, np.clip(own[:, :size] / total, 0.0, 1.0), 0.0)
        return tally, found

    def gap(self, batch: Batch, a: Ranked, b: Ranked, metric: int) -> Floats:
        """What every seen pair says for model a against model b, for each unit that it counts."""
        out = np.empty(len(a.rank))
        sums.gap(a.rank, b.rank, self._table, metric, out)
        return out

    def counted(self, batch: Batch) -> Floats:
        """How much every seen pair counts besides its weight: y, or y − q where a model is corrected."""
        return batch.value if not self.estimator.corrects else _residual(batch)

    def _fill_model(
        self, t: int, term: Term, batch: Batch, weight: Floats | None, model: Ranked, own: Floats, places: Ints64
    ) -> None:
        """s of one model and term, all metrics: the guesses, which may be wanted by themselves, then what was seen."""
        columns = self._blocks[f"s{t}"] + places
        own[:, columns] = 0.0
        if term.listed:
            assert model.list_q is not None
            q = model.list_q
            if self.target.normalised and model.list_inside is not None:
                q = np.where(model.list_inside, q, 0.0)  # what the total does not hold
            sums.guessed(model.list_indptr, model.list_rank, q, self._table, columns, own)
            if "guesses" in self._blocks:
                own[:, self._blocks["guesses"] + places] = own[:, columns]
        if weight is not None:
            sums.weighed(batch.indptr, weight, model.rank, self._table, columns, own)

    def _fill_list(self, term: Term, batch: Batch, model: Ranked, own: Floats, columns: Ints64, whole: Ints64) -> None:
        """Σ w·worth over the seen pairs of the list, and Σ worth over all of its candidates."""
        assert term.divisor.numbers is not None
        assert model.list_there is not None
        own[:, columns] = 0.0
        sums.weighed(batch.indptr, term.divisor.numbers, model.rank, self._table, columns, own)
        own[:, whole] = 0.0
        there = model.list_there.astype(np.float64)
        sums.guessed(model.list_indptr, model.list_rank, there, self._table, whole, own)

    def _total(self, term: Term, batch: Batch) -> Floats:
        """The estimated total of one term over all candidates of each user."""
        total = np.zeros(batch.users) if term.seen is None else user_sums(batch, term.seen * _counted(term, batch))
        if term.listed:
            assert batch.q_total is not None
            total = total + batch.q_total
        return total

    @cached_property
    def _table(self) -> Floats:
        """Worth by [rank, metric]."""
        return np.ascontiguousarray(np.stack([metric.table(self.depth) for metric in self.metrics], axis=1))


def _counted(term: Term, batch: Batch) -> Floats:
    return _residual(batch) if term.residual else batch.value


def _residual(batch: Batch) -> Floats:
    assert batch.q is not None
    return batch.value - batch.q
