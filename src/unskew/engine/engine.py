"""What evaluation asks of an engine: sums over users that merge.

An engine holds the held-out rows of users and the models' lists, in memory or elsewhere. Whatever it brings is a sum
over users, so that parts of the users can be summed anywhere and merged in any order; nothing is remembered between
two calls. ``memory.py`` is the engine in memory; another one runs the same functions on parts of the users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np

from unskew.engine.answers import AnswerSums
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import FewClicks
from unskew.engine.items import ItemSums
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sensitivity import ModelPair
from unskew.engine.sums import Sums, TippingSums
from unskew.engine.support import DifferingWorth, ItemWeights, ListedWorth, WeightSums
from unskew.inference.tally import Tally
from unskew.kernels.arrays import Floats, Ints64


class Engine(Protocol):
    """The held-out rows of some users, ready to be summed."""

    @property
    def users(self) -> int:
        """How many users there are."""

    @property
    def relative(self) -> bool:
        """Whether propensities are known up to a factor only."""

    def first_pass(self, plan: EvaluationPlan, *, replicates: int = 0, seed: int = 0, keep: bool = False) -> Sums:
        """Everything that estimates and intervals are made of; ``keep`` keeps the columns of every user."""

    def second_pass(self, pairs: Sequence[ModelPair], *, replicates: int = 0, seed: int = 0) -> TippingSums:
        """Everything that the tipping points of these pairs are made of."""

    def item_counts(self) -> Ints64:
        """How many relevant held-out pairs every item has, in all samples together where rows are sampled."""

    def together(self, *questions: Callable[[Engine], Any]) -> tuple[Any, ...]:
        """The answers to several questions, in one walk over the users where rows must be brought here first.

        A question asks one thing of an engine; what it answers merges, as all that engines bring.
        """

    def click_counts(self) -> Ints64:
        """How many users have 1, 2, 3–5, 6+ seen relevant items."""

    def few_clicks(self, run: EstimatorRun, limit: np.uint64 | None = None) -> FewClicks:
        """How far ratios inside users move when a click is left out; ``limit`` is that of the users' hashes."""

    def listed_worth(self, table: Floats) -> ListedWorth | None:
        """How much of the lists' worth the log could never show; ``table`` is worth by [rank, metric]."""

    def differing_worth(
        self, a: int, b: int, weights: ItemWeights, worth: Floats, limit: np.uint64 | None
    ) -> DifferingWorth:
        """Where the lists of two models differ."""

    def lists_apart(self, a: int, b: int, worth: Floats) -> float:
        """By how much worth the lists of two models differ, over all users; ``worth`` is by rank."""

    def weight_sums(self) -> WeightSums:
        """What the weights of every item's seen relevant pairs are."""

    def answer_sums(self, worths: Floats) -> AnswerSums | None:
        """Where answers lie; ``worths`` is by [rank, metric]. ``None`` without answers."""

    def item_worths(self, worths: Floats) -> ItemSums:
        """Σ y·worth by metric, model and item, and Σ y by item; ``worths`` is by [rank, metric]."""

    def item_sums(self, run: EstimatorRun) -> ItemSums:
        """Sums per item, for ratios that are taken per item."""

    def item_tally(self, run: EstimatorRun, weights: Floats) -> Tally:
        """The tally of the weights in such ratios, given the sum of weights of every item."""

    def with_propensities(self, rows: Floats) -> Self:
        """The same with other propensities of the rows."""

    def weighted_sums(self, plan: EvaluationPlan, *, seed: int = 0, replicate: int | None = None) -> Floats:
        """Column sums with the users' weights in a bootstrap replicate, or with everybody once."""
