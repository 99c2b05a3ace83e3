"""The engine in memory: the columns of a block of users, reduced to sums that merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np

from unskew.engine import answers, few_clicks, items, support
from unskew.engine.data import EvaluationData, Ranked, empty_columns
from unskew.engine.draws import averaged
from unskew.engine.engine import Engine
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import ClickSample
from unskew.engine.places import ListPlaces
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sensitivity import ModelPair, fill_pairs
from unskew.engine.sums import Extent, Sums, TippingSums
from unskew.engine.walk import Progress, walk
from unskew.estimators import Batch, Target
from unskew.inference.bootstrap import replicate_sums, user_weights
from unskew.inference.merging import Mergeable
from unskew.inference.model_error import ModelError
from unskew.inference.moments import Moments
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.inference.tally import Carried, Tally
from unskew.kernels.arrays import Floats, Ints64

M = TypeVar("M", bound=Mergeable)


@dataclass(frozen=True, eq=False)
class MemoryEngine:
    """Held-out rows in memory.

    Args:
        threads: by default one per core; the numbers do not depend on it.
        progress: called with how many users are done, and how many there are.
        block: how many users are looked at together; by default as many as suit their number.
    """

    held: EvaluationData
    threads: int | None = None
    progress: Progress | None = None
    block: int | None = None

    @property
    def users(self) -> int:
        """How many users there are."""
        return self.held.users

    @property
    def relative(self) -> bool:
        """Whether propensities are known up to a factor only."""
        return self.held.relative

    def first_pass(self, plan: EvaluationPlan, *, replicates: int = 0, seed: int = 0, keep: bool = False) -> Sums:
        """Everything that estimates and intervals are made of."""
        held, depth = self.held, max((run.depth for run in plan.runs), default=0)

        def fill(batch: Batch, ranked: Sequence[Ranked], x: Floats) -> _Tallied:
            found = [run.fill(batch, ranked, x) for run in plan.runs]
            return _Tallied(tuple(tally for tally, _ in found), tuple(carried for _, carried in found))

        def one(low: int, high: int) -> Sums:
            batch, ranked = held.batch(low, high), held.ranked(low, high)
            x, filled, draws = averaged(held, low, high, batch, ranked, plan.width, fill)
            tallied = reduce(_Tallied.merge, filled)
            fits = [run.model_errors(batch, ranked) for run in plan.runs]
            return Sums(
                _moments(plan, x, fits),
                tallied.tallies,
                tallied.carried,
                x.sum(axis=0),
                replicate_sums(x, held.hashes[low:high], seed, replicates) if replicates else None,
                (x,) if keep else (),
                reduce(PredictionRange.merge, (model.list_range for model in ranked), NO_PREDICTIONS),
                Extent.of(held, low, high),
                draws,
                ListPlaces.of(held, low, high, depth),
            )

        return self._merged(one)

    def second_pass(self, pairs: Sequence[ModelPair], *, replicates: int = 0, seed: int = 0) -> TippingSums:
        """Everything that tipping points are made of."""
        held = replace(self.held, listed=None)  # predictions for the lists stand in the first pass
        columns = sum(pair.width for pair in pairs)
        groups = [[p for p in pairs if p.run is run] for run in dict.fromkeys(p.run for p in pairs)]

        def fill(batch: Batch, ranked: Sequence[Ranked], x: Floats) -> None:
            for group in groups:
                fill_pairs(group, batch, ranked, held.relative, x)

        def one(low: int, high: int) -> TippingSums:
            batch, ranked = held.batch(low, high), held.ranked(low, high)
            x, _, draws = averaged(held, low, high, batch, ranked, columns, fill)
            squares = np.einsum("uc,uc->c", x, x)
            products = tuple(squares[p.columns] if p.on_grid else _products(x[:, p.columns]) for p in pairs)
            drawn = replicate_sums(x, held.hashes[low:high], seed, replicates) if replicates else None
            return TippingSums(x.sum(axis=0), products, drawn, draws)

        return self._merged(one)

    def weighted_sums(self, plan: EvaluationPlan, *, seed: int = 0, replicate: int | None = None) -> Floats:
        """Column sums with the users' weights in a bootstrap replicate, or with everybody once."""
        held = self.held

        def one(low: int, high: int) -> Floats:
            batch, ranked = held.batch(low, high), held.ranked(low, high)
            x = empty_columns(high - low, plan.width)
            for run in plan.runs:
                run.fill_columns(batch, ranked, x)
            if replicate is not None:
                x *= user_weights(held.hashes[low:high], seed, replicate)[:, None]
            return np.asarray(x.sum(axis=0))

        return reduce(np.add, walk(held.users, one, self.threads, self.block))

    def with_propensities(self, rows: Floats) -> MemoryEngine:
        """The same with other propensities of the rows."""
        return replace(self, held=replace(self.held, propensity=rows))

    def item_counts(self) -> Ints64:
        """How many relevant held-out pairs every item has, in all samples together where rows are sampled."""
        held = self.held
        relevant = held.value > 0.0
        if held.draws is None:
            return np.bincount(held.item[relevant])
        times = held.draws.times(slice(None))[relevant]
        return np.bincount(held.item[relevant], weights=times).astype(np.int64)

    def together(self, *questions: Callable[[Engine], Any]) -> tuple[Any, ...]:
        """The answers to several questions."""
        return tuple(question(self) for question in questions)

    def click_counts(self) -> Ints64:
        """How many users have 1, 2, 3–5, 6+ seen relevant items."""
        return self.held.click_counts

    def few_clicks(self, run: EstimatorRun, limit: np.uint64 | None = None) -> few_clicks.FewClicks:
        """How far ratios inside users move when a click is left out; runs have their sample of the users in common."""
        by_rows = run.target is Target.PER_PAIR  # errors rest on all rows
        key = by_rows, None if limit is None else int(limit)
        if key not in self._click_samples:
            self._click_samples[key] = ClickSample.of(self.held, limit, by_rows=by_rows)
        return few_clicks.few_clicks(self._click_samples[key], run, self.threads)

    def listed_worth(self, table: Floats) -> support.ListedWorth | None:
        """How much of the lists' worth the log could never show."""
        return support.listed_worth(self.held, table, self.threads)

    def differing_worth(
        self, a: int, b: int, weights: support.ItemWeights, worth: Floats, limit: np.uint64 | None
    ) -> support.DifferingWorth:
        """Where the lists of two models differ."""
        return support.differing_worth(self.held, a, b, weights, worth, limit)

    def lists_apart(self, a: int, b: int, worth: Floats) -> float:
        """By how much worth the lists of two models differ."""
        return support.lists_apart(self.held, a, b, worth)

    def weight_sums(self) -> support.WeightSums:
        """What the weights of every item's seen relevant pairs are."""
        return support.weight_sums(self.held)

    def answer_sums(self, worths: Floats) -> answers.AnswerSums | None:
        """Where answers lie."""
        return answers.answer_sums(self.held, worths, self.threads)

    def item_worths(self, worths: Floats) -> items.ItemSums:
        """Σ y·worth by metric, model and item, and Σ y by item."""
        return items.item_worths(self.held, worths, self.threads)

    def item_sums(self, run: EstimatorRun) -> items.ItemSums:
        """Sums per item."""
        return items.item_sums(self.held, run)

    def item_tally(self, run: EstimatorRun, weights: Floats) -> Tally:
        """The tally of the weights in ratios per item."""
        return items.item_tally(self.held, run, weights)

    @cached_property
    def _click_samples(self) -> dict[tuple[bool, int | None], ClickSample]:
        return {}

    def _merged(self, one: Callable[[int, int], M]) -> M:
        return reduce(lambda a, b: a.merge(b), walk(self.users, one, self.threads, self.block, self.progress))


@dataclass(frozen=True, eq=False)
class _Tallied(Mergeable):
    """The tallies of all runs."""

    tallies: tuple[Tally, ...]
    carried: tuple[Carried, ...]


def _moments(plan: EvaluationPlan, x: Floats, fits: Sequence[list[ModelError] | None]) -> tuple[Moments, ...]:
    """The moments of every cell; ``fits`` is by run."""
    found: dict[int, Moments] = {}
    for form, places, columns in plan.cells_alike:
        own = [_of_metric(fits[plan.cells[place].run], plan.cells[place].metric) for place in places]
        found |= dict(zip(places, Moments.of_cells(x, columns, form, own), strict=True))
    return tuple(found[place] for place in range(len(plan.cells)))


def _of_metric(fits: list[ModelError] | None, metric: int) -> ModelError | None:
    return None if fits is None else fits[metric]


def _products(x: Floats) -> Floats:
    return np.asarray(np.einsum("ua,ub->ab", x, x))
