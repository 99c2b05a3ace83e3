"""The engine in memory: blocks of users, walked by threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unskew.engine import few_clicks, items, passes, support
from unskew.engine.data import EvaluationData, Floats, Ints64
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sensitivity import ModelPair
from unskew.engine.sums import Sums, TippingSums
from unskew.inference.tally import Tally


@dataclass(frozen=True, eq=False)
class MemoryEngine:
    """Held-out rows in memory.

    Args:
        threads: by default one per core; the numbers do not depend on it.
        progress: told how many users are done, of how many.
    """

    held: EvaluationData
    threads: int | None = None
    progress: passes.Progress | None = None

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
        return passes.first_pass(
            self.held,
            plan,
            replicates=replicates,
            seed=seed,
            keep=keep,
            threads=self.threads,
            progress=self.progress,
        )

    def second_pass(self, pairs: Sequence[ModelPair], *, replicates: int = 0, seed: int = 0) -> TippingSums:
        """Everything that tipping points are made of."""
        return passes.second_pass(
            self.held, pairs, replicates=replicates, seed=seed, threads=self.threads, progress=self.progress
        )

    def item_counts(self) -> Ints64:
        """How many relevant held-out pairs every item has."""
        return np.bincount(self.held.item[self.held.value > 0.0])

    def few_clicks(self, run: EstimatorRun) -> few_clicks.FewClicks:
        """How far ratios inside users move when a click is left out."""
        return few_clicks.few_clicks(self.held, run)

    def listed_worth(self, table: Floats) -> support.ListedWorth | None:
        """How much of the lists' worth the log could never show."""
        return support.listed_worth(self.held, table, self.threads)

    def differing_worth(
        self, a: int, b: int, propensity: Floats, worth: Floats, limit: np.uint64 | None
    ) -> support.DifferingWorth:
        """Where the lists of two models differ."""
        return support.differing_worth(self.held, a, b, propensity, worth, limit)

    def item_sums(self, run: EstimatorRun) -> items.ItemSums:
        """Sums per item."""
        return items.item_sums(self.held, run)

    def item_tally(self, run: EstimatorRun, weights: Floats) -> Tally:
        """The tally of the weights in ratios per item."""
        return items.item_tally(self.held, run, weights)

    def with_propensities(self, rows: Floats) -> MemoryEngine:
        """The same with other propensities of the rows."""
        return replace(self, held=replace(self.held, propensity=rows))

    def weighted_sums(self, plan: EvaluationPlan, *, seed: int = 0, replicate: int | None = None) -> Floats:
        """Column sums with the users' weights in a replicate, or with everybody once."""
        return passes.weighted_sums(self.held, plan, seed=seed, replicate=replicate, threads=self.threads)
