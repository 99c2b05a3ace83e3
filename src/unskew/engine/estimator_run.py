"""One estimator under one target, with all its metrics: it fills the per-user columns that estimates are made of.

Which columns there are depends on the target (``layout.py``), what is summed on the kind of metrics (``rank_sums.py``,
``pair_costs.py``); nothing depends on which estimator it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.census import model_errors, tilted
from unskew.engine.data import Ranked, user_sums
from unskew.engine.layout import BY_MODEL, Block, Kind, Layout, divides_inside_users, factors
from unskew.engine.pair_costs import PairCosts
from unskew.engine.rank_sums import HitSums, ListSums
from unskew.engine.summand import Summand, added
from unskew.estimators.base import Batch, Estimator, Need, Normaliser, Over
from unskew.estimators.target import Target
from unskew.estimators.traits import PROBE, Traits
from unskew.inference.model_error import ModelError
from unskew.inference.ratio_form import RatioForm
from unskew.inference.tally import Carried, Tally
from unskew.kernels.arrays import Floats, Ints64, present
from unskew.metrics import Metric, RankingMetric, Shape
from unskew.outcome.census_features import WIDTH


@dataclass(frozen=True, eq=False)
class EstimatorRun:
    """One estimator × target and its metrics.

    Args:
        estimator: prepared.
        models: how many models there are.
        depth: ranks 1 … depth may be worth something.
        start: the first of its columns.
    """

    estimator: Estimator
    target: Target
    metrics: tuple[Metric, ...]
    models: int
    depth: int
    start: int

    @cached_property
    def traits(self) -> Traits:
        """What its terms tell of the estimator."""
        return Traits(self.estimator.terms(PROBE, self.target))

    @property
    def inside_users(self) -> bool:
        """Whether ratios with a divisor that was estimated too are taken inside each user."""
        return self.divided and (self.target is Target.PER_PAIR or set(self.traits.divisors) != {Normaliser.OWN})

    @property
    def joined(self) -> bool:
        """Whether it is computed on the rows of the log and the answers together."""
        return Need.ANSWERS in self.estimator.needs(self.target)

    @property
    def by_item(self) -> bool:
        """Whether ratios are taken per item: points without errors, since users have no columns of their own."""
        return self.target is Target.PER_PAIR and self.estimator.normalised is Over.ITEM

    def has_tipping_point(self, metric: int) -> bool:
        """Whether one can compute how wrong propensities must be to turn a comparison around."""
        return self.metrics[metric].additive and self.traits.has_sensitivity and self.target is not Target.SUM_PER_USER

    @cached_property
    def sums(self) -> HitSums | ListSums | PairCosts:
        """What is summed over pairs."""
        if self.target is Target.PER_PAIR:
            return PairCosts(self.metrics, self.models, self.depth, self.divided, self.traits.corrects_model)
        ranking = tuple(metric for metric in self.metrics if isinstance(metric, RankingMetric))
        if self.target.sums or self.traits.terms[0].listed:
            only_catalogue = self.target.normalised or not self.target.sums  # totals hold no others
            return ListSums(ranking, self.models, self.depth, only_catalogue=only_catalogue)
        return HitSums(ranking, self.models, self.depth, self.divided)

    @cached_property
    def layout(self) -> Layout:
        """Where the columns stand, counted from ``start``."""
        more: list[Block] = []
        if any(self._needs_weight(metric) for metric in self.metrics):
            more.append((Kind.ANY_WEIGHT, 0))
        if self.target is Target.SUM_PER_USER:
            more.append((Kind.TOTAL, 0))
        elif self.traits.has_sensitivity and self.traits.terms[0].listed:
            more.append((Kind.LIST_OUTCOMES, 0))  # tipping points want them by themselves
        more += [(Kind.SCORE, c) for c in range(self.scores)]
        terms = factors(self.target, self.traits.divisors, self.estimator.normalised)
        return Layout(terms, len(self.metrics), self.models, tuple(more))

    @property
    def scores(self) -> int:
        """How many columns hold the scores of a fitted model, whose error is part of the estimate's."""
        return 0 if self.estimator.tilt is None else WIDTH

    @property
    def width(self) -> int:
        """How many columns it fills."""
        return self.layout.width

    def form_of(self, metric: int) -> RatioForm:
        """How a metric's estimate is made of its columns."""
        own = tuple(tuple(b[0] in BY_MODEL for _, b in term) for term in self.layout.terms)
        return RatioForm(self.models, own, root=self.metrics[metric].root, scores=self.scores)

    def columns(self, metric: int) -> Ints64:
        """The columns of one metric's cell, term by term and factor by factor: the models' a, then b."""
        found: list[int] = []
        for term in self.layout.terms:
            for a, b in term:
                of_models = self.layout.columns(a, metric)
                found += of_models if a[0] in BY_MODEL else of_models * self.models
                if b[0] is Kind.COUNTS and self._needs_weight(self.metrics[metric]):
                    b = (Kind.ANY_WEIGHT, 0)
                found += self.layout.columns(b, metric)
        found += [self.layout.starts[Kind.SCORE, c] for c in range(self.scores)]
        return self.start + np.array(found, dtype=np.int64)

    def listed_outcomes(self, metric: int) -> Ints64 | None:
        """The columns of Σ q·worth over each model's list, where tipping points want them: no weight changes them."""
        block = (Kind.LIST_OUTCOMES, 0)
        if block not in self.layout.starts:
            return None
        return self.start + np.array(self.layout.columns(block, metric), dtype=np.int64)

    def fill(self, batch: Batch, ranked: Sequence[Ranked], x: Floats) -> tuple[Tally, Carried]:
        """Fill the columns for a batch of users, and tally the weights and those that carry values."""
        return self._tallied(*self.fill_columns(batch, ranked, x))

    def fill_columns(
        self, batch: Batch, ranked: Sequence[Ranked], x: Floats
    ) -> tuple[Batch, list[Summand], Sequence[Ranked]]:
        """Fill the columns for a batch of users; gives back the rows and sums that they were made of."""
        own = x[:, self.start : self.start + self.width]
        if self.joined:
            batch, ranked = _joined(batch)
        if self.estimator.tilt is not None:
            batch, ranked = tilted(batch, ranked, self.estimator.tilt, divided=self.target.normalised)
        terms = [Summand.of(term, batch, self.target) for term in self.estimator.terms(batch, self.target)]
        if self.divided or self.target.normalised:
            terms = [added(terms, batch, divided=self.divided)]
        self._fill_shared(batch, terms, own)
        for t, summand in enumerate(terms):
            self._fill_term(t, summand, batch, ranked, own)
        if self.target is Target.SUM_PER_USER:
            size, total = len(self.metrics) * self.models, own[:, self.layout.starts[Kind.TOTAL, 0], None]
            with np.errstate(divide="ignore", invalid="ignore"):
                own[:, :size] = np.where(total > 0.0, np.clip(own[:, :size] / total, 0.0, 1.0), 0.0)
        return batch, terms, ranked

    def model_errors(self, batch: Batch, ranked: Sequence[Ranked]) -> list[ModelError] | None:
        """Per metric, how a batch's sums depend on a model that was fitted to the rows; ``None`` where none was."""
        tilt, divided = self.estimator.tilt, self.target.normalised
        if tilt is None:
            return None
        assert isinstance(self.sums, ListSums)
        return model_errors(*tilted(batch, ranked, tilt, divided=divided), tilt, self.sums.worths, divided=divided)

    def _fill_shared(self, batch: Batch, terms: Sequence[Summand], own: Floats) -> None:
        """Fill the columns that all metrics and models have in common."""
        for (kind, t), place in self.layout.starts.items():
            if kind is Kind.ONE:
                own[:, place] = 1.0
            elif kind is Kind.CANDIDATES:
                own[:, place] = 0.0 if batch.candidates is None else batch.candidates
            elif kind is Kind.DIVISOR:
                own[:, place] = terms[t].divisor
            elif kind is Kind.COUNTS:
                own[:, place] = present(terms[0].divisor) > 0.0
            elif kind is Kind.ANY_WEIGHT:
                own[:, place] = user_sums(batch, present(terms[0].weight)) > 0.0
            elif kind is Kind.TOTAL:
                own[:, place] = _total(terms[0], batch)
            elif kind is Kind.SCORE:
                assert batch.census is not None
                own[:, place] = batch.census.census.scores[:, t]

    def _fill_term(self, t: int, summand: Summand, batch: Batch, ranked: Sequence[Ranked], own: Floats) -> None:
        """Fill the columns of one term."""
        starts = self.layout.starts
        first = starts[Kind.SUM, t]
        if isinstance(self.sums, HitSums):
            self.sums.fill(batch, summand, ranked, first, own)
            return
        self.sums.fill(batch, summand, ranked, first, own, starts.get((Kind.LIST_OUTCOMES, t)))
        if isinstance(self.sums, ListSums) and (Kind.LIST_WEIGHT, t) in starts:
            places = starts[Kind.LIST_WEIGHT, t], starts[Kind.LIST_WORTH, t]
            self.sums.fill_lists(batch, present(summand.numbers), ranked, *places, own)

    def _tallied(self, batch: Batch, terms: Sequence[Summand], ranked: Sequence[Ranked]) -> tuple[Tally, Carried]:
        """The weights, and those that carry each metric's value; a pair has one weight, the sum of those of terms."""
        found = Carried(np.zeros((len(self.metrics), self.models, 4)))
        seen = [summand for summand in terms if summand.seen is not None]
        if not seen:
            return Tally(), found
        whole = added(seen, batch, divided=False)
        divisor = terms[0].divisor if self.divided else None
        divisor = np.ones(batch.users) if divisor is None else divisor
        tally = Tally.of(batch.indptr, present(whole.seen), whole.counted, divisor, whole.raised)
        self.sums.carried(batch, whole, ranked, divisor, tally, found.sums)
        return tally, found

    @cached_property
    def divided(self) -> bool:
        """Whether sums are divided user by user."""
        return divides_inside_users(self.target, self.estimator.normalised)

    def _needs_weight(self, metric: Metric) -> bool:
        """Whether users count by their weights instead of their divisors: those for whom an ideal list exists."""
        return self.divided and isinstance(metric, RankingMetric) and metric.shape is Shape.IDEAL


def _joined(batch: Batch) -> tuple[Batch, list[Ranked]]:
    """A block with the rows of the log and the answers."""
    block = batch.joined
    assert block is not None
    return block.batch, block.ranked


def _total(summand: Summand, batch: Batch) -> Floats:
    """The estimated total over all candidates of each user."""
    total = np.zeros(batch.users) if summand.weight is None else user_sums(batch, summand.weight)
    return total + summand.listed * present(batch.q_total) if summand.listed else total
